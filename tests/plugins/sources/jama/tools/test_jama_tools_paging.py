"""Pages, cursors and size budgets, apart from any Jama."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from reqall import InputError
from reqall.plugins.sources.jama.tools.cursor import Cursor, read_cursor
from reqall.plugins.sources.jama.tools.paging import BUDGET, PAGE, UNKNOWN, Fetched, Walk, held, take


class Row(BaseModel):
    id: int
    text: str = ""


def _show(row):
    return Row(**row)


def _all(fetch, *, keep=None, scan=1_000, between=lambda: None, size=PAGE + 2):
    """Walk page by page, each cursor through its text, as a client does."""
    text, pages = "", []
    while True:
        cursor = read_cursor(text, "test")
        taken = take(Walk(fetch, cursor, size), cursor, _show, keep=keep, scan=scan)
        pages.append(taken)
        if taken.following is None:
            return pages
        text = taken.following.text("test")
        between()


@given(
    total=st.integers(0, 130),
    keep_every=st.integers(0, 7),
    scan=st.integers(1, 150),
    size=st.integers(2, 50),
)
def test_every_match_comes_once_and_the_counts_are_true(total, keep_every, scan, size):
    rows = [{"id": number} for number in range(1, total + 1)]
    keep = (lambda row: row["id"] % keep_every == 0) if keep_every else None
    pages = _all(held(rows), keep=keep, scan=scan, size=size)
    wanted = [row["id"] for row in rows if keep is None or keep(row)]
    assert [row.id for page in pages for row in page.shown] == wanted
    assert all(len(page.shown) <= PAGE and page.scanned <= max(scan, 1) for page in pages)
    assert all(page.total in (UNKNOWN, len(wanted)) for page in pages)
    assert pages[-1].total == len(wanted)
    if keep is None:
        assert {page.total for page in pages} == {len(wanted)}


@given(st.data())
def test_rows_that_stay_are_never_missed_while_others_go(data):
    """At most four rows of the last five may go at a time: one anchor has to stay."""
    rows = [{"id": number} for number in range(1, data.draw(st.integers(30, 90)) + 1)]
    gone = set()

    def delete_some():
        for row in data.draw(st.lists(st.sampled_from(rows), max_size=4, unique_by=lambda row: row["id"])):
            gone.add(row["id"])
            rows.remove(row)

    everything = [row["id"] for row in rows]
    pages = _all(lambda start, size: Fetched(rows[start : start + size], len(rows)), between=delete_some)
    shown = [row.id for page in pages for row in page.shown]
    assert len(set(shown)) == len(shown)
    assert set(everything) - gone <= set(shown)
    assert shown == sorted(shown)


def test_rows_that_come_before_the_cursor_repeat_nothing():
    rows = [{"id": number} for number in range(1, 61)]
    new = iter([{"id": 1_000 + number} for number in range(9)])
    pages = _all(
        lambda start, size: Fetched(rows[start : start + size], len(rows)),
        between=lambda: rows.insert(0, next(new)),
    )
    assert [row.id for page in pages for row in page.shown] == list(range(1, 61))


def test_a_list_that_has_changed_altogether_is_no_silent_gap():
    rows = [{"id": number} for number in range(1, 61)]
    first = take(Walk(held(rows), Cursor()), Cursor(), _show)
    others = [{"id": number} for number in range(500, 560)]
    with pytest.raises(InputError, match="has changed too much"):
        take(Walk(held(others), first.following), first.following, _show)


def test_a_list_without_a_count_is_walked_to_its_end():
    rows = [{"id": number} for number in range(1, 46)]
    pages = _all(lambda start, size: Fetched(rows[start : start + size], UNKNOWN))
    assert [len(page.shown) for page in pages] == [20, 20, 5]
    assert [page.total for page in pages] == [UNKNOWN, UNKNOWN, 45]


def test_rows_without_an_id_are_counted_off():
    rows = [{"id": None, "text": str(number)} for number in range(45)]
    cursor, shown = Cursor(), []
    while cursor is not None:
        taken = take(Walk(held(rows), cursor), cursor, lambda row: Row(id=0, text=row["text"]))
        shown += [row.text for row in taken.shown]
        cursor = taken.following
    assert shown == [str(number) for number in range(45)]


@given(st.lists(st.integers(0, 30_000), max_size=40))
def test_an_answer_stays_within_its_budget(lengths):
    rows = [{"id": number, "text": "x" * length} for number, length in enumerate(lengths, start=1)]
    pages = _all(held(rows))
    assert [row.id for page in pages for row in page.shown] == [row["id"] for row in rows]
    for page in pages:
        assert len(page.shown) <= 1 or sum(len(row.model_dump_json()) for row in page.shown) <= BUDGET
        assert page.shown or not rows


@given(
    st.builds(
        Cursor,
        st.integers(-1, 2**40),
        st.integers(0, 2**40),
        st.integers(0, 2**40),
        st.lists(st.integers(0, 2**62), max_size=5).map(tuple),
        st.lists(st.integers(0, 2**62), max_size=2).map(tuple),
    ),
    st.text(),
)
def test_a_cursor_comes_back_as_it_went(cursor, scope):
    text = cursor.text("tool", scope)
    assert text.isascii()
    assert read_cursor(f" {text}\n", "tool", scope) == cursor
    with pytest.raises(InputError):
        read_cursor(text, "other", scope)


@given(st.text() | st.binary().map(lambda each: each.decode("latin-1")))
def test_any_other_text_is_an_error_or_the_beginning(text):
    if not text.strip():
        assert read_cursor(text, "tool") == Cursor()
        return
    with pytest.raises(InputError) as error:
        read_cursor(text, "tool")
    assert error.value.remedy
