"""The versions of items: what an item was, since when, and who saved it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from reqall.testing.jama_simulator.clock import parse_jama_time
from reqall.testing.jama_simulator.records import Record


class Versions:
    """Numbered versions per item; an item without any has one, as old as itself.

    A version keeps only those fields that differ from the next one (None: there was no such
    field then), so that the newest one is always the item itself.
    """

    def __init__(self, saved: Iterable[Mapping[str, Any]] = ()) -> None:
        """Take over the versions of a project file; `ValueError` when an item's are not numbered from 1."""
        self._saved: dict[int, list[Record]] = {}
        for version in sorted(saved, key=lambda one: (one["item"], one["versionNumber"])):
            known = self._saved.setdefault(version["item"], [])
            if version["versionNumber"] != len(known) + 1:
                raise ValueError(f"the versions of item {version['item']} are not numbered from 1 without a gap")
            known.append({"changeDetails": "", "comment": "", "fields": {}, **version})

    def of(self, item: Record) -> list[Record]:
        """Return the versions of an item, the oldest first."""
        return self._saved.get(item["id"]) or [
            {
                "item": item["id"],
                "versionNumber": 1,
                "createdDate": item.get("createdDate"),
                "createdBy": item.get("createdBy"),
                "changeDetails": "",
                "comment": "",
                "fields": {},
            }
        ]

    def current(self, item: Record) -> int:
        """Return the number of an item's newest version."""
        return len(self.of(item))

    def at(self, item: Record, moment: datetime) -> int:
        """Return the number of the version that was the newest at a moment; 0 when there was none yet."""
        dates = (version["createdDate"] for version in self.of(item))
        return sum(date is None or parse_jama_time(date) <= moment for date in dates)

    def note(self, item: Record, before: Mapping[str, object], stamp: str, author: int) -> None:
        """Write down a new version; `before` holds the changed fields as they were."""
        known = self._saved.setdefault(item["id"], self.of(item))
        known[-1]["fields"] = dict(before)
        details = f"Changed: {', '.join(sorted(before))}"
        new = {"item": item["id"], "versionNumber": len(known) + 1, "createdDate": stamp, "createdBy": author}
        known.append({**new, "changeDetails": details, "comment": "", "fields": {}})

    def fields(self, item: Record, number: int) -> dict[str, Any]:
        """Return an item's fields as they were in one version."""
        found = dict(item["fields"])
        for version in reversed(self.of(item)[number - 1 :]):
            found |= version["fields"]
        return {name: value for name, value in found.items() if value is not None}
