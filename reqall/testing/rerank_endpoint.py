"""A stand-in for endpoints that rerank: a real HTTP server on loopback, with faults to switch on.

It answers `POST /v1/rerank` as Cohere and Jina do (`results`) or as Voyage does (`data`), and `POST
/v1/chat/completions` as a language model that was asked for an order of numbered passages. It judges by the share of
the query's words that a passage has.
"""

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias
from urllib.parse import urlsplit

RerankFault: TypeAlias = Literal[
    "rate_limit", "server_error", "bad_json", "other_json", "slow", "one_missing", "not_a_number", "chatter", "half"
]
"""What can go wrong; `chatter` is a judge's answer without an order, `half` one that names half of the passages."""

_WORD = re.compile(r"\w+")
_PASSAGE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_QUERY = re.compile(r"^Query: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """A request as it arrived; names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class RerankEndpoint:
    """Context manager: serves while it is open, records every request; `answers_in` is the field of the scores."""

    def __init__(self, *, key: str = "test-key", answers_in: Literal["results", "data"] = "results") -> None:
        self.key = key
        self.answers_in = answers_in
        self.requests: list[RerankRequest] = []
        self.closing = threading.Event()
        self._faults: list[tuple[RerankFault, float]] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """What RERANKER_BASE_URL is to name."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def fail(self, *faults: RerankFault, seconds: float = 0.01) -> None:
        """Let the next requests meet a fault each; `seconds` is Retry-After, or the delay of `slow`."""
        with self._lock:
            self._faults += [(fault, seconds) for fault in faults]

    def record(self, request: RerankRequest) -> tuple[str, float]:
        """Keep the request; return the fault that it shall meet, if any, and its seconds."""
        with self._lock:
            self.requests.append(request)
            return self._faults.pop(0) if self._faults else ("", 0)


def shared_words(query: str, text: str) -> float:
    """Return the share of the query's words that a text has, 0 to 1."""
    wanted, there = set(_WORD.findall(query.casefold())), set(_WORD.findall(text.casefold()))
    return len(wanted & there) / len(wanted) if wanted else 0.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: RerankEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the base class gives it
        """Stay silent."""

    def do_POST(self) -> None:
        """Answer one request."""
        endpoint, path = self.server.endpoint, urlsplit(self.path).path
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault, seconds = endpoint.record(RerankRequest(path, headers, body))
        if headers.get("authorization") != f"Bearer {endpoint.key}":
            # Some services quote the key: a client must not repeat it.
            return self._send(401, {"message": f"invalid api token: {headers.get('authorization')}"})
        if fault in ("rate_limit", "server_error"):
            # Others quote the request.
            return self._send(429 if fault == "rate_limit" else 500, {"message": f"refused: {body}"}, seconds)
        if fault in ("bad_json", "other_json"):
            return self._send(200, b'{"results": [' if fault == "bad_json" else b'{"status": "ok"}')
        if fault == "slow":
            endpoint.closing.wait(seconds)
        answers = {"/v1/rerank": self._rerank, "/v1/chat/completions": self._judge}
        if path not in answers:
            return self._send(404, {"message": "not found"})
        return answers[path](body, fault)

    def _rerank(self, body: Mapping[str, Any], fault: str) -> None:
        if not body["query"] or "" in body["documents"]:
            return self._send(400, {"message": f"empty text in {body}"})
        scored = [
            {"index": index, "relevance_score": shared_words(body["query"], text)}
            for index, text in enumerate(body["documents"])
        ]
        scored.sort(key=lambda each: -each["relevance_score"])
        if fault == "one_missing":
            scored.pop()
        if fault == "not_a_number":
            scored[0]["relevance_score"] = float("nan")
        return self._send(200, {self.server.endpoint.answers_in: scored, "model": body["model"]})

    def _judge(self, body: Mapping[str, Any], fault: str) -> None:
        asked = body["messages"][-1]["content"]
        query = match[1] if (match := _QUERY.search(asked)) else ""
        passages = {int(number): text for number, text in _PASSAGE.findall(asked)}
        order = sorted(passages, key=lambda number: (-shared_words(query, passages[number]), number))
        if fault == "half":
            order = order[: (len(order) + 1) // 2]
        told = "I would rather not." if fault == "chatter" else f'Here: {{"order": {order}}}'
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": told}}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        return self._send(200, answer)

    def _send(self, status: int, body: Mapping[str, Any] | bytes, retry_after: float = 0) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after:
            self.send_header("Retry-After", f"{retry_after:g}")
        self.end_headers()
        self.wfile.write(content)
