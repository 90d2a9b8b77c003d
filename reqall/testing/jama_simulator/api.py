"""The REST endpoints under `/rest` as starlette routes: what all of them have in common."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reqall.testing.jama_simulator.ask import Ask, Endpoint, Lister
from reqall.testing.jama_simulator.envelope import Envelope, error_answer
from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.lists import relationships
from reqall.testing.jama_simulator.plan import Plan
from reqall.testing.jama_simulator.query import ApiError, Params, page_of
from reqall.testing.jama_simulator.records import Record
from reqall.testing.jama_simulator.resources import ENDPOINTS
from reqall.testing.jama_simulator.world import World

VERSIONS = ("v1", "latest")
LAST_ID_REQUIRED = "The lastId parameter is now required to call GET /relationships API endpoint."
_PAGING = ("startAt", "maxResults", "lastId", "include", "omitCount")


class Api:
    """Answers for authorised GET requests; `url` includes the context path."""

    def __init__(self, world: World, faults: Faults, url: str, plan: Plan) -> None:
        """Build the routes over a world; what the plan holds happens before the pages it names."""
        self._world = world
        self._faults = faults
        self._url = url
        self._plan = plan
        self._kept: dict[object, list[Record]] = {}
        self._kept_revision = -1
        self.errors: list[Exception] = []

    def app(self) -> Starlette:
        """Return the application; paths have neither the context path nor a slash at the end."""
        version = "/rest/{version}"
        routes = [Route("/rest", self._versions), Route(version, self._endpoints)]
        for endpoint in ENDPOINTS:
            # The numbers' names are the reader's; every one is an integer.
            path = re.sub(r"\{(\w+)\}", r"{\1:int}", endpoint.path)
            routes.append(Route(version + path, self._answer(endpoint)))
        handlers = {ApiError: self._on_api_error, HTTPException: self._on_no_route, Exception: self._on_bug}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        return app

    def _answer(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            envelope = self._envelope(request)
            if endpoint.path == "/relationships" and not self._faults.legacy_relationships:
                return await self._cursor_page(request, envelope)
            if endpoint.form == "list":
                return await self._page(request, envelope, endpoint.answer)
            with self._world.lock:
                found = endpoint.answer(self._ask(request))
                if endpoint.form == "file":
                    return Response(found.content, media_type=found.mime_type)
                return JSONResponse(envelope.plain(found) if endpoint.form == "plain" else envelope.single(found))

        return answer

    async def _cursor_page(self, request: Request, envelope: Envelope) -> Response:
        params = _params(request)
        if params.one("lastId") is None:
            raise ApiError(400, LAST_ID_REQUIRED)
        last, size = params.integer("lastId", 0), page_of(params, self._faults.over_cap).size
        await self._before_page(request, last)
        with self._world.lock:
            rows = self._rows(request, relationships)
            ahead = [row for row in rows if row["id"] > last]
            counts = {"all": len(rows), "remaining": len(ahead), "absent": None}
            total = None if params.flag("omitCount") else counts[self._faults.relationship_total]
            return JSONResponse(envelope.page(ahead[:size], 0, total))

    async def _page(self, request: Request, envelope: Envelope, lister: Lister) -> Response:
        page = page_of(_params(request), self._faults.over_cap)
        await self._before_page(request, page.start)
        with self._world.lock:
            rows = self._rows(request, lister)
            return JSONResponse(envelope.page(page.of(rows), page.start, len(rows)))

    async def _before_page(self, request: Request, start: int) -> None:
        await asyncio.sleep(self._faults.page_delay)
        self._plan.run_before(request.url.path, start)
        if (hook := self._faults.before_page) is not None:
            await asyncio.to_thread(hook, self._world, request.url.path, start)

    def _rows(self, request: Request, lister: Lister) -> list[Record]:
        """Return the whole list, kept from page to page while nothing changes."""
        ask, faults = self._ask(request), self._faults
        if faults.index_lag_seconds:
            return lister(ask)
        if self._kept_revision != self._world.revision:
            self._kept.clear()
            self._kept_revision = self._world.revision
        asked = tuple(pair for pair in ask.params.pairs if pair[0] not in _PAGING)
        switches = (faults.contains_mode, faults.affected_items_after_delete, faults.relationship_history_since)
        key = (request.url.path, asked, switches)
        if key not in self._kept:
            self._kept[key] = lister(ask)
        return self._kept[key]

    def _ask(self, request: Request) -> Ask:
        numbers = tuple(value for value in request.path_params.values() if isinstance(value, int))
        return Ask(self._world, self._faults, _params(request), numbers)

    async def _versions(self, request: Request) -> Response:
        return JSONResponse(self._envelope(request).plain(list(VERSIONS)))

    async def _endpoints(self, request: Request) -> Response:
        envelope = self._envelope(request)
        names = sorted({endpoint.path.split("/")[1] for endpoint in ENDPOINTS})
        return JSONResponse(envelope.plain([{"name": name, "href": f"{envelope.api_url}/{name}"} for name in names]))

    def _envelope(self, request: Request) -> Envelope:
        version = request.path_params.get("version", VERSIONS[0])
        if version not in VERSIONS:
            raise ApiError(404, "Resource not found")
        include = tuple(_params(request).many("include"))
        full_dates = request.headers.get("x-jama-date-fields-with-time", "").lower() == "true"
        return Envelope(self._world, f"{self._url}/rest/{version}", include, full_dates)

    async def _on_api_error(self, _request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return error_answer(self._world, error.status, error.message)

    async def _on_no_route(self, _request: Request, error: Exception) -> Response:
        return error_answer(self._world, getattr(error, "status_code", 404), "Resource not found")

    async def _on_bug(self, _request: Request, error: Exception) -> Response:
        # A failing test hook or a bug of the simulator: kept, and raised when it is closed.
        self.errors.append(error)
        return error_answer(self._world, 500, f"{type(error).__name__}: {error}")


def _params(request: Request) -> Params:
    return Params(tuple(request.query_params.multi_items()))
