"""Texts, flat objects and status fields, apart from any Jama."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.plugins.sources.jama.reading.schema import parse_type
from reqall.plugins.sources.jama.tools.excerpts import MOST_IN_ITEM, MOST_IN_LINE, excerpt, line, rich, within
from reqall.plugins.sources.jama.tools.flatten import flattened
from reqall.plugins.sources.jama.tools.statuses import FieldStatus, status_fields

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=40
)


@given(st.text())
def test_a_line_is_one_line_of_visible_text(text):
    shown = line(text)
    assert shown == " ".join(shown.split())
    assert not [each for each in shown if unicodedata.category(each) in ("Cc", "Cs") or "\u202a" <= each <= "\u202e"]
    assert len(shown) <= MOST_IN_LINE + 40
    assert line(shown) == shown or len(text) > MOST_IN_LINE


def test_nothing_stays_nothing():
    assert (line(None), rich(None), rich(""), line(5), rich("<p>a<br/>b</p>")) == ("", "", "", "5", "a\nb")


@given(st.text(), st.integers(1, 50))
def test_an_excerpt_tells_how_much_is_missing(text, most):
    shown = excerpt(text, most)
    assert shown == text or shown == f"{text[:most].rstrip()} [cut: {len(text) - most} more characters]"


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=60), max_size=8), st.integers(0, 200))
def test_texts_fit_together_and_none_disappears(texts, room):
    kept, left = within(texts, room)
    assert kept.keys() == texts.keys()
    assert left == room - sum(map(len, texts.values()))
    if left >= 0:
        assert kept == {name: text.strip() for name, text in texts.items()}
    else:
        assert sum(len(text.partition(" [cut: ")[0]) for text in kept.values()) <= room + 40 * len(texts)


@given(st.dictionaries(st.text(), _VALUES, max_size=8))
def test_any_object_becomes_texts_by_name(row):
    flat, cut = flattened(row)
    assert all(isinstance(name, str) and isinstance(text, str) and text for name, text in flat.items())
    assert sum(len(name) + len(text) for name, text in flat.items()) <= MOST_IN_ITEM
    assert not cut or len(json.dumps(row)) > 1_000


def test_an_object_stays_readable_when_it_is_flat():
    row = {
        "id": 7,
        "fields": {"name": "A", "empty": "", "none": None, "many": [1, None, "x"], "flag": False},
        "steps": [{"action": "<p>a</p>"}, {"action": "b &amp; c"}],
        "resources": {"self": {"allowed": ["GET"]}},
        "createdDate": "2024-04-03T11:18:23.000+0000",
    }
    assert flattened(row) == (
        {
            "id": "7",
            "fields.name": "A",
            "fields.many": "1, x",
            "fields.flag": "false",
            "steps.1.action": "a",
            "steps.2.action": "b & c",
            "createdDate": "2024-04-03T11:18:23Z",
        },
        False,
    )


@pytest.mark.parametrize("depth", [7, 50, 900])
def test_a_deep_object_ends(depth):
    row = {}
    for _ in range(depth):
        row = {"a": row}
    flat, _ = flattened({"top": row})
    assert [name.count(".") for name in flat] == [5]


def test_a_huge_object_is_cut():
    flat, cut = flattened({f"field{number}": "x" * 1_900 for number in range(50)})
    assert cut
    assert 8 <= len(flat) <= 11


def _type(*fields):
    rows = [{"name": name, "label": label, "fieldType": kind} for name, label, kind in fields]
    return parse_type({"id": 89, "display": "T", "fields": rows})


def test_which_fields_hold_a_status_and_which_counts_first():
    schema = _type(
        ("description", "Status", "TEXT"),
        ("review$89", "Review Status", "LOOKUP"),
        ("state$89", "Lifecycle", "LOOKUP"),
        ("custom$89", "Status", "MULTI_LOOKUP"),
        ("statusDate$89", "Status date", "DATE"),
        ("stateOwner$89", "State", "USER"),
        ("estate$89", "Estate", "LOOKUP"),
        ("reviewState$89", "Review", "LOOKUP"),
        ("status", "Workflow", "LOOKUP"),
    )
    names = [each.name for each in status_fields(schema)]
    assert names[:3] == ["status", "testCaseStatus", "testRunStatus"]
    assert names[3:] == ["state$89", "custom$89", "review$89", "reviewState$89"]


@pytest.mark.parametrize("wanted", ["In Progress", "in progress", "INPROGRESS", "in-progress", "IN_PROGRESS", "293"])
def test_a_status_is_found_in_any_spelling(wanted):
    assert FieldStatus(("In Progress",), ("293",)).is_one_of(wanted)


@pytest.mark.parametrize("wanted", ["progress", "", "29", "in progress now", "---"])
def test_another_status_is_not(wanted):
    assert not FieldStatus(("In Progress",), ("293",)).is_one_of(wanted)
    assert FieldStatus(("---",), ("1",)).is_one_of("---")
    assert FieldStatus(("\u6279\u51c6",), ("1",)).is_one_of("\u6279\u51c6")
