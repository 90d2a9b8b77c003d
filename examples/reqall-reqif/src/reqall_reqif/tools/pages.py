"""Pages of a list, and a cursor that is good for one question and one state of the files only."""

import hashlib
import re
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from reqall import InputError

T = TypeVar("T")

PAGE = 20
"""Rows in one answer."""

_CURSOR = re.compile(r"([0-9]{1,9})-([0-9a-f]{8})-([0-9a-f]{8})")


class Cut(NamedTuple, Generic[T]):
    """One page: the rows, how many there are in all, and the cursor of the next page."""

    rows: Sequence[T]
    total: int
    cursor: str


def cut(rows: Sequence[T], cursor: str, state: str, *scope: str) -> Cut[T]:
    """Return the page that a cursor names; `state` tells the files, `scope` the question. Raises InputError."""
    marks = (_mark(state), _mark("\0".join(scope)))
    start = _start(cursor.strip(), marks)
    end = start + PAGE
    following = f"{end}-{marks[0]}-{marks[1]}" if end < len(rows) else ""
    return Cut(rows[start:end], len(rows), following)


def _start(cursor: str, marks: tuple[str, str]) -> int:
    if not cursor:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InputError("the cursor is not one of this tool's", "Pass the cursor of the last answer unchanged.")
    if match[3] != marks[1]:
        raise InputError(
            "the cursor belongs to another question",
            "Repeat the arguments that the cursor came from, or leave the cursor out.",
        )
    if match[2] != marks[0]:
        raise InputError("the files have changed since this cursor was given", "Call again without the cursor.")
    return int(match[1])


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
