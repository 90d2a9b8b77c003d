"""What holds of a recaller's filters."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from reqall import Filters
from reqall.testing.contracts.examples import examples
from reqall.testing.contracts.recaller_setting import DAY, RecallerSetting, meets, sample
from reqall.testing.contracts.shelf import Shelf

_NEAR, _FAR = 60, 4


def _some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=3, unique=True).map(tuple)


_BOUNDS = st.none() | st.integers(-2, 42).map(lambda hours: DAY + timedelta(hours=hours))
_FILTERS = st.builds(
    Filters,
    project_ids=_some("p0", "p1", "p2", "unknown"),
    type_ids=_some("t0", "t1", "t2", "t3", "unknown"),
    statuses=_some("Draft", "Approved", "unknown"),
    modified_after=_BOUNDS,
    modified_before=_BOUNDS,
)


class FilterLaws(RecallerSetting):
    """Filters are conditions on facets, applied before ranking."""

    @examples(100)
    @given(filters=_FILTERS)
    def test_filters_find_what_a_plain_comparison_finds(self, shelf: Shelf, filters: Filters) -> None:
        """Every combination of projects, types, statuses and bounds of time."""
        entries = sample(shelf)
        if shelf.recaller.position() is None:
            shelf.write(entries, seq=1)
        wanted = sorted({entry.chunk.document_id for entry in entries if meets(entry, filters)})
        (ranking,) = shelf.rankings(["shared"], 99, filters)
        found = sorted(ranking.best_chunks)
        assert found == wanted, (
            f"{filters} should find {len(wanted)} documents, and found {len(found)}; "
            f"missing {sorted(set(wanted) - set(found))[:3]}, too many {sorted(set(found) - set(wanted))[:3]}"
        )

    def test_filters_come_before_ranking(self, shelf: Shelf) -> None:
        """A filter that few documents meet still fills the limit, however many others are nearer."""
        for number in range(_NEAR):
            near = {"project": "big", "type": "req", "status": "open", "modified": DAY}
            shelf.put(f"near{number:02}", "brake engine pressure", **near)
        far = {"project": "small", "type": "test", "status": "done", "modified": DAY + timedelta(days=1)}
        for number in range(_FAR):
            shelf.put(f"far{number}", f"brake and {number} other things", **far)
        wanted = [f"far{number}" for number in range(_FAR)]
        for filters in (
            Filters(project_ids=("small", "unknown")),
            Filters(type_ids=("test",)),
            Filters(statuses=("done",)),
            Filters(modified_after=DAY + timedelta(hours=1)),
        ):
            (ranking,) = shelf.rankings(["brake engine pressure"], _FAR, filters)
            found = sorted(ranking.best_chunks)
            assert found == wanted, f"{filters} applied after ranking: {found} of {wanted} were found"

    def test_bounds_of_time_are_inclusive_and_exact(self, shelf: Shelf) -> None:
        """To the microsecond, before 1970 too; what has no date is found only without bounds."""
        tick, old = timedelta(microseconds=1), datetime(1960, 1, 1, tzinfo=UTC)
        moments = {"early": DAY - tick, "at": DAY, "late": DAY + tick, "old": old, "undated": None}
        for name, moment in moments.items():
            shelf.put(name, "volume", modified=moment)
        for bounds, wanted in (
            (Filters(), sorted(moments)),
            (Filters(modified_after=DAY), ["at", "late"]),
            (Filters(modified_before=DAY), ["at", "early", "old"]),
            (Filters(modified_after=DAY, modified_before=DAY), ["at"]),
            (Filters(modified_before=old), ["old"]),
        ):
            found = sorted(shelf.rankings(["volume"], 9, bounds)[0].best_chunks)
            assert found == wanted, f"{bounds} should find {wanted}, and found {found}"

    def test_changed_facets_take_effect(self, shelf: Shelf) -> None:
        """The same text with another status is written again."""
        shelf.put("d1", "volume level", status="Draft", number=900)
        shelf.put("d2", "volume level", status="Draft")
        shelf.put("d1", "volume level", status="Approved", number=900)
        for status, wanted in (("Approved", ["d1"]), ("Draft", ["d2"])):
            found = shelf.find("volume", statuses=(status,))
            assert found == wanted, f"status {status!r} should find {wanted} after a change, and found {found}"
