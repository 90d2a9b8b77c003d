"""Pages of a list for a language model: at most twenty rows, a size budget, and a cursor that never lies."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from reqall import InputError, SourceError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.http.client import JamaClient
from reqall.plugins.sources.jama.tools.cursor import Cursor

M = TypeVar("M", bound=BaseModel)

PAGE = 20
"""Rows in one answer."""

BUDGET = 24_000
"""Characters of JSON in one answer's rows; the first row comes whatever its size."""

UNKNOWN = -1
"""The total of a list that was not counted to its end."""

_LARGEST = 50
_ANCHORS = 5
_STEPS_BACK = 20


class Fetched(NamedTuple):
    """Some rows of a list, and how many it has in all (UNKNOWN when nobody says)."""

    rows: list[Row]
    total: int


Fetch = Callable[[int, int], Fetched]
"""`fetch(start, size)`: that window of a list, or less of it."""


def served(client: JamaClient, path: str, params: dict[str, object] | None = None) -> Fetch:
    """Return windows of one of Jama's lists. Raises SourceError, NotFoundError."""

    def fetch(start: int, size: int) -> Fetched:
        envelope = client.get(path, {**(params or {}), "startAt": start, "maxResults": size})
        return Fetched(rows_of(envelope), total_of(envelope))

    return fetch


def held(rows: list[Row]) -> Fetch:
    """Return windows of a list that is in memory."""
    return lambda start, size: Fetched(rows[start : start + size], len(rows))


def rows_of(envelope: Row) -> list[Row]:
    """Return the rows of an answer. Raises SourceError when it holds no list."""
    data = envelope.get("data")
    if not isinstance(data, list):
        raise SourceError("Jama answered without a list where one was expected")
    return [row for row in data if isinstance(row, dict)]


def total_of(envelope: Row) -> int:
    """Return what Jama counts in all, else UNKNOWN."""
    meta = envelope.get("meta")
    info = meta.get("pageInfo") if isinstance(meta, dict) else None
    total = info.get("totalResults") if isinstance(info, dict) else None
    return total if isinstance(total, int) else UNKNOWN


class Walk:
    """Iterates over the rows of a list from a cursor on.

    A list may change between two pages: rows are deleted, and what follows moves to the front. So
    each window begins with a row that was seen already; where that is not so, the place is looked
    for, and an InputError says when it has gone. `total` is the list's own count.
    """

    def __init__(self, fetch: Fetch, cursor: Cursor, size: int = PAGE + 2) -> None:
        self._fetch = fetch
        self._size = min(size, _LARGEST)
        self._position = cursor.position
        self._anchors = deque(cursor.anchors, maxlen=_ANCHORS)
        self.total = UNKNOWN
        self.scanned = 0

    def __iter__(self) -> Iterator[Row]:
        while True:
            rows, start = self._window()
            for index, row in enumerate(rows, start=start + 1):
                yield row
                self._position = index
                self.scanned += 1
                if (identity := _identity(row)) is not None:
                    self._anchors.append(identity)
            if not rows or 0 <= self.total <= self._position:
                return

    def here(self, begun: Cursor, returned: int) -> Cursor:
        """Return the cursor of the row that was yielded last: the next page begins with it."""
        return Cursor(begun.total, begun.before + returned, self._position, tuple(self._anchors), begun.place)

    def _window(self) -> tuple[list[Row], int]:
        """Return the rows that follow, and the position of the first."""
        start = max(0, self._position - 1) if self._anchors else self._position
        for _ in range(_STEPS_BACK):
            rows, self.total = self._fetch(start, self._size)
            if not self._anchors:
                return rows, start
            known = {_identity(row): index for index, row in enumerate(rows)}
            last = next((known[anchor] for anchor in reversed(self._anchors) if anchor in known), None)
            if last is not None and (last + 1 < len(rows) or last == 0 or len(rows) < self._size):
                return rows[last + 1 :], start + last + 1
            if last is not None:
                # It stands at the very end of the window: look behind it.
                start += last
                continue
            if start == 0:
                break
            start = max(0, start - self._size)
        raise InputError("the list has changed too much since this cursor was given", "Call again without the cursor.")


def _identity(row: Row) -> int | None:
    """Return what tells a row from the others; versions have a number and no id."""
    identity = row.get("id", row.get("versionNumber"))
    return identity if isinstance(identity, int) else None


class Sheet(Generic[M]):
    """The rows of one answer, as many as fit."""

    def __init__(self, most: int = PAGE) -> None:
        self.rows: list[M] = []
        self._most = most
        self._room = BUDGET

    def add(self, row: M) -> bool:
        """Add a row; False when there is no more room. The first one always fits."""
        size = len(row.model_dump_json())
        if self.rows and (len(self.rows) == self._most or size > self._room):
            return False
        self.rows.append(row)
        self._room -= size
        return True


class Taken(NamedTuple, Generic[M]):
    """One page; `total` may be UNKNOWN, `scanned` counts the rows that were looked at."""

    shown: list[M]
    total: int
    scanned: int
    following: Cursor | None


def take(
    walk: Walk,
    cursor: Cursor,
    show: Callable[[Row], M],
    *,
    keep: Callable[[Row], bool] | None = None,
    most: int = PAGE,
    scan: int = 1_000,
) -> Taken[M]:
    """Return the next page of the rows that `keep` accepts; at most `scan` rows are looked at.

    Without `keep` the list's own count is the total. With it, matches beyond the page are counted
    as far as `scan` reaches, and later pages remember the count.
    """
    sheet: Sheet[M] = Sheet(most)
    matches, following = 0, None
    for row in walk:
        if walk.scanned >= scan:
            following = following or walk.here(cursor, len(sheet.rows))
            break
        if keep is not None and not keep(row):
            continue
        matches += 1
        if following is None and not sheet.add(show(row)):
            following = walk.here(cursor, len(sheet.rows))
        if following is not None and (keep is None or cursor.total != UNKNOWN):
            break
    else:
        total = cursor.before + matches
        return Taken(sheet.rows, total, walk.scanned, following and following._replace(total=total))
    return Taken(sheet.rows, walk.total if keep is None else cursor.total, walk.scanned, following)
