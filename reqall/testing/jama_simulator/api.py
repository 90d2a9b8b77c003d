"""The REST endpoints under `/rest`: lists, singles and nested paths, as starlette routes."""

import asyncio
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reqall.testing.jama_simulator.envelope import Envelope, error_answer
from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.query import ApiError, Params, page_of
from reqall.testing.jama_simulator.records import KINDS, Record
from reqall.testing.jama_simulator.resources import LISTS, NESTED, SINGLES, Ask
from reqall.testing.jama_simulator.shapes import location
from reqall.testing.jama_simulator.world import World

VERSIONS = ("v1", "latest")
LAST_ID_REQUIRED = "The lastId parameter is now required to call GET /relationships API endpoint."
_PAGING = ("startAt", "maxResults", "lastId", "include", "omitCount")


class Api:
    """Answers for authorised GET requests; `url` includes the context path."""

    def __init__(self, world: World, faults: Faults, url: str) -> None:
        """Build the routes over a world."""
        self._world = world
        self._faults = faults
        self._url = url
        self._kept: dict[object, list[Record]] = {}
        self._kept_revision = -1
        self.errors: list[Exception] = []

    def app(self) -> Starlette:
        """Return the application; paths have neither the context path nor a slash at the end."""
        version = "/rest/{version}"
        routes = [
            Route("/rest", self._versions),
            Route(version, self._endpoints),
            Route(f"{version}/users/current", self._current_user),
            Route(f"{version}/files", self._file),
            Route(f"{version}/relationships", self._relationships),
            Route(f"{version}/{{name}}", self._list),
            Route(f"{version}/{{name}}/{{id:int}}", self._single),
            Route(f"{version}/{{name}}/{{id:int}}/{{part}}", self._nested),
        ]
        handlers = {ApiError: self._on_api_error, HTTPException: self._on_no_route, Exception: self._on_bug}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        return app

    async def _list(self, request: Request) -> Response:
        if (lister := LISTS.get(request.path_params["name"])) is None:
            raise ApiError(404, "Resource not found")
        return await self._page(request, lister)

    async def _single(self, request: Request) -> Response:
        with self._world.lock:
            return JSONResponse(self._envelope(request).single(self._record(request)))

    async def _nested(self, request: Request) -> Response:
        name, part = request.path_params["name"], request.path_params["part"]
        if (lister := NESTED.get((name, part))) is not None:
            return await self._page(request, lambda ask: lister(ask, self._record(request)))
        with self._world.lock:
            return self._nested_single(request, self._record(request), part)

    def _nested_single(self, request: Request, record: Record, part: str) -> Response:
        envelope = self._envelope(request)
        place = self._world.place(record["id"]) if record["type"] in KINDS else None
        if part == "location" and place is not None:
            return JSONResponse(envelope.plain(location(record, place)))
        if part == "lock" and record["type"] in KINDS:
            return JSONResponse(envelope.plain(record.get("lock", {"locked": False})))
        if part == "parent" and place is not None and record["parent"].get("item"):
            return JSONResponse(envelope.single(self._world.items[record["parent"]["item"]]))
        if part == "file" and record["type"] == "attachments":
            content = f"Content of {record.get('fileName')}\n".encode()
            return Response(content, media_type=record.get("mimeType", "application/octet-stream"))
        raise ApiError(404, "Resource not found")

    async def _relationships(self, request: Request) -> Response:
        if self._faults.legacy_relationships:
            return await self._page(request, LISTS["relationships"])
        params = _params(request)
        if params.one("lastId") is None:
            raise ApiError(400, LAST_ID_REQUIRED)
        last, size = params.integer("lastId", 0), page_of(params, self._faults.over_cap).size
        await self._before_page(request, last)
        with self._world.lock:
            rows = self._rows(request, LISTS["relationships"])
            ahead = [row for row in rows if row["id"] > last]
            counts = {"all": len(rows), "remaining": len(ahead), "absent": None}
            total = None if params.flag("omitCount") else counts[self._faults.relationship_total]
            return JSONResponse(self._envelope(request).page(ahead[:size], 0, total))

    async def _page(self, request: Request, lister: Callable[[Ask], list[Record]]) -> Response:
        page = page_of(_params(request), self._faults.over_cap)
        await self._before_page(request, page.start)
        with self._world.lock:
            rows = self._rows(request, lister)
            return JSONResponse(self._envelope(request).page(page.of(rows), page.start, len(rows)))

    async def _before_page(self, request: Request, start: int) -> None:
        await asyncio.sleep(self._faults.page_delay)
        if (hook := self._faults.before_page) is not None:
            await asyncio.to_thread(hook, self._world, request.url.path, start)

    def _rows(self, request: Request, lister: Callable[[Ask], list[Record]]) -> list[Record]:
        """Return the whole list, kept from page to page while nothing changes."""
        params, faults = _params(request), self._faults
        ask = Ask(self._world, faults, params)
        if faults.index_lag_seconds:
            return lister(ask)
        if self._kept_revision != self._world.revision:
            self._kept.clear()
            self._kept_revision = self._world.revision
        asked = tuple(pair for pair in params.pairs if pair[0] not in _PAGING)
        key = (request.url.path, asked, faults.contains_mode, faults.affected_items_after_delete)
        if key not in self._kept:
            self._kept[key] = lister(ask)
        return self._kept[key]

    def _record(self, request: Request) -> Record:
        name, identifier = request.path_params["name"], request.path_params["id"]
        record = self._world.find(name, identifier) if name in SINGLES else None
        if record is None:
            raise ApiError(404, f"{name.removesuffix('s').capitalize()} not found")
        return record

    async def _versions(self, request: Request) -> Response:
        return JSONResponse(self._envelope(request).plain(list(VERSIONS)))

    async def _endpoints(self, request: Request) -> Response:
        envelope = self._envelope(request)
        found = [{"name": name, "href": f"{envelope.api_url}/{name}"} for name in sorted({*LISTS, *SINGLES})]
        return JSONResponse(envelope.plain(found))

    async def _current_user(self, request: Request) -> Response:
        with self._world.lock:
            user = self._world.find("users", self._world.actor)
            if user is None:
                raise ApiError(404, "User not found")
            return JSONResponse(self._envelope(request).single(user))

    async def _file(self, request: Request) -> Response:
        if (url := _params(request).one("url")) is None:
            raise ApiError(400, "The url parameter is required.")
        return Response(f"Content of {url}\n".encode(), media_type="application/octet-stream")

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
