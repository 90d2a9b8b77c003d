"""A grid holds every combination once, changes nothing else, and says where a place leads nowhere."""

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.errors import InputError
from reqall.experiments.grid import put, size, variants

PIPELINE = {
    "expand": None,
    "recall": [{"index": "words", "weight": 1.0}, {"index": "meaning", "weight": 1.0}],
    "fuse": {"use": "rrf", "with": {}},
    "pin": True,
}
places = st.sampled_from(["fuse.with.k", "recall.0.weight", "recall.1.weight", "pin", "expand.use"])
grids = st.dictionaries(places, st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True), max_size=4)


def value_at(tree, path):
    for step in path.split("."):
        tree = tree[int(step) if step.isdecimal() else step]
    return tree


@given(grids)
def test_every_combination_stands_there_once(vary):
    found = list(variants("g", PIPELINE, vary))
    assert len(found) == size(vary) == prod(len(values) for values in vary.values())
    assert len({each.name for each in found}) == len(found)
    combinations = {tuple(value_at(each.tree, path) for path in vary) for each in found}
    assert len(combinations) == len(found)
    for each in found:
        assert all(vary[path][place] == value_at(each.tree, path) for path, place in each.chosen.items())


def test_names_tell_the_values_and_the_pipeline_itself_stays():
    before = repr(PIPELINE)
    first, *_, last = variants("rrf", PIPELINE, {"fuse.with.k": [10, 60], "recall.0.weight": [0.5, 2]})
    assert first.name == "rrf[fuse.with.k=10,recall.0.weight=0.5]"
    assert last.name == "rrf[fuse.with.k=60,recall.0.weight=2]"
    assert last.tree["fuse"] == {"use": "rrf", "with": {"k": 60}}
    assert [arm["weight"] for arm in last.tree["recall"]] == [2, 1.0]
    assert [each.name for each in variants("rrf", PIPELINE, {})] == ["rrf"]
    assert repr(PIPELINE) == before


def test_whole_components_can_be_tried():
    (found,) = variants("g", PIPELINE, {"fuse": [{"use": "convex", "with": {"norm": "minmax"}}]})
    assert found.tree["fuse"]["use"] == "convex"
    assert found.name == 'g[fuse={"use":"convex","with":{"norm":"minmax"}}]'


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("recall.2.weight", "the list has 2 entries"),
        ("recall.first.weight", "at 'first' is a list"),
        ("fuse.0", "at '0' is a mapping"),
        ("pin.k", "at 'k' is a single value"),
        ("top_k", "changes nothing"),
        ("candidate_k", "changes nothing"),
    ],
)
def test_a_place_that_leads_nowhere_is_told(path, told):
    with pytest.raises(InputError) as caught:
        put({**PIPELINE, "fuse": {"use": "rrf", "with": {}}}, path, 1)
    assert told in caught.value.message
    assert path in caught.value.message
