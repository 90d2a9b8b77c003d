"""A stand-in for a model hub: a real HTTP server on loopback that serves folders as huggingface.co does.

It answers what `huggingface_hub.snapshot_download` asks: the commit of a repository, the list of its
files, and the files (https://huggingface.co/docs/hub/api).
"""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
"""The one commit that every repository is at."""


class ModelHub:
    """Serves `repositories`, folders by the name owner/model; `asked` lists the paths that were asked for."""

    def __init__(self, repositories: dict[str, Path]) -> None:
        """Begin to serve when entered."""
        self.repositories = repositories
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def endpoint(self) -> str:
        """Address of the hub, as HF_ENDPOINT names it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers for a path."""
        self.asked.append(path)
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self._described("/".join(parts[2:4]), parts[4:])
        folder = self.repositories.get("/".join(parts[:2]))
        file = folder / "/".join(parts[4:]) if folder and parts[2:3] == ["resolve"] else None
        if file is None or not file.is_file():
            return 404, b"", {"X-Error-Code": "RepoNotFound" if folder is None else "EntryNotFound"}
        body = file.read_bytes()
        return 200, body, {"ETag": f'"{hashlib.sha256(body).hexdigest()}"', "X-Repo-Commit": COMMIT}

    def _described(self, name: str, rest: list[str]) -> tuple[int, bytes, dict[str, str]]:
        folder = self.repositories.get(name)
        if folder is None:
            return 404, b"{}", {"X-Error-Code": "RepoNotFound"}
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        names = {file.relative_to(folder).as_posix(): file for file in files}
        found: Any = {"id": name, "sha": COMMIT, "siblings": [{"rfilename": each} for each in names]}
        if rest[:1] == ["tree"]:
            found = [
                {"type": "file", "path": each, "size": file.stat().st_size, "oid": _digest(file)}
                for each, file in names.items()
            ]
        return 200, json.dumps(found).encode(), {"Content-Type": "application/json"}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body, headers = hub.answer(unquote(urlsplit(self.path).path))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the overridden name
                """Say nothing."""

        return Handler


def _digest(file: Path) -> str:
    return hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
