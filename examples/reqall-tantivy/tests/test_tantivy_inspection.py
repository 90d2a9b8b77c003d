"""What the index shows of itself, page by page, also where it holds what it should not."""

from datetime import UTC, datetime, timedelta

import pytest
from reqall_tantivy import inspection, schema


def held_twice(shelf, numbers):
    """Write chunks without removing what is there: no `apply` does that."""
    with shelf.recaller._folder.writing() as index:
        for number in numbers:
            index.writer.add_document(schema.document(shelf.entry(f"d{number}", "valve", number=number)))
        index.writer.commit()


def pages(shelf, page):
    return list(inspection.inventory(shelf.recaller._folder.searcher(), page))


@pytest.mark.parametrize("page", [1, 2, 3, 7, 100])
def test_every_entry_comes_once_whatever_the_page(shelf, page):
    numbers = [1, 2, 5, 8, 9, 1000, 2**40, 2**62]
    for number in reversed(numbers):
        shelf.put(f"d{number}", "valve", number=number)
    assert pages(shelf, page) == [(number, f"d{number}") for number in numbers]


@pytest.mark.parametrize("page", [1, 2, 3, 4, 100])
def test_what_is_held_twice_comes_twice(shelf, page):
    for numbers in ([1, 2, 3, 4], [3], [3, 4], [3]):
        held_twice(shelf, numbers)
    assert [number for number, _ in pages(shelf, page)] == [1, 2, 3, 3, 3, 3, 4, 4]


def test_a_document_that_is_held_twice_is_mended_by_writing_it_again(shelf):
    entry = shelf.entry("d1", "valve", number=1)
    shelf.write([entry], seq=1)
    held_twice(shelf, [1])
    assert len(pages(shelf, 5)) == 2
    shelf.write([entry], seq=1)
    assert pages(shelf, 5) == [(1, "d1")]


@pytest.mark.parametrize(
    "changes",
    [
        {"body": "brake"},
        {"key": "K-2"},
        {"name": "Other"},
        {"project": "q"},
        {"type": "u"},
        {"status": "Draft"},
        {"modified": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=1)},
        {"modified": None},
    ],
    ids=str,
)
def test_whatever_differs_is_a_fault_and_is_written(shelf, changes):
    known = {"number": 1, "body": "valve", "modified": datetime(2026, 1, 1, tzinfo=UTC)}
    shelf.write([shelf.entry("d1", **known)], seq=1)
    wanted = shelf.entry("d1", **known | changes)
    assert [chunk_id for chunk_id, _ in shelf.recaller.faults([wanted], None)] == [1]
    shelf.write([wanted], seq=1)
    assert list(shelf.recaller.faults([wanted], None)) == []


def test_what_is_not_held_is_no_fault(shelf):
    shelf.put("d1", "valve", number=1)
    assert list(shelf.recaller.faults([shelf.entry("d2", "valve", number=2)], None)) == []


def test_the_position_is_no_entry(shelf):
    shelf.write([], seq=3)
    assert pages(shelf, 5) == []
    assert shelf.find("position f 3") == []
