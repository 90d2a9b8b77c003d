"""Reads from Jama's REST API: single objects, offset pages, and the cursor of /relationships."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import NamedTuple, TypeVar

from reqall import InputError, SourceError
from reqall.plugins.sources.jama.http.answers import is_licence_missing, read_envelope
from reqall.plugins.sources.jama.http.connection import Certificates
from reqall.plugins.sources.jama.http.credentials import Credentials
from reqall.plugins.sources.jama.http.reply import Row
from reqall.plugins.sources.jama.http.transport import PATIENCE, Limits, Params, Transport
from reqall.plugins.sources.jama.http.walk import Fetched, OffsetWalk

T = TypeVar("T")
R = TypeVar("R")

_ABSENT = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
_SHORTEST_PAGE = 2

_LAST_ORDER = "documentKey.asc"
_ORDERS = {"/abstractitems": ("sequence.asc",), "/testruns": ()}
"""The lists that Jama sorts as it is asked, with the order that each has by itself before the document key."""


class Listing(NamedTuple):
    """One page of a list: new rows, what Jama counts in all, and Jama's own time of the answer."""

    rows: list[Row]
    total: int | None
    served: str


class JamaClient:
    """A read-only client; thread-safe. `sleep` waits between retries, `clock` counts seconds.

    `on_wait` is told, on whichever thread waits, why and for how long a request is held back; `patience`
    is for how many seconds at most, when there is somebody to be told.
    """

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        *,
        timeout: float = 30.0,
        deadline: float = 120.0,
        page_size: int = 50,
        parallel_pages: int = 8,
        requests_per_second: int = 8,
        patience: float = PATIENCE,
        certificates: Certificates | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        limits = Limits(timeout, deadline, requests_per_second, patience)
        self._transport = Transport(url, limits=limits, certificates=certificates, sleep=sleep)
        self._credentials = Credentials(self._transport, client_id, client_secret, clock)
        # Every page begins with the last row of the one before, hence two rows at least.
        self._page_size = max(_SHORTEST_PAGE, page_size)
        self._parallel = parallel_pages

    @property
    def base(self) -> str:
        """The normalised address of Jama. Raises ConfigError."""
        return self._transport.base

    @property
    def sent(self) -> int:
        """How many requests the calling thread has sent so far, or had sent for it."""
        return self._transport.sent

    @property
    def on_wait(self) -> Callable[[str], None] | None:
        """Who is told that a request of the calling thread has to wait."""
        return self._transport.on_wait

    @on_wait.setter
    def on_wait(self, told: Callable[[str], None] | None) -> None:
        self._transport.on_wait = told

    def get(self, path: str, params: Params | None = None) -> Row:
        """Return the envelope of `/rest/v1{path}`. Raises SourceError, NotFoundError, InputError."""
        envelope = self._get(path, params or {}, optional=False)
        assert envelope is not None
        return envelope

    def one(self, path: str, *, optional: bool = False) -> Row | None:
        """Return a single object; with `optional`, None when it is forbidden or not there."""
        envelope = self._get(path, {}, optional=optional)
        if envelope is None:
            return None
        if not isinstance(envelope["data"], dict):
            raise SourceError(f"Jama answered GET {path} without an object in it")
        return envelope["data"]

    def every(self, path: str, params: Params | None = None, *, optional: bool = False) -> list[Row]:
        """Return all rows of a list; with `optional`, none when it is forbidden or not there."""
        return [row for listing in self.pages(path, params, optional=optional) for row in listing.rows]

    def total(self, path: str, params: Params) -> int:
        """Count the rows of a list with one request."""
        page = self._page(path, {**params, "startAt": 0, "maxResults": 1}, optional=False)
        if page.total is None:
            raise SourceError(f"Jama answered GET {path} without totalResults")
        return page.total

    def pages(self, path: str, params: Params | None = None, *, optional: bool = False) -> Iterator[Listing]:
        """Walk a list page by page, several requests at a time; no row comes twice.

        Rows that are there during the whole walk all come, whatever is added or deleted meanwhile.
        """
        return self._by_offset(path, _sorted(path, params or {}), set(), optional=optional)

    def relationships(self, project: int) -> Iterator[Listing]:
        """Walk a project's relationships by cursor: `lastId` until an empty page.

        A Jama from before the cursor ignores `lastId`: the rest is then walked by offset.
        """
        path, params, seen, last = "/relationships", {"project": project}, set[object](), 0
        while True:
            cursor = {"lastId": last, "maxResults": self._page_size}
            page = self._page(path, {**params, **cursor}, optional=False)
            ids = [row["id"] for row in page.data if isinstance(row, dict) and isinstance(row.get("id"), int)]
            rows = page.unseen(seen)
            yield Listing(rows, page.total, page.served)
            if not rows:
                break
            if max(ids, default=0) <= last:
                raise SourceError(f"Jama's cursor for GET {path} does not advance beyond {last}")
            last = max(ids)
        if ids and min(ids) < last:
            yield from self._by_offset(path, {**params, "lastId": 0}, seen, optional=False)

    def in_parallel(self, call: Callable[[T], R], values: Sequence[T]) -> Iterable[R]:
        """Call for each value on as many threads as pages are fetched on; results keep the order."""
        if len(values) < 2 or self._parallel == 1:  # noqa: PLR2004 - one value needs no thread
            return [call(value) for value in values]

        def counted(value: T) -> tuple[R, int]:
            before = self.sent
            return call(value), self.sent - before

        with ThreadPoolExecutor(min(self._parallel, len(values)), thread_name_prefix="jama-reads") as pool:
            results = list(pool.map(self._transport.for_caller(counted), values))
        self._transport.count(sum(sent for _, sent in results))
        return [result for result, _ in results]

    def _by_offset(self, path: str, params: Params, seen: set[object], *, optional: bool) -> Iterator[Listing]:
        def fetch(start: int) -> Fetched:
            return self._page(path, {**params, "startAt": start, "maxResults": self._page_size}, optional=optional)

        fetch_ahead = self._transport.for_caller(fetch)
        for rows, page in OffsetWalk(f"GET {path}", fetch_ahead, self._transport.count, self._parallel, seen):
            yield Listing(rows, page.total, page.served)

    def _page(self, path: str, params: Params, *, optional: bool) -> Fetched:
        before = self.sent
        envelope = self._get(path, params, optional=optional)
        if envelope is None:
            return Fetched([], 0, "", self.sent - before)
        meta = envelope.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        info = meta.get("pageInfo")
        total = info.get("totalResults") if isinstance(info, dict) else None
        data = envelope["data"]
        if not isinstance(data, list):
            raise SourceError(f"Jama answered GET {path} without a list in it")
        total = total if isinstance(total, int) else None
        return Fetched(data, total, str(meta.get("timestamp") or ""), self.sent - before)

    def _get(self, path: str, params: Params, *, optional: bool) -> Row | None:
        path = _tidy(path)
        bearer = self._credentials.bearer()
        reply = self._transport.get(path, params, bearer)
        if reply.status == HTTPStatus.UNAUTHORIZED and not is_licence_missing(reply):
            # Expired or revoked before its time: one new token, one new try.
            self._credentials.drop(bearer)
            reply = self._transport.get(path, params, self._credentials.bearer())
        if optional and reply.status in _ABSENT and not is_licence_missing(reply):
            return None
        return read_envelope(reply, path)


def _tidy(path: str) -> str:
    """Return a path below `/rest/v1` without doubled or trailing slashes. Raises InputError for any other path."""
    tidy = "/" + re.sub(r"/{2,}", "/", path.strip()).strip("/")
    if re.search(r"[?#%\\\s\x00-\x1f]|/\.{1,2}(?:/|$)", tidy):
        raise InputError(f"{path!r} is no path of Jama's REST API", "Pass one such as /items/51; parameters go apart.")
    return tidy


def _sorted(path: str, params: Params) -> Params:
    """Return the parameters with an order that leaves no two rows alike, where Jama sorts the list."""
    if path not in _ORDERS:
        return params
    asked = params.get("sortBy") or _ORDERS[path]
    orders = [asked] if isinstance(asked, str) else list(asked)
    named = any(str(order).startswith("documentKey.") for order in orders)
    return {**params, "sortBy": orders if named else [*orders, _LAST_ORDER]}
