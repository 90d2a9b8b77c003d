"""Where a list goes on: a cursor that a tool hands out and takes back, opaque to its caller."""

import base64
import hashlib
import json
from typing import NamedTuple

from reqall import InputError

_LONGEST = 1_000
_LARGEST = 2**63


class Cursor(NamedTuple):
    """The place of the next row.

    `total` is the count that earlier pages found (-1: none did), `before` how many rows they
    returned, `position` the next row's index, `anchors` the ids of the last rows that were seen,
    and `place` the ids of the lists that the row is in, where there are several.
    """

    total: int = -1
    before: int = 0
    position: int = 0
    anchors: tuple[int, ...] = ()
    place: tuple[int, ...] = ()

    def text(self, *scope: object) -> str:
        """Return the cursor as text that is good for the same question only: `scope` says which."""
        state = [_mark(scope), self.total, self.before, self.position, self.anchors, self.place]
        packed = json.dumps(state, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def read_cursor(text: str, *scope: object) -> Cursor:
    """Return what `Cursor.text` wrote; the beginning for an empty text. Raises InputError."""
    text = text.strip()
    if not text:
        return Cursor()
    mark, cursor = _unpacked(text)
    if cursor is None:
        raise InputError("the cursor is not one of this tool's", "Pass the cursor of the last answer unchanged.")
    if mark != _mark(scope):
        raise InputError(
            "the cursor belongs to another question",
            "Repeat the arguments that the cursor came from, or leave the cursor out.",
        )
    return cursor


def _mark(scope: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(scope).encode()).hexdigest()[:10]


def _unpacked(text: str) -> tuple[str, Cursor | None]:
    if len(text) > _LONGEST or not text.isascii():
        return "", None
    try:
        mark, total, before, position, anchors, place = json.loads(
            base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        )
        cursor = Cursor(total, before, position, tuple(anchors), tuple(place))
    except (ValueError, TypeError, RecursionError):
        return "", None
    numbers = [total, before, position, *anchors, *place]
    if not all(type(each) is int and -1 <= each < _LARGEST for each in numbers) or min(before, position) < 0:
        return "", None
    return str(mark), cursor
