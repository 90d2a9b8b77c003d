"""From where an incremental walk may start: the newest activity that was seen, by Jama's own clock."""

from datetime import datetime, timedelta

from reqall.plugins.sources.jama.http.client import Listing
from reqall.plugins.sources.jama.reading.items import moment

SETTLING = timedelta(minutes=5)
"""How long before a walk began an activity may still be invisible: Jama's search index lags behind."""


class Watermark:
    """The newest activity date of a walk, as Jama writes it; None while nothing was seen."""

    def __init__(self, since: str | None) -> None:
        self.value = since
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
            known = moment(self.value)
            if seen is not None and (known is None or seen > known):
                self.value = text
