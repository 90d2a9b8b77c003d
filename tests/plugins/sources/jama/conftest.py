"""Jama clients and sources under test, and an HTTP server that answers as a test dictates."""

import json
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from reqall.plugins.sources.jama.http.client import JamaClient
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.source import JamaSource
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from reqall.testing.read_only import read_only_jama

TOKEN_PATH = "/rest/oauth/token"
FAST = 1000


class Answers(ThreadingHTTPServer):
    """A server on loopback: `reply(path, query)` returns (status, headers, body); None of a token is a good one.

    A body that is a function writes to the handler's socket itself; `tls` is a context for https.
    """

    daemon_threads = True

    def __init__(self, reply, tls=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.seen = []
        self.connections = 0
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_address[1]}"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request, client_address):
        pass  # a client that breaks off is part of many tests

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def _answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        self.server.seen.append((self.command, parts.path, self.headers.get("Authorization")))
        reply = self.server.reply(parts.path, parse_qs(parts.query))
        if reply is None and parts.path == TOKEN_PATH:
            reply = 200, {}, {"access_token": "t0", "expires_in": 3600}
        status, headers, body = reply or (404, {}, {})
        if callable(body):
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.close_connection = True
            body(self)
            return
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": len(content)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, *_):
        pass


@contextmanager
def _serving(reply, tls):
    server = Answers(reply, tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(name="answering")
def _answering():
    """Start a server that answers with the given function; it stops after the test."""
    with ExitStack() as stack:
        yield lambda reply, tls=None: stack.enter_context(_serving(reply, tls))


class Waits(list):
    """Collects the seconds that a client would have slept."""

    def __call__(self, seconds):
        self.append(seconds)

    def are(self, *least):
        """Tell whether these were the waits, each drawn out by a quarter at most."""
        return len(self) == len(least) and all(low <= wait <= low * 1.25 for low, wait in zip(least, self, strict=True))


class Ticks:
    """A clock that only a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def waits():
    return Waits()


@pytest.fixture
def ticks():
    return Ticks()


@pytest.fixture(name="client_of")
def _client_of(waits):
    """Build a client for an address."""

    def build(url, secret=JamaSimulator.client_secret, **settings):
        return JamaClient(
            url, JamaSimulator.client_id, secret, **{"sleep": waits, "requests_per_second": FAST, **settings}
        )

    return build


@pytest.fixture(name="source_of")
def _source_of(waits, ticks):
    """Build a source for an address."""

    def build(url, name="jama", **options):
        login = {"client_id": JamaSimulator.client_id, "client_secret": SecretStr(JamaSimulator.client_secret)}
        return JamaSource(
            JamaOptions(**{"url": url, "requests_per_second": FAST, **login, **options}), name, sleep=waits, clock=ticks
        )

    return build


@pytest.fixture
def jama():
    """The tiny project, served."""
    with read_only_jama(project=tiny_project()) as simulator:
        yield simulator


@pytest.fixture
def demo(jama_simulator):
    """The demo project, served."""
    return jama_simulator


@pytest.fixture
def envelope():
    """Build the answer of a list."""

    def build(rows, total=None):
        info = {"startIndex": 0, "resultCount": len(rows), **({} if total is None else {"totalResults": total})}
        return {"meta": {"status": "OK", "timestamp": "2026-01-01T00:00:00.000+0000", "pageInfo": info}, "data": rows}

    return build
