"""From where an incremental walk may start: the newest activity that was seen, by Jama's own clock.

A watermark also remembers the definitions that the items were read with (`Definitions`): a renamed
status changes no item's date, yet every item that has it.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reqall.plugins.sources.jama.http.client import Listing
from reqall.plugins.sources.jama.reading.items import moment

SETTLING = timedelta(minutes=5)
"""How long before a walk began an activity may still be invisible: Jama's search index lags behind."""

LOOK_INTERVAL = timedelta(days=1)
"""How often the definitions are read again; their reading costs a request for each picklist."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A watermark's parts: the date, as Jama writes it; the definitions' digest, and when they were read."""

    date: str | None = None
    definitions: str = ""
    read: str = ""

    @classmethod
    def of(cls, text: str | None) -> "Mark":
        """Read what `text` wrote."""
        return cls(*text.split(" ")) if text else cls()

    @property
    def text(self) -> str | None:
        """Write it in a form that is opaque to everyone else; None without a date."""
        return " ".join(filter(None, (self.date, self.definitions, self.read))) or None if self.date else None

    def is_old(self, now: datetime | None) -> bool:
        """Tell whether the definitions are to be read again, at a time of Jama's own clock."""
        read = moment(self.read)
        return read is None or now is None or abs(now - read) >= LOOK_INTERVAL

    def looked(self, definitions: str, now: datetime | None) -> "Mark":
        """Note that the definitions were read."""
        return replace(self, definitions=definitions, read=now.strftime("%Y-%m-%dT%H:%M:%SZ") if now else "")


class Watermark:
    """The newest activity date of a walk; None while nothing was seen."""

    def __init__(self, date: str | None) -> None:
        self.date = date
        self._began: datetime | None = None

    def see(self, listing: Listing) -> None:
        """Take in a page. What changes while the walk is under way must not be stepped over."""
        self._began = self._began or moment(listing.served)
        latest = self._began - SETTLING if self._began else None
        for row in listing.rows:
            text = row.get("lastActivityDate") or row.get("modifiedDate")
            seen = moment(text)
            if seen is not None and latest is not None and seen > latest:
                seen, text = latest, latest.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
            known = moment(self.date)
            if seen is not None and (known is None or seen > known):
                self.date = text
