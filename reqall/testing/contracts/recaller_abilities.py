"""What a recaller keeps that can be dropped, or that shows what it holds."""

from dataclasses import replace
from datetime import timedelta

from reqall import IndexEntry, SupportsDrop, SupportsInspection
from reqall.testing.contracts.recaller_setting import DAY, RecallerSetting, sample
from reqall.testing.contracts.shelf import Shelf


class DropContract(RecallerSetting):
    """Laws of `SupportsDrop`. Override the fixture `make_recaller`."""

    def test_it_can_be_dropped(self, shelf: Shelf) -> None:
        """The host asks by `isinstance`."""
        assert isinstance(shelf.recaller, SupportsDrop), "the recaller has no method drop(tx)"

    def test_dropped_it_is_as_if_never_written(self, shelf: Shelf) -> None:
        """No position, nothing found; dropping twice, or what was never written, is no error."""
        shelf.drop()
        shelf.write([shelf.entry("d1", "volume")], seq=4)
        shelf.drop()
        shelf.drop()
        assert shelf.recaller.position() is None, "a dropped index still has a position"
        assert shelf.find("volume") == [], "a dropped index still finds documents"

    def test_it_can_be_written_again(self, shelf: Shelf) -> None:
        """The next `apply` starts anew."""
        shelf.write(sample(shelf), seq=4)
        shelf.drop()
        shelf.put("d2", "volume")
        assert shelf.find("volume") == ["d2"], "an index that was dropped and written again holds something else"

    def test_a_later_process_finds_it_dropped(self, shelf: Shelf) -> None:
        """What is gone stays gone."""
        shelf.write(sample(shelf), seq=4)
        shelf.drop()
        shelf.reopen()
        assert shelf.recaller.position() is None, "a dropped index has its position again after it was opened anew"
        assert shelf.find("volume") == [], "a dropped index finds documents again after it was opened anew"


class InspectionContract(RecallerSetting):
    """Laws of `SupportsInspection`. Override the fixture `make_recaller`."""

    def test_it_lists_what_was_written(self, shelf: Shelf) -> None:
        """Every chunk once, with its document; what was deleted or replaced is not listed."""
        entries = sample(shelf)
        shelf.write(entries, seq=1)
        _require_inventory(shelf, entries)
        again = [shelf.entry("d001", "volume")]
        shelf.write(again, ["d002"], seq=2)
        _require_inventory(shelf, [e for e in entries if e.chunk.document_id not in {"d001", "d002"}] + again)

    def test_a_sound_index_has_no_fault(self, shelf: Shelf) -> None:
        """Asked with the entries that it was given."""
        entries = sample(shelf)
        shelf.write(entries, seq=1)
        recaller = _inspected(shelf)
        damage, faults = list(recaller.damage(shelf.connection())), list(recaller.faults(entries, shelf.connection()))
        assert damage == [], f"an index that was only written to is called damaged: {damage}"
        assert faults == [], f"entries that are as they were written are called faulty: {faults[:3]}"
        assert list(recaller.faults([], shelf.connection())) == [], "faults of no entries"

    def test_other_facets_are_a_fault(self, shelf: Shelf) -> None:
        """Of each kind, and only of the entries that differ."""
        entries = sample(shelf, 6)
        shelf.write(entries, seq=1)
        asked = entries[3]
        for change in (
            {"project_id": "p1"} if asked.facets.project_id != "p1" else {"project_id": "p2"},
            {"type_id": "another"},
            {"status": "Rejected"},
            {"status": None} if asked.facets.status else {"status": "Draft"},
            {"modified": DAY - timedelta(days=9)},
        ):
            changed = replace(asked, facets=replace(asked.facets, **change))
            given = [*entries[:3], changed, *entries[4:]]
            found = [chunk_id for chunk_id, _ in _inspected(shelf).faults(given, shelf.connection())]
            assert found == [asked.chunk.id], (
                f"an entry stored otherwise than {change} should be told; told was {found}"
            )

    def test_looking_changes_nothing(self, shelf: Shelf) -> None:
        """An inspection reads."""
        entries = sample(shelf)
        shelf.write(entries, seq=1)
        before = shelf.ranking("volume sync")
        recaller, stranger = _inspected(shelf), replace(entries[0], facets=replace(entries[0].facets, type_id="new"))
        list(recaller.damage(shelf.connection()))
        list(recaller.faults([stranger], shelf.connection()))
        _require_inventory(shelf, entries)
        assert shelf.ranking("volume sync") == before, "an inspection changed the answer of a search"


def _inspected(shelf: Shelf) -> SupportsInspection:
    recaller = shelf.recaller
    assert isinstance(recaller, SupportsInspection), (
        "the recaller lacks inventory(tx), faults(entries, tx) or damage(tx)"
    )
    return recaller


def _require_inventory(shelf: Shelf, entries: list[IndexEntry]) -> None:
    listed = sorted(_inspected(shelf).inventory(shelf.connection()))
    wanted = sorted((entry.chunk.id, entry.chunk.document_id) for entry in entries)
    assert listed == wanted, (
        f"inventory() lists {len(listed)} entries where {len(wanted)} can be found; "
        f"missing {sorted(set(wanted) - set(listed))[:3]}, too many {sorted(set(listed) - set(wanted))[:3]}"
    )
