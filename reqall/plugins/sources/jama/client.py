"""Reads from Jama's REST API: single objects, offset pages, and the cursor of /relationships."""

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import NamedTuple

from reqall import SourceError
from reqall.plugins.sources.jama.answers import Row, read_envelope
from reqall.plugins.sources.jama.credentials import Credentials
from reqall.plugins.sources.jama.transport import Params, Transport

_ABSENT = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


class Listing(NamedTuple):
    """One page of a list: new rows, what Jama counts in all, and Jama's own time of the answer."""

    rows: list[Row]
    total: int | None
    served: str


class JamaClient:
    """A read-only client. `sleep` waits between retries, `clock` counts seconds."""

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        *,
        timeout: float = 30.0,
        page_size: int = 50,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = Transport(url, timeout=timeout, sleep=sleep)
        self._credentials = Credentials(self._transport, client_id, client_secret, clock)
        self._page_size = page_size

    @property
    def base(self) -> str:
        """The normalised address of Jama. Raises ConfigError."""
        return self._transport.base

    @property
    def sent(self) -> int:
        """How many requests the calling thread has sent so far."""
        return self._transport.sent

    def get(self, path: str, params: Params | None = None) -> Row:
        """Return the envelope of `/rest/v1{path}`. Raises SourceError, NotFoundError."""
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
        _, page = self._page(path, {**params, "startAt": 0, "maxResults": 1}, optional=False)
        if page.total is None:
            raise SourceError(f"Jama answered GET {path} without totalResults")
        return page.total

    def pages(self, path: str, params: Params | None = None, *, optional: bool = False) -> Iterator[Listing]:
        """Walk a list page by page; ids are unique in the walk.

        Rows that are deleted meanwhile move later ones to the front: where the total shrank, the
        walk goes back as many rows.
        """
        return self._by_offset(path, params or {}, set(), optional=optional)

    def relationships(self, project: int) -> Iterator[Listing]:
        """Walk a project's relationships by cursor: `lastId` until an empty page.

        A Jama from before the cursor ignores `lastId`: the rest is then walked by offset.
        """
        path, params, seen, last = "/relationships", {"project": project}, set[int](), 0
        while True:
            cursor = {"lastId": last, "maxResults": self._page_size}
            _, page = self._page(path, {**params, **cursor}, optional=False)
            ids = [row["id"] for row in page.rows if isinstance(row.get("id"), int)]
            page = page._replace(rows=_unseen(page.rows, seen))
            yield page
            if not page.rows:
                break
            if max(ids) <= last:
                raise SourceError(f"Jama's cursor for GET {path} does not advance beyond {last}")
            last = max(ids)
        if ids and min(ids) < last:
            yield from self._by_offset(path, {**params, "lastId": 0}, seen, optional=False)

    def _by_offset(self, path: str, params: Params, seen: set[int], *, optional: bool) -> Iterator[Listing]:
        start, expected = 0, 0
        while True:
            request = {**params, "startAt": start, "maxResults": self._page_size}
            count, page = self._page(path, request, optional=optional)
            fresh = _unseen(page.rows, seen)
            yield page._replace(rows=fresh)
            if page.total is None:
                if not fresh:
                    return
                start += count
                continue
            gone, expected = expected - page.total, page.total
            if gone > 0:
                start = max(0, start - gone)
            elif not count or start + count >= page.total:
                return
            else:
                start += count

    def _page(self, path: str, params: Params, *, optional: bool) -> tuple[int, Listing]:
        """Return how many rows Jama sent, and the page."""
        envelope = self._get(path, params, optional=optional)
        if envelope is None:
            return 0, Listing([], 0, "")
        meta = envelope.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        info = meta.get("pageInfo")
        total = info.get("totalResults") if isinstance(info, dict) else None
        data = envelope["data"]
        if not isinstance(data, list):
            raise SourceError(f"Jama answered GET {path} without a list in it")
        rows = [row for row in data if isinstance(row, dict)]
        return len(data), Listing(rows, total if isinstance(total, int) else None, str(meta.get("timestamp") or ""))

    def _get(self, path: str, params: Params, *, optional: bool) -> Row | None:
        bearer = self._credentials.bearer()
        response = self._transport.get(path, params, bearer)
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            # Expired or revoked before its time: one new token, one new try.
            self._credentials.drop(bearer)
            response = self._transport.get(path, params, self._credentials.bearer())
        if optional and response.status_code in _ABSENT:
            return None
        return read_envelope(response, path)


def _unseen(rows: list[Row], seen: set[int]) -> list[Row]:
    fresh = []
    for row in rows:
        identifier = row.get("id")
        if isinstance(identifier, int) and identifier not in seen:
            seen.add(identifier)
            fresh.append(row)
    return fresh
