"""The matrix beside vec0: the same answers to the last bit, dropped in time, within its memory, thread-safe."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zlib import crc32

import numpy as np  # noqa: TID253 - a test may
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reqall import EmbedderError, Filters, IndexBatch, Services
from reqall.core.database import Database
from reqall.plugins.recallers.facets import matches
from reqall.plugins.recallers.matrix_cache import MatrixCache
from reqall.plugins.recallers.sqlite_vec import SqliteVecOptions, build_sqlite_vec
from reqall.plugins.recallers.vec0 import Vec0
from reqall.testing.fakes import HashingEmbedder

DAY = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = [f"word{number}" for number in range(40)]
PROJECTS = [f"p{number}" for number in range(38)]


class Scattering(HashingEmbedder):
    """A random vector for each text: no two distances are equal."""

    def _embed(self, texts):
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimensions) for text in texts]
        matrix = np.array(rows, dtype=np.float32)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


class Scaled(HashingEmbedder):
    """Vectors of another length than 1."""

    def __init__(self, factor):
        super().__init__()
        self.factor = np.float32(factor)

    def _embed(self, texts):
        return super()._embed(texts) * self.factor


class CountingVec0(Vec0):
    """Counts how often all vectors were read, and lets a test hold the reading up."""

    def __init__(self, prefix):
        super().__init__(prefix)
        self.loads = 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def vectors(self, reader):
        self.loads += 1
        self.begun.set()
        assert self.go_on.wait(30)
        return super().vectors(reader)


@pytest.fixture
def shelf(make_shelf):
    return make_shelf("sqlite_vec")


@pytest.fixture(params=[HashingEmbedder, Scattering])
def filled(request, make_shelf):
    """1600 chunks over 37 projects in 16 partitions, with unknown statuses and dates; the matrix is loaded."""
    shelf = make_shelf("sqlite_vec", request.param())
    chance = np.random.default_rng(7)
    shelf.entries = [
        shelf.entry(
            f"d{number // 2}",
            " ".join(chance.choice(WORDS, size=chance.integers(1, 4))),
            project=PROJECTS[number // 2 % 5 if number // 2 % 3 else number // 2 % 37],
            type=f"t{number // 2 % 3}",
            status=[None, "open", "done"][number // 2 % 7 % 3],
            modified=None if number // 2 % 5 == 0 else DAY + timedelta(hours=number // 2),
        )
        for number in range(1600)
    ]
    shelf.write(shelf.entries)
    warm(shelf)
    return shelf


def recaller_on(database, embedder, cache_mb):
    services = Services(prefix="ix_test", database=database, embedder=lambda _: embedder)
    return build_sqlite_vec(SqliteVecOptions(embedder="e", cache_mb=cache_mb), services)


def by_vec0(shelf, texts, limit, filters):
    return recaller_on(shelf.database, shelf.embedder, 0).recall(texts, limit, filters)


def has_matrix(shelf):
    return shelf.recaller._cache._matrix is not None


def warm(shelf):
    """Search until the matrix is there."""
    shelf.find("volume")
    shelf.find("volume")
    assert has_matrix(shelf)


def brute_force(shelf, text, limit, filters):
    """Scores of the best documents by a plain matrix product, best first."""
    allowed = [entry for entry in shelf.entries if matches(entry.facets, filters)]
    if not allowed:
        return []
    vectors = shelf.embedder._embed([entry.chunk.text for entry in allowed])
    cosines = vectors @ shelf.embedder._embed([text])[0]
    best = {}
    for entry, cosine in zip(allowed, cosines, strict=True):
        best[entry.chunk.document_id] = max(best.get(entry.chunk.document_id, -1.0), float(cosine))
    return sorted(best.values(), reverse=True)[:limit]


def some(values):
    return st.lists(st.sampled_from(values), max_size=4).map(tuple)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), min_size=1, max_size=6),
    limit=st.one_of(st.integers(1, 60), st.integers(500, 900)),
    filters=st.builds(
        Filters,
        st.one_of(some(PROJECTS), st.just(tuple(PROJECTS))),
        some(["t0", "t1", "t9"]),
        some(["open", "done", "never"]),
        st.sampled_from([None, DAY + timedelta(hours=100), DAY + timedelta(hours=790)]),
        st.sampled_from([None, DAY + timedelta(hours=9), DAY + timedelta(hours=400)]),
    ),
)
def test_it_equals_vec0_to_the_last_bit_and_brute_force(filled, texts, limit, filters):
    rankings = filled.recaller.recall(texts, limit, filters)
    assert has_matrix(filled)
    assert list(rankings) == list(by_vec0(filled, texts, limit, filters))
    for text, ranking in zip(texts, rankings, strict=True):
        scores = [document.score for document in ranking.collapse()]
        assert scores == pytest.approx(brute_force(filled, text, limit, filters), abs=1e-5)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 30), st.sampled_from(WORDS[:9]), st.integers(0, 3)), max_size=30),
            st.lists(st.integers(0, 30), max_size=20),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_after_any_writes_and_deletions_it_equals_vec0(make_shelf, steps):
    shelf = make_shelf("sqlite_vec")
    for upserts, deletes in steps:
        entries = [shelf.entry(f"d{number}", word, project=PROJECTS[p]) for number, word, p in upserts]
        written = {number for number, _, _ in upserts}
        shelf.write(entries, [f"d{number}" for number in deletes if number not in written])
        for filters in (Filters(), Filters(project_ids=("p1",)), Filters(project_ids=("p2", "p3"))):
            expected = by_vec0(shelf, ["word1 word2"], 7, filters)
            assert [shelf.recaller.recall(["word1 word2"], 7, filters) for _ in range(3)] == [expected] * 3


def test_equal_vectors_are_ordered_by_document_across_projects(shelf):
    shelf.write([shelf.entry(f"d{n:03}", "volume", project=PROJECTS[n % 7], number=900 - n) for n in range(300)])
    warm(shelf)
    assert shelf.find("volume", 40) == [f"d{n:03}" for n in range(40)]


def test_a_project_whose_documents_are_all_gone_is_empty(shelf):
    shelf.put("d1", "volume", project="p1")
    shelf.put("d2", "volume", project="p2")
    shelf.write([], ["d1"])
    warm(shelf)
    assert shelf.find("volume", project_ids=("p1",)) == []
    assert shelf.find("volume", project_ids=("p1", "p2")) == ["d2"]


def test_filters_that_nothing_meets_embed_no_query(shelf):
    shelf.put("d1", "volume")
    warm(shelf)
    shelf.embedder.queries.clear()
    assert shelf.find("volume", statuses=("never seen",)) == []
    assert shelf.embedder.queries == []


def test_the_first_search_after_a_change_goes_through_vec0(shelf):
    shelf.put("d1", "volume")
    for _ in range(2):
        assert shelf.find("volume") == ["d1"]
        assert not has_matrix(shelf)
        assert shelf.find("volume") == ["d1"]
        assert has_matrix(shelf)
        shelf.put("d1", "volume", status="changed")


def test_a_write_that_changes_no_position_is_noticed(shelf):
    shelf.write([shelf.entry("d1", "volume"), shelf.entry("d2", "volume")], seq=3)
    warm(shelf)
    shelf.write([], ["d1"])
    assert shelf.find("volume") == ["d2"]


def test_a_write_of_another_connection_is_noticed(shelf):
    shelf.put("d1", "volume")
    warm(shelf)
    other = Database(shelf.database.path)
    writer = recaller_on(other, shelf.embedder, 0)
    entry = shelf.entry("d0", "volume")
    prepared = writer.prepare([entry])
    batch = IndexBatch({"d0": [entry]})
    with other.writing() as tx:
        writer.apply(batch, prepared, tx)
        assert shelf.find("volume") == ["d1"]
    assert shelf.find("volume") == ["d0", "d1"]
    other.close()


def test_a_write_of_another_process_is_noticed(shelf):
    for number in range(3):
        shelf.put(f"d{number}", "volume")
    warm(shelf)
    program = f"""
from pathlib import Path
from reqall import IndexBatch, Services
from reqall.plugins.recallers.sqlite_vec import SqliteVecOptions, build_sqlite_vec
from reqall.core.database import Database
from reqall.testing.fakes import HashingEmbedder
database = Database(Path({str(shelf.database.path)!r}))
services = Services(prefix="ix_test", database=database, embedder=lambda name: HashingEmbedder())
recaller = build_sqlite_vec(SqliteVecOptions(embedder="e"), services)
with database.writing() as tx:
    recaller.apply(IndexBatch({{}}, ["d1"]), recaller.prepare([]), tx)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert shelf.find("volume") == ["d0", "d2"]
    warm(shelf)
    assert shelf.find("volume") == ["d0", "d2"]


def test_a_write_that_is_rolled_back_never_shows(shelf):
    shelf.put("d1", "volume")
    warm(shelf)

    def fail_late():
        batch, prepared = IndexBatch({}, ["d1"]), shelf.recaller.prepare([])
        with shelf.database.writing() as tx:
            shelf.recaller.apply(batch, prepared, tx)
            # This connection sees its own transaction, and may load what it sees.
            assert [shelf.find("volume") for _ in range(3)] == [[], [], []]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_late()
    assert [shelf.find("volume") for _ in range(3)] == [["d1"]] * 3


def test_dropped_and_built_anew_it_is_loaded_anew(shelf):
    shelf.put("d1", "volume", project="p1", number=1)
    warm(shelf)
    shelf.drop()
    shelf.put("d2", "volume", project="p2", number=1)
    assert [shelf.find("volume", project_ids=("p2",)) for _ in range(3)] == [["d2"]] * 3
    assert shelf.find("volume", project_ids=("p1",)) == []


@pytest.mark.parametrize(("count", "megabytes", "kept"), [(3900, 1, True), (3910, 1, False), (10, 0, False)])
def test_an_index_beyond_the_memory_allowed_stays_with_vec0(make_shelf, count, megabytes, kept):
    shelf = make_shelf("sqlite_vec", cache_mb=megabytes)
    shelf.write([shelf.entry(f"d{number}", WORDS[number % 40]) for number in range(count)])
    for _ in range(4):
        assert len(shelf.find("word1", 9)) == 9
    assert has_matrix(shelf) is kept


def test_one_thread_loads_while_the_others_go_on_with_vec0(shelf):
    shelf.put("d1", "volume")
    tables = CountingVec0("ix_test")
    cache = MatrixCache(tables, 512)

    def matrix():
        return cache.matrix(shelf.database.reader(), 64)

    assert matrix() is None
    with ThreadPoolExecutor(4) as threads:
        loading = threads.submit(matrix)
        assert tables.begun.wait(30)
        assert [threads.submit(matrix).result(30) for _ in range(6)] == [None] * 6
        tables.go_on.set()
        loaded = loading.result(30)
        assert loaded is not None
        assert [future.result(30) for future in [threads.submit(matrix) for _ in range(8)]] == [loaded] * 8
    assert tables.loads == 1


def test_four_threads_search_rightly_while_a_fifth_writes(shelf):
    shelf.put("d00", "volume")
    done = threading.Event()

    def search():
        seen = []
        while not done.is_set() or len(seen) < 5:
            seen.append(shelf.find("volume", 99))
        return seen

    with ThreadPoolExecutor(4) as threads:
        searches = [threads.submit(search) for _ in range(4)]
        for number in range(1, 30):
            shelf.put(f"d{number:02}", "volume")
        done.set()
        found = [future.result(60) for future in searches]
    everything = [f"d{number:02}" for number in range(30)]
    for seen in found:
        # What was once found is found for ever, and nothing is found that was not yet written.
        assert all(documents == everything[: len(documents)] for documents in seen)
        assert [len(documents) for documents in seen] == sorted(len(documents) for documents in seen)
    assert shelf.find("volume", 99) == everything


@pytest.mark.parametrize("factor", [2.0, 0.99, 0.0, float("nan")])
def test_vectors_of_another_length_than_1_are_refused(make_shelf, factor):
    with pytest.raises(EmbedderError, match="not of length 1"):
        make_shelf("sqlite_vec", Scaled(factor)).put("d1", "volume")


def test_half_precision_is_of_length_1(make_shelf):
    class Half(Scattering):
        def _embed(self, texts):
            return super()._embed(texts).astype(np.float16)

    shelf = make_shelf("sqlite_vec", Half())
    shelf.write([shelf.entry(f"d{number}", f"text {number}") for number in range(500)])
    warm(shelf)
    filters = Filters()
    assert shelf.recaller.recall(["volume"], 20, filters) == by_vec0(shelf, ["volume"], 20, filters)


def test_documents_behind_many_chunks_of_one_are_found(make_shelf):
    shelf = make_shelf("sqlite_vec", Scattering())
    crowd = [shelf.entry("crowd", f"volume {number}", project="p1") for number in range(900)]
    shelf.write([*crowd, *(shelf.entry(f"d{number}", WORDS[number]) for number in range(9))])
    warm(shelf)
    for limit in (1, 3, 10, 11):
        filters = Filters()
        ranking = shelf.recaller.recall(["volume 7"], limit, filters)
        assert ranking == by_vec0(shelf, ["volume 7"], limit, filters)
        assert len(ranking[0].best_chunks) == min(limit, 10)
