"""Which items an inclusive walk shows for a reason, and which only because they stand at its watermark."""

from collections.abc import Iterable
from datetime import timedelta

from reqall.plugins.sources.jama.http.client import Listing
from reqall.plugins.sources.jama.reading.items import moment

_RESOLUTION = timedelta(seconds=1)
"""An activity less than that before a walk may be followed by another one with the same date."""

_MOST_KEPT = 2000


class Activity:
    """The dates of the newest activities of a project's items, as far as a later walk shows them again.

    It lives as long as the process: a new one takes every item that it is shown for one with activity.
    """

    def __init__(self) -> None:
        self._dates: dict[int, str] = {}
        self._fresh: set[int] = set()

    def see(self, listing: Listing, watermark: str | None) -> None:
        """Take in a page of a walk; what lies before the watermark will not be shown again."""
        served = moment(listing.served)
        for row in listing.rows:
            item, date = row["id"], str(row.get("lastActivityDate") or "")
            if self._dates.get(item) != date:
                self._fresh.add(item)
            at = moment(date)
            if at is not None and served is not None and at <= served - _RESOLUTION:
                self._dates[item] = date
            else:
                self._dates.pop(item, None)
        if len(self._dates) > _MOST_KEPT and watermark:
            self._dates = {item: date for item, date in self._dates.items() if date >= watermark}

    def fresh(self, items: Iterable[int]) -> list[int]:
        """Return those of the items that had an activity since their links were read."""
        return [item for item in items if item in self._fresh]

    def settle(self) -> None:
        """Note that the links of all items were read."""
        self._fresh.clear()
