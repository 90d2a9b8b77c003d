"""Walks a list of Jama's page by page, several pages at a time, while others change it.

Pages go by offset, so a row that is deleted or added meanwhile moves all later ones. Every page
therefore begins with the last row of the one before: where that is not so, the walk goes back until
a page begins with a row that it knows. As the list's order is fixed, such pages leave no gap between
them, whenever each was read: no row is missed that was there all the time.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from reqall import SourceError
from reqall.plugins.sources.jama.http.reply import Row

_MOST_STEPS_BACK = 25
"""Steps without a new row, and returns to the beginning, after which a list is taken to have no fixed order."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One page as Jama sent it: the list, what Jama counts in all, its own time, and the requests it took."""

    data: list[Any]
    total: int | None
    served: str
    sent: int

    def unseen(self, seen: set[object]) -> list[Row]:
        """Return the rows that are not in `seen`, and add them to it."""
        fresh = []
        for row in self.data:
            identity = identity_of(row)
            if identity not in seen:
                seen.add(identity)
                if isinstance(row, dict):
                    fresh.append(row)
        return fresh


def identity_of(row: Any) -> object:
    """Return the id of a row; one without an id is its own identity."""
    identifier = row.get("id") if isinstance(row, dict) else None
    return identifier if isinstance(identifier, int) else json.dumps(row, sort_keys=True)


Fetch = Callable[[int], Fetched]
"""`fetch(start)`: the page that begins at that offset."""


class LookAhead:
    """Fetches the pages that come next on threads, at most `most` of them; gives them out in order.

    It begins with few and doubles, so that who wants two pages does not pay for ten. `count` is told
    on the caller's thread how many requests a page took elsewhere.
    """

    def __init__(self, fetch: Fetch, count: Callable[[int], None], most: int) -> None:
        self._fetch = fetch
        self._count = count
        self._most = most
        self._window = 1
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: deque[tuple[int, Future[Fetched]]] = deque()

    def plan(self, start: int, step: int, total: int | None) -> None:
        """Begin to fetch the pages from `start` on; what was planned otherwise is dropped."""
        if self._ahead and self._ahead[0][0] != start:
            self._drop()
        self._window = min(self._most, self._window * 2)
        if self._window == 1 or total is None:
            return
        following = self._ahead[-1][0] + step if self._ahead else start
        while len(self._ahead) < self._window and following < total:
            self._pool = self._pool or ThreadPoolExecutor(self._most, thread_name_prefix="jama-pages")
            self._ahead.append((following, self._pool.submit(self._fetch, following)))
            following += step

    def get(self, start: int) -> Fetched:
        """Return the page at `start`: the one that was planned, or one fetched now."""
        if self._ahead and self._ahead[0][0] == start:
            page = self._ahead.popleft()[1].result()
            self._count(page.sent)
            return page
        self._drop()
        return self._fetch(start)

    def close(self) -> None:
        """Begin nothing new, and wait for what is under way."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _drop(self) -> None:
        for _, future in self._ahead:
            future.cancel()
        self._ahead.clear()


@dataclass(slots=True)
class OffsetWalk:
    """One walk through the list `what`; yields each page's new rows with the page itself."""

    what: str
    fetch: Fetch
    count: Callable[[int], None]
    most_ahead: int
    seen: set[object] = field(default_factory=set)
    _start: int = 0
    _overlap: int = 0
    _step_back: int = 1
    _steps_back: int = 0
    _restarts: int = 0
    _idle: int = 0
    _total: int = 0
    _fresh_beyond_first: bool = False

    def __iter__(self) -> Iterator[tuple[list[Row], Fetched]]:
        ahead, first = LookAhead(self.fetch, self.count, self.most_ahead), None
        try:
            while True:
                page = ahead.get(self._start)
                if self._overlap and not (page.data and identity_of(page.data[0]) in self.seen):
                    self._go_back(page)
                    continue
                rows = self._taken(page)
                first = first or page
                if self._is_last(page, first):
                    yield rows, page
                    return
                self._start += max(1, len(page.data) - 1)
                self._overlap = 1 if len(page.data) > 1 else 0
                step = max(1, len(first.data) - 1)
                if page is not first:
                    ahead.plan(self._start, step, page.total)
                yield rows, page
                if page is first:
                    ahead.plan(self._start, step, page.total)
        finally:
            ahead.close()

    def _taken(self, page: Fetched) -> list[Row]:
        before = len(self.seen)
        rows = page.unseen(self.seen)
        if len(self.seen) > before:
            self._steps_back, self._idle = 0, 0
            self._fresh_beyond_first = self._fresh_beyond_first or self._start > 0
        else:
            self._idle += 1
        self._step_back, self._total = 1, page.total or 0
        return rows

    def _is_last(self, page: Fetched, first: Fetched) -> bool:
        """Tell whether the list ends with this page. Raises SourceError when rows that were announced do not come."""
        end = self._start + len(page.data)
        if page.total is None:
            return len(page.data) <= self._overlap or self._idle > 1
        if end < page.total:
            if not page.data:
                raise SourceError(f"Jama announced {page.total} rows for {self.what} and sent none from {end} on")
            return False
        if self._start > 0 and not self._fresh_beyond_first and page.total > len(first.data):
            raise SourceError(f"Jama answers {self.what} with the same page again and again, whatever its offset")
        return True

    def _go_back(self, page: Fetched) -> None:
        self._steps_back += 1
        self._restarts += self._start <= self._step_back
        if max(self._steps_back, self._restarts) > _MOST_STEPS_BACK:
            raise SourceError(f"{self.what} changes faster than it can be read", "Try again when it is quieter.")
        # As far as rows are known to be gone; where that is not enough, twice as far each time.
        gone = 0 if page.total is None else self._total - page.total
        self._start = max(0, self._start - max(gone, self._step_back))
        self._overlap = 1 if self._start else 0
        self._step_back *= 2
