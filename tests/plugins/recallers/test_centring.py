"""Centring: hubs give way, the mean is that of the item types of the searched projects, nothing stored changes."""

import numpy as np  # noqa: TID253 - a test may
import pytest

from reqall import Filters
from reqall.plugins.recallers.centring import Centring
from reqall.plugins.recallers.vec0 import Vec0
from reqall.testing.fakes import HashingEmbedder

EVERYTHING = Filters()
TOPICS = ["door", "train", "login", "timeout", "battery charger level low"]


@pytest.fixture
def embedder():
    return HashingEmbedder(dimensions=512)


@pytest.fixture
def shelf_of(make_shelf, embedder):
    """Return what builds an index of texts that all begin alike, and one with nothing but that beginning."""

    def make(**options):
        shelf = make_shelf("sqlite_vec", embedder, **options)
        for topic in TOPICS:
            shelf.put(topic, f"the system shall {topic}")
        shelf.put("hub", "the system shall")
        return shelf

    return make


@pytest.mark.parametrize(("share", "first"), [(0.0, "hub"), (0.8, "battery charger level low")])
def test_what_all_have_in_common_counts_less(shelf_of, share, first):
    assert shelf_of(centre=share).find("the system shall battery")[0] == first


def test_vec0_and_the_matrix_find_the_same(shelf_of):
    shelf = shelf_of(centre=0.5)
    from_disk, loading, from_memory = (shelf.ranking("the system shall battery") for _ in range(3))
    assert from_disk == loading == from_memory


def test_the_mean_is_of_the_types_of_the_projects_that_are_searched(make_shelf, embedder):
    shelf = make_shelf("sqlite_vec", embedder, centre=1.0)
    shelf.put("a", "volume", type="t1", project="p1")
    shelf.put("b", "volume", type="t1", project="p1")
    shelf.put("c", "door", type="t2", project="p1")
    shelf.put("d", "train", type="t1", project="p2")
    query = embedder.embed_query(["battery"])
    volume, door, train = embedder.embed_documents(["volume", "door", "train"])
    for projects, mean in (
        (("p1",), (volume + door) / 2),
        (("p2",), train),
        ((), ((2 * volume + train) / 3 + door) / 2),
    ):
        moved = query - mean
        found = shelf.recaller._centring.centred(shelf.database.reader(), query, Filters(project_ids=projects))
        assert found == pytest.approx(moved / np.linalg.norm(moved), abs=1e-6)


def test_a_changed_index_has_another_mean(shelf_of):
    shelf = shelf_of(centre=1.0)
    before = shelf.ranking("battery").chunks[0].score
    for number in range(20):
        shelf.put(f"new {number}", "battery battery")
    assert shelf.ranking("battery").chunks[0].score != pytest.approx(before, abs=1e-3)


def test_of_a_large_index_a_sample_is_read(shelf_of, embedder):
    shelf = shelf_of(centre=1.0)
    texts = ["the system shall door", "the system shall timeout"]
    moved = embedder.embed_query(["battery"]) - embedder.embed_documents(texts).mean(axis=0)
    sampled = Centring(shelf.recaller._tables, 1.0, sample=2)
    found = sampled.centred(shelf.database.reader(), embedder.embed_query(["battery"]), EVERYTHING)
    assert found == pytest.approx(moved / np.linalg.norm(moved), abs=1e-6)


def test_a_query_that_is_the_mean_stays_as_it_is(make_shelf, embedder):
    shelf = make_shelf("sqlite_vec", embedder, centre=1.0)
    shelf.put("only", "volume")
    assert shelf.find("volume") == ["only"]


def test_without_a_share_nothing_is_read():
    vectors = np.eye(2, dtype=np.float32)
    assert Centring(Vec0("absent"), 0.0).centred(None, vectors, EVERYTHING) is vectors
