"""What readers make of files: entries and their links as they are written, before ids are settled.

An address names an entry within the folder: `docs/brakes.md` for a file, `docs/brakes.md#limits` for
a part of it. It is the key of an entry that has no id of its own.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from reqall import JsonValue, SourceError

PROSE = 80
"""A value longer than so many characters, or of several lines, is text to be searched, else a field."""

_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the folder: `path` is relative to it, with slashes; `modified` is the file system's time."""

    path: str
    content: bytes
    modified: datetime

    def text(self) -> str:
        """Decode, with line ends as newlines and without a byte order mark. Raises SourceError with the line."""
        try:
            decoded = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise unreadable(self.path, line, "not UTF-8", "Save the file as UTF-8.") from error
        return decoded.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class Trace:
    """A link to the id `target`, as the file states it.

    `stamp` is the target's fingerprint when the link was last confirmed; None where a format has none.
    """

    target: str
    type: str
    upstream: bool
    stamp: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A document to be. `parent` is an address; None is what holds the file: its folder, or what includes it.

    `stamp` is the fingerprint that a confirmed link to this entry bears, empty where it is not known.
    """

    address: str
    file: str
    line: int
    type_id: str
    type_name: str
    uid: str = ""
    name: str = ""
    status: str | None = None
    sections: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    parent: str | None = None
    traces: tuple[Trace, ...] = ()
    created: datetime | None = None
    modified: datetime | None = None
    stamp: str = ""

    @property
    def place(self) -> str:
        """File and line, for messages; a folder has no line."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file, and of those beside it that belong to it.

    `placed` maps files that are included to the addresses of the entries that hold them; `taken` are
    the files beside it that were used, None for all.
    """

    entries: Sequence[Entry]
    placed: Mapping[str, str] = field(default_factory=dict)
    taken: Collection[str] | None = None
    problems: Sequence[SourceError] = ()


class Reader(Protocol):
    """Reads one format."""

    def read(self, file: StoredFile, beside: Sequence[StoredFile]) -> Reading:
        """Read a file and those beside it that make one document with it. Raises SourceError with file:line."""


def clean(text: str) -> str:
    """Replace what no text should hold: control characters and halves of surrogate pairs."""
    return _UNCLEAN.sub("\ufffd", text)


def unreadable(path: str, line: int, what: str, remedy: str) -> SourceError:
    """Say which file is broken, and where."""
    return SourceError(clean(f"{path}:{line}: {what}"), remedy)


def is_prose(text: str) -> bool:
    """Tell a text to be searched from a short value."""
    return len(text) > PROSE or "\n" in text.strip()


def slug(title: str) -> str:
    """Make a part of an address of a title."""
    return re.sub(r"\W+", "-", title.casefold()).strip("-")


class Addresses:
    """Hands out addresses, each once: a second one like it gets a number behind it."""

    def __init__(self) -> None:
        """Begin with none."""
        self._next: dict[str, int] = {}

    def claim(self, address: str) -> str:
        """Return the address, or the first one free with a number behind it."""
        number = self._next.get(address, 1)
        found = address if number == 1 else f"{address}-{number}"
        while found in self._next and found != address:
            number += 1
            found = f"{address}-{number}"
        self._next[address] = number + 1
        self._next.setdefault(found, 2)
        return found


def time_of(value: object) -> datetime | None:
    """Read an ISO 8601 date or time, in UTC where it names no zone; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
