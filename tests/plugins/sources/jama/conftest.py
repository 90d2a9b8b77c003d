"""Jama sources under test, and an HTTP server that answers as a test dictates."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from reqall.plugins.sources.jama.client import JamaClient
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.source import JamaSource
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TOKEN_PATH = "/rest/oauth/token"


class Answers(ThreadingHTTPServer):
    """A server on loopback: `reply(path, query)` returns (status, headers, body)."""

    daemon_threads = True

    def __init__(self, reply):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.seen = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        parts = urlsplit(self.path)
        self.server.seen.append((self.command, parts.path, self.headers.get("Authorization")))
        if parts.path == TOKEN_PATH and self.server.reply.__name__ != "tokens_too":
            status, headers, body = 200, {}, {"access_token": "t0", "expires_in": 3600}
        else:
            status, headers, body = self.server.reply(parts.path, parse_qs(parts.query))
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": len(content)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer

    def log_message(self, *_):
        pass


@contextmanager
def answering(reply: Callable) -> Iterator[Answers]:
    server = Answers(reply)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def envelope(rows, total=None, start=0):
    info = {"startIndex": start, "resultCount": len(rows)}
    if total is not None:
        info["totalResults"] = total
    return {"meta": {"status": "OK", "timestamp": "2026-01-01T00:00:00.000+0000", "pageInfo": info}, "data": rows}


class Waits(list):
    """Collects the seconds that a client would have slept."""

    def __call__(self, seconds):
        self.append(seconds)


def client_of(url, jama=JamaSimulator, **settings):
    return JamaClient(url, jama.client_id, jama.client_secret, **{"sleep": Waits(), **settings})


def source_of(url, name="jama", *, clock=None, **options):
    secret = SecretStr(JamaSimulator.client_secret)
    filled = JamaOptions(**{"url": url, "client_id": JamaSimulator.client_id, "client_secret": secret, **options})
    extra = {"clock": clock} if clock else {}
    return JamaSource(filled, name, sleep=Waits(), **extra)


def tiny(requirements=5, **changes):
    """The tiny project, with whole collections replaced or items added."""
    project = tiny_project(requirements)
    project["items"] += changes.pop("more_items", [])
    return project | changes


@pytest.fixture
def jama():
    with JamaSimulator(project=tiny_project()) as simulator:
        yield simulator


@pytest.fixture
def demo():
    with JamaSimulator() as simulator:
        yield simulator
