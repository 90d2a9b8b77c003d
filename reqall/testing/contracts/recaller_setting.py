"""What the contracts of recallers share: the recaller under test, on a shelf of its own."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar, TypeAlias

import pytest

from reqall import Filters, IndexEntry, Recaller, Services
from reqall.testing.contracts.shelf import Shelf

MakeRecaller: TypeAlias = Callable[[Services], Recaller]

WORDS = (
    *("volume", "level", "sync", "brake", "engine", "login"),
    *("timeout", "pressure", "valve", "sensor", "alarm", "battery"),
)
DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


class RecallerSetting:
    """Override the fixture `make_recaller`."""

    lexical: ClassVar[bool] = False
    """True for a recaller that finds only what shares a word with the text; a vector is near to any text."""

    @pytest.fixture
    def make_recaller(self) -> MakeRecaller:
        """Return what builds the recaller anew from `Services`, over what an earlier one stored there.

        `services` holds a catalog's `database` and `prefix` (storage "catalog"), a `folder` (for files
        of an external engine; one that is a server keeps to a name of its own there), and an
        `embedder` of any name.
        """
        raise NotImplementedError("override the fixture `make_recaller` in your test class")

    @pytest.fixture
    def shelf(self, make_recaller: MakeRecaller, tmp_path: Path) -> Iterator[Shelf]:
        """Put the recaller over an empty catalog."""
        opened = Shelf(make_recaller, tmp_path)
        yield opened
        opened.close()


def sample(shelf: Shelf, count: int = 40) -> list[IndexEntry]:
    """Make documents of one to four chunks, with repeated texts so that scores tie, and mixed facets."""
    return [
        shelf.entry(
            f"d{number:03}",
            " ".join(["shared", *(WORDS[(number * step + part) % len(WORDS)] for step in (1, 3, 5))]),
            project=f"p{number % 3}",
            type=f"t{number % 4}",
            status=(None, "Draft", "Approved")[number % 3],
            modified=None if number % 7 == 0 else DAY + timedelta(hours=number),
        )
        for number in range(count)
        for part in range(1 + number % 4)
    ]


def meets(entry: IndexEntry, filters: Filters) -> bool:
    """Tell whether a search with these filters may find an entry; what has no status or date meets none that asks."""
    facets, modified = entry.facets, entry.facets.modified
    after, before = filters.modified_after, filters.modified_before
    return (
        (not filters.project_ids or facets.project_id in filters.project_ids)
        and (not filters.type_ids or facets.type_id in filters.type_ids)
        and (not filters.statuses or facets.status in filters.statuses)
        and (after is None or (modified is not None and modified >= after))
        and (before is None or (modified is not None and modified <= before))
    )
