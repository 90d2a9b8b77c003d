"""A stand-in for the Hugging Face hub: a real HTTP server on loopback that offers folders as repositories.

It answers what a download asks, as https://huggingface.co/docs/hub/api describes it: the listing of a repository with
sizes and hashes, HEAD and GET of a file, ranges too. Files of `LARGE_BYTES` and more are large-file objects (SHA-256),
smaller ones git blobs.
"""

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

LARGE_BYTES = 100_000

COMMIT = "0123456789abcdef0123456789abcdef01234567"
"""The one commit of every repository."""

_LISTING = re.compile(r"/api/models/([\w.-]+/[\w.-]+)(?:/revision/([\w.-]+))?")
_TREE = re.compile(r"/api/models/([\w.-]+/[\w.-]+)/tree/([\w.-]+)")
_FILE = re.compile(r"/([\w.-]+/[\w.-]+)/resolve/([\w.-]+)/(.+)")
_RANGE = re.compile(r"bytes=(\d+)-")
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class HubRequest:
    """A request as it arrived; names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)


class ModelHub:
    """Context manager: serves while it is open, and records every request.

    `token`, if any, must come with each request. After `pause_after` bytes of a large file it says no more until
    `go_on` is set; `spoilt` names files whose content is another than the listing says.
    """

    def __init__(self, repositories: Mapping[str, Path], *, token: str = "") -> None:
        """Offer folders as `owner/name`."""
        self.repositories = dict(repositories)
        self.token = token
        self.requests: list[HubRequest] = []
        self.pause_after: int | None = None
        self.paused = threading.Event()
        self.go_on = threading.Event()
        self.spoilt: set[str] = set()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What HF_ENDPOINT is to name."""
        return f"http://{self.host}"

    @property
    def host(self) -> str:
        """Address and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: ModelHub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that is killed is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the base class gives it
        """Stay silent."""

    def do_HEAD(self) -> None:
        """Answer with the headers of a file."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer one request."""
        hub, path = self.server.hub, unquote(urlsplit(self.path).path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        hub.requests.append(HubRequest(self.command, self.path, headers))
        if hub.token and headers.get("authorization") != f"Bearer {hub.token}":
            return self._send(401, {"X-Error-Code": "GatedRepo"})
        if match := _LISTING.fullmatch(path):
            return self._list(*match.groups())
        if match := _TREE.fullmatch(path):
            return self._list(*match.groups(), is_tree=True)
        if match := _FILE.fullmatch(path):
            return self._serve(*match.groups())
        return self._send(404)

    def _list(self, repository: str, revision: str | None, *, is_tree: bool = False) -> None:
        folder = self.server.hub.repositories.get(repository)
        if folder is None:
            return self._send(404, {"X-Error-Code": "RepoNotFound"})
        if revision not in (None, "main", COMMIT):
            return self._send(404, {"X-Error-Code": "RevisionNotFound"})
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        siblings = [_listed(path, path.relative_to(folder).as_posix()) for path in files]
        answer: Any = {
            "id": repository,
            "sha": COMMIT,
            "siblings": siblings,
            "tags": [],
            "private": False,
            "downloads": 0,
        }
        if is_tree:
            answer = [{"type": "file", "path": s["rfilename"], "size": s["size"], "oid": s["blobId"]} for s in siblings]
        return self._send(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())

    def _serve(self, repository: str, revision: str, name: str) -> None:
        path = self.server.hub.repositories.get(repository, Path("/nowhere")) / name
        if not path.is_file() or revision not in ("main", COMMIT):
            return self._send(404, {"X-Error-Code": "EntryNotFound"})
        body = path.read_bytes()
        etag = _listed(path, name)["lfs"]["sha256"] if len(body) >= LARGE_BYTES else _blob_id(body)
        if name in self.server.hub.spoilt:
            body = body[:-1] + bytes([body[-1] ^ 1])
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        match = _RANGE.fullmatch(self.headers.get("range", ""))
        start = int(match[1]) if match else 0
        if match:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return self._send(206 if match else 200, headers, body[start:], is_large=len(body) >= LARGE_BYTES)

    def _send(
        self, status: int, headers: Mapping[str, str] | None = None, body: bytes = b"", *, is_large: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        hub, sent = self.server.hub, 0
        while sent < len(body):
            if is_large and hub.pause_after is not None and sent >= hub.pause_after and not hub.go_on.is_set():
                hub.paused.set()
                hub.go_on.wait()
            self.wfile.write(body[sent : sent + _PIECE_BYTES])
            sent += _PIECE_BYTES


def _listed(path: Path, name: str) -> dict[str, Any]:
    body = path.read_bytes()
    listed: dict[str, Any] = {"rfilename": name, "size": len(body), "blobId": _blob_id(body)}
    if len(body) >= LARGE_BYTES:
        digest = hashlib.sha256(body).hexdigest()
        listed["lfs"] = {"sha256": digest, "size": len(body), "pointerSize": 134}
    return listed


def _blob_id(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()
