"""Jama's date format, and the clock that stamps what changes in the simulated world."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

# Java's yyyy-MM-dd'T'HH:mm:ss[.SSS]Z: the offset has no colon.
_JAMA_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?)(Z|[+-]\d{4})")


def jama_time(moment: datetime) -> str:
    """Write a moment as Jama does: `2024-04-03T11:18:23.000+0000`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "+0000")


def parse_jama_time(text: str) -> datetime:
    """Read a moment in one of Jama's two formats; `ValueError` for anything else."""
    match = _JAMA_TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"not a date in the format yyyy-MM-dd'T'HH:mm:ss.SSSZ: {text!r}")
    return datetime.fromisoformat(match[1] + match[2])


class Clock:
    """A settable clock in whole seconds, the resolution of the dates that Jama keeps of items."""

    def __init__(self, seen: Iterable[str] = ()) -> None:
        """Run like the real clock, but never behind the newest of the dates in `seen`."""
        self._offset = timedelta(0)
        self._frozen: datetime | None = None
        newest = max((parse_jama_time(text) for text in seen), default=None)
        if newest is not None and newest > self.instant():
            self._offset = newest - self.instant() + timedelta(seconds=1)

    def instant(self) -> datetime:
        """Return the present moment with its fraction of a second."""
        return self._frozen or datetime.now(UTC) + self._offset

    def now(self) -> datetime:
        """Return the present moment, cut to the second."""
        return self.instant().replace(microsecond=0)

    def stamp(self) -> str:
        """Return `now()` as Jama writes it."""
        return jama_time(self.now())

    def set(self, moment: datetime) -> None:
        """Stop the clock at `moment`."""
        self._frozen = moment

    def advance(self, seconds: float) -> None:
        """Move the clock forward, whether it runs or stands."""
        step = timedelta(seconds=seconds)
        if self._frozen is not None:
            self._frozen += step
        else:
            self._offset += step
