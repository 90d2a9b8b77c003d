"""A stand-in for OpenAI's endpoints: a real HTTP server on loopback, with faults to switch on.

It answers `POST /v1/embeddings`, `POST /v1/chat/completions` and Azure's `POST /openai/deployments/<model>/...` as
https://platform.openai.com/docs/api-reference describes them. Vectors are
deterministic: each word adds a few signed components, so texts that share words are near.
"""

import array
import base64
import hashlib
import json
import math
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

from reqall.testing.openai_chat import Answering, ChatRequest, completion, numbered

Fault: TypeAlias = Literal[
    "rate_limit",
    "server_error",
    "bad_json",
    "slow",
    "wrong_dimensions",
    "no_dimensions",
    "shuffled",
    "one_missing",
    "long_vectors",
    "zero_vectors",
    "no_choices",
]
"""What can go wrong: `no_dimensions` refuses that parameter, as servers of models with one length do."""

_MOST_INPUTS = 2048
_WORD = re.compile(r"[a-z0-9]+|[^\W_]")
_AZURE = re.compile(r"/openai/deployments/[^/]+(/embeddings|/chat/completions)")
_PATHS = ("/v1/embeddings", "/v1/chat/completions")
_COMPONENTS = 8


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest:
    """A request as it arrived; names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    model: str
    inputs: tuple[str, ...]
    dimensions: int | None


@dataclass(slots=True)
class _Switched:
    fault: Fault
    times: int | None
    seconds: float


class OpenAIEndpoint:
    """Context manager: serves while it is open, records every request that carried the key.

    `answering` says what the model answers to a chat.
    """

    def __init__(self, *, key: str = "test-key", key_header: str = "", dimensions: int = 1536) -> None:
        self.key = key
        self.key_header = key_header.lower()
        self.dimensions = dimensions
        self.requests: list[EmbeddingsRequest] = []
        self.chats: list[ChatRequest] = []
        self.answering: Answering = numbered
        self.closing = threading.Event()
        self._faults: list[_Switched] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def azure_url(self) -> str:
        """What an Azure client takes as its endpoint."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as base_url."""
        return f"{self.azure_url}/v1"

    def switch_on(self, fault: Fault, *, times: int | None = None, seconds: float = 1) -> None:
        """Fail the next `times` requests (None: all) so; `seconds` is Retry-After, or the delay of `slow`."""
        with self._lock:
            self._faults.append(_Switched(fault, times, seconds))

    def switch_off(self) -> None:
        """Answer properly again."""
        with self._lock:
            self._faults.clear()

    def record(self, request: EmbeddingsRequest | ChatRequest) -> tuple[Fault | None, float]:
        """Keep the request; return the fault it shall meet and its seconds."""
        with self._lock:
            if isinstance(request, ChatRequest):
                self.chats.append(request)
            else:
                self.requests.append(request)
            if not self._faults:
                return None, 0
            current = self._faults[0]
            if current.times is not None:
                current.times -= 1
                if current.times <= 0:
                    self._faults.pop(0)
            return current.fault, current.seconds

    def accepts(self, headers: Mapping[str, str], *, azure: bool) -> bool:
        """Tell whether the key came in its header."""
        header = self.key_header or ("api-key" if azure else "")
        if header:
            return headers.get(header) == self.key
        return headers.get("authorization") == f"Bearer {self.key}"


def word_vector(text: str, dimensions: int) -> list[float]:
    """Return the vector of a text, of length 1: a sum of signed components for each of its words."""
    vector = [0.0] * dimensions
    for word in _WORD.findall(text.casefold()) or [""]:
        digest = hashlib.blake2b(word.encode(), digest_size=4 * _COMPONENTS).digest()
        for start in range(0, len(digest), 4):
            number = int.from_bytes(digest[start : start + 4])
            vector[(number >> 1) % dimensions] += 1.0 if number & 1 else -1.0
    norm = math.hypot(*vector)
    if norm == 0:  # the components cancelled each other
        return [1.0, *vector[1:]]
    return [component / norm for component in vector]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: OpenAIEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the base class gives it
        """Stay silent."""

    def do_POST(self) -> None:
        """Answer one request."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        url = urlsplit(self.path)
        azure = _AZURE.fullmatch(url.path) is not None
        if not azure and url.path not in _PATHS:
            return self._refuse(404, "Invalid URL", "invalid_request_error", None)
        if not self.server.endpoint.accepts(headers, azure=azure):
            # OpenAI quotes the key in part, others in full: a client must not repeat it.
            sent = headers.get("api-key") or headers.get("authorization", "")
            message = f"Incorrect API key provided: {sent.removeprefix('Bearer ')}."
            return self._refuse(401, message, "invalid_request_error", "invalid_api_key")
        if azure and not parse_qs(url.query).get("api-version"):
            return self._refuse(404, "Resource not found", "invalid_request_error", "404")
        answer = self._chat if url.path.endswith("/chat/completions") else self._embed
        return answer(json.loads(body), headers)

    def _chat(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        endpoint = self.server.endpoint
        request = ChatRequest.of(self.path, headers, body)
        fault, seconds = endpoint.record(request)
        if not self._fails(fault, seconds, request.question):
            content = None if fault == "no_choices" else endpoint.answering(request)
            self._send(200, json.dumps(completion(request, content)).encode())

    def _fails(self, fault: Fault | None, seconds: float, text: str) -> bool:
        """Answer a fault that any request may meet, or wait; tell whether it was answered."""
        if fault == "slow":
            self.server.endpoint.closing.wait(seconds)
        elif fault == "rate_limit":
            self._refuse(429, f"Rate limit reached at {text}", "requests", "rate_limit_exceeded", seconds)
        elif fault == "server_error":
            self._refuse(500, f"The server had an error with {text}", "server_error", None)
        elif fault == "bad_json":
            self._send(200, b'{"object": "list", "data": [')
        return fault in ("rate_limit", "server_error", "bad_json")

    def _embed(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        endpoint = self.server.endpoint
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        wanted = body.get("dimensions")
        request = EmbeddingsRequest(self.path, headers, str(body.get("model", "")), tuple(texts), wanted)
        fault, seconds = endpoint.record(request)
        if not texts or len(texts) > _MOST_INPUTS or "" in texts:
            return self._refuse(400, f"'$.input' is invalid: {texts}", "invalid_request_error", None)
        if fault == "no_dimensions" and wanted is not None:
            return self._refuse(400, "This model has one length", "invalid_request_error", "unsupported_parameter")
        if self._fails(fault, seconds, texts[0]):
            return None
        dimensions = (wanted or endpoint.dimensions) + (fault == "wrong_dimensions")
        length = {"long_vectors": 3.0, "zero_vectors": 0.0}.get(str(fault), 1.0)
        data = [
            {"object": "embedding", "index": index, "embedding": _encoded(text, dimensions, length, body)}
            for index, text in enumerate(texts)
        ]
        if fault == "one_missing":
            data.pop()
        if fault == "shuffled":
            data.reverse()
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        answer = {"object": "list", "data": data, "model": request.model, "usage": usage}
        return self._send(200, json.dumps(answer).encode())

    def _refuse(self, status: int, message: str, kind: str, code: str | None, retry_after: float = 0) -> None:
        error = {"message": message, "type": kind, "param": None, "code": code}
        self._send(status, json.dumps({"error": error}).encode(), retry_after)

    def _send(self, status: int, body: bytes, retry_after: float = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if retry_after:
            self.send_header("Retry-After", f"{retry_after:g}")
        self.end_headers()
        self.wfile.write(body)


def _encoded(text: str, dimensions: int, length: float, body: Mapping[str, Any]) -> list[float] | str:
    vector = [length * component for component in word_vector(text, dimensions)]
    if body.get("encoding_format") == "base64":
        return base64.b64encode(array.array("f", vector).tobytes()).decode()
    return vector
