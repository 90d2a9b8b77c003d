"""Paths of ancestors in the indexes: as the catalog tells them, whatever happens to a folder."""

import random

import pytest

from reqall.core.inspection import inspect_index


def test_a_document_is_found_by_the_names_of_its_ancestors(bench, document):
    bench.commit(document(1, name="Hydraulics"), document(2, "valve", name="A", parent_id="s:1"))
    bench.commit(document(3, "pump", name="B", parent_id="s:2"))
    assert bench.find(bench.words, "hydraulics") == ["s:1", "s:2", "s:3"]
    bench.commit(document(1, name="Brakes"))
    assert bench.indexer.lag(bench.words) == 2
    bench.level()
    assert bench.find(bench.words, "hydraulics") == []
    assert bench.find(bench.words, "brakes") == ["s:1", "s:2", "s:3"]


def test_a_change_that_moves_nothing_leaves_what_is_below_alone(bench, document):
    folder = document(1, "text", name="Folder")
    bench.commit(folder, document(2, "valve", parent_id="s:1"))
    bench.commit(document(1, "another text", name="Folder", status="Approved"))
    assert bench.indexer.is_level(bench.words)


def test_a_parent_that_comes_after_its_children_is_part_of_their_path(bench, document):
    bench.commit(document(2, "valve", parent_id="s:1"))
    bench.commit(document(1, name="Hydraulics"))
    bench.level()
    assert bench.find(bench.words, "hydraulics") == ["s:1", "s:2"]
    bench.commit(deleted=["s:1"])
    bench.level()
    assert bench.find(bench.words, "hydraulics") == []


@pytest.mark.parametrize("seed", range(3))
def test_entries_have_the_paths_of_the_catalog(bench, document, seed):
    """Folders are named, moved (below themselves too), made and removed at random, several in a batch."""
    chance = random.Random(seed)
    bench.commit(document(9))
    for _ in range(15):
        batch = {
            number: document(
                number, "text", name=chance.choice(["alpha", "beta", "gamma"]), parent_id=f"s:{chance.randint(1, 8)}"
            )
            for number in chance.sample(range(1, 9), chance.randint(0, 3))
        }
        gone = [f"s:{number}" for number in chance.sample(range(1, 9), chance.randint(0, 1)) if number not in batch]
        bench.commit(*batch.values(), deleted=gone)
        bench.level()
        project = document(1).project_id
        state = inspect_index(bench.indexer, bench.words, project)
        assert (state.state, state.found.listed) == ("level", [])
