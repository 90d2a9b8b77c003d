"""The door to the API: what every request passes before (and after) its endpoint answers."""

import asyncio
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reqall.testing.jama_simulator.control import CONTROL_PATH, Control
from reqall.testing.jama_simulator.envelope import error_answer
from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.plan import Plan
from reqall.testing.jama_simulator.requests_seen import SeenRequest
from reqall.testing.jama_simulator.tokens import Tokens
from reqall.testing.jama_simulator.world import World

TOKEN_PATH = "/rest/oauth/token"  # noqa: S105 - a path
LICENCE_MISSING = "A named Creator license is required for access."
_HTML = "<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"


class Door:
    """An ASGI application around the API: it records, fails, limits, and lets in who may enter."""

    def __init__(self, api: ASGIApp, world: World, faults: Faults, context_path: str, plan: Plan) -> None:
        """Stand before `api`; the server sets `reset` to what cuts a client's connection."""
        self._api = api
        self._world = world
        self._faults = faults
        self._context_path = context_path
        self.tokens = Tokens(faults)
        self.requests: list[SeenRequest] = []
        self._control = Control(world, faults, plan, self.requests)
        self.reset: Callable[[tuple[str, int]], None] = lambda _client: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one request from the server."""
        path = scope["path"]
        if path == CONTROL_PATH or path.startswith(f"{CONTROL_PATH}/"):
            await self._control(scope, receive, send)
            return
        now = time.monotonic()
        self.requests.append(SeenRequest(scope["method"], path, scope["query_string"].decode("latin-1"), now))
        local = path.removeprefix(self._context_path)
        # Counted on arrival, by the record's own clock: the record then tells what the limit saw.
        limited = local != TOKEN_PATH and self._faults.over_limit(now)
        failure = self._faults.next_failure(path, is_token=local == TOKEN_PATH)
        if failure == "reset":
            self.reset(scope["client"])
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        if failure == "slow":
            await asyncio.sleep(self._faults.slow_seconds)
        if failure in ("truncated", "short"):
            send = _cutting(send, announce_all=failure == "short")
        response = self._failed(failure) or await self._refusal(Request(scope, receive), path, local, limited=limited)
        if response is not None:
            await response(scope, receive, send)
            return
        await self._api({**scope, "path": local.removesuffix("/"), "root_path": ""}, receive, send)

    def _failed(self, failure: int | str | None) -> Response | None:
        if isinstance(failure, int):
            headers = self._faults.retry_headers() if failure in (429, 503) else None
            return error_answer(self._world, failure, headers=headers)
        return _html_page(500, "Internal Server Error") if failure == "html500" else None

    async def _refusal(self, request: Request, path: str, local: str, *, limited: bool) -> Response | None:
        """Return the answer to a request that never reaches an endpoint, else None."""
        if not path.startswith(f"{self._context_path}/rest") or "//" in local:
            return error_answer(self._world, 404, "Resource not found")
        if local == TOKEN_PATH and request.method == "POST":
            return await self.tokens.answer(request)
        return self._too_many() if limited else self._not_allowed(request, local)

    def _not_allowed(self, request: Request, local: str) -> Response | None:
        if local == TOKEN_PATH:
            return error_answer(self._world, 405, headers={"Allow": "POST"})
        if not self.tokens.allow(request):
            return error_answer(self._world, 401, "You must be logged in to access this resource.")
        if self._faults.licence_missing:
            return error_answer(self._world, 401, LICENCE_MISSING)
        if request.method != "GET":
            return error_answer(self._world, 405, headers={"Allow": "GET"})
        if self._faults.is_forbidden(local):
            return error_answer(self._world, 403, "You do not have permission to access this resource.")
        return None

    def _too_many(self) -> Response:
        headers = self._faults.retry_headers()
        if self._faults.rate_limit_html:
            return _html_page(429, "Too Many Requests", headers)
        return error_answer(self._world, 429, "API throttling limit reached.", headers)


def _html_page(status: int, title: str, headers: dict[str, str] | None = None) -> Response:
    return HTMLResponse(_HTML.format(title=f"{status} {title}"), status, headers)


def _cutting(send: Send, *, announce_all: bool) -> Send:
    """Return a `send` that drops the second half of the body.

    The announced length is that of the half (broken JSON in a sound answer), or with
    `announce_all` that of the whole, so that the server then breaks off the connection.
    """
    start: Message = {}

    async def cut(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
            return
        half = message["body"][: len(message["body"]) // 2]
        if not announce_all:
            others = [header for header in start["headers"] if header[0] != b"content-length"]
            start["headers"] = [*others, (b"content-length", str(len(half)).encode())]
        await send(start)
        await send({"type": "http.response.body", "body": half, "more_body": announce_all})

    return cut
