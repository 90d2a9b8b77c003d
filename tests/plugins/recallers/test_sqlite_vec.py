"""The vector recaller: equal to an exact scan, each text embedded once, compact, quiet without data."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import numpy as np  # noqa: TID253 - a test may
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reqall import EmbedderError, Filters, PluginError, Services
from reqall.plugins.recallers.facets import matches
from reqall.plugins.recallers.sqlite_vec import SqliteVecOptions, build_sqlite_vec
from reqall.testing.fakes import HashingEmbedder

DAY = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = [f"word{number}" for number in range(40)]


@pytest.fixture
def shelf(make_shelf):
    return make_shelf("sqlite_vec")


class WrongShape(HashingEmbedder):
    """Announces more dimensions than it returns."""

    def embed_documents(self, texts):
        return super().embed_documents(texts)[:, :-1]


def exact(entries, text, limit, filters):
    """Scores of the best documents by a plain matrix product, best first."""
    allowed = [entry for entry in entries if matches(entry.facets, filters)]
    if not allowed:
        return {}
    embedder = HashingEmbedder()
    cosines = embedder.embed_documents([e.chunk.text for e in allowed]) @ embedder.embed_query([text])[0]
    best = {}
    for entry, cosine in zip(allowed, cosines, strict=True):
        best[entry.chunk.document_id] = max(best.get(entry.chunk.document_id, -1.0), float(cosine))
    return dict(sorted(best.items(), key=lambda item: -item[1])[:limit])


def scattered(shelf):
    """Documents over more projects than there are partitions; some facets are unknown."""
    chance = np.random.default_rng(5)
    return [
        shelf.entry(
            f"d{number // 2}",
            " ".join(chance.choice(WORDS, size=chance.integers(1, 12))),
            project=f"p{number // 2 % 37}",
            type=f"t{number // 2 % 3}",
            status=[None, "open", "done"][number // 2 % 3],
            modified=None if number % 5 == 0 else DAY + timedelta(hours=number),
        )
        for number in range(700)
    ]


def some(values):
    return st.lists(st.sampled_from(values), max_size=4, unique=True).map(tuple)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    limit=st.integers(1, 60),
    filters=st.builds(
        Filters,
        st.one_of(some([f"p{number}" for number in range(38)]), st.just(tuple(f"p{number}" for number in range(38)))),
        some(["t0", "t1", "t9"]),
        some(["open", "done", "never"]),
        st.sampled_from([None, DAY + timedelta(hours=100)]),
        st.sampled_from([None, DAY + timedelta(hours=400)]),
    ),
)
def test_it_equals_an_exact_scan(shelf, words, limit, filters):
    if not hasattr(shelf, "entries"):
        shelf.entries = scattered(shelf)
        shelf.write(shelf.entries)
    text = " ".join(words)
    (ranking,) = shelf.recaller.recall([text], limit, filters)
    found = {document.document_id: document.score for document in ranking.collapse()}
    expected = exact(shelf.entries, text, limit, filters)
    # Equal scores may stand for different documents at the end: each must have the score it says.
    assert list(found.values()) == pytest.approx(list(expected.values()), abs=1e-5)
    everything = exact(shelf.entries, text, 999, filters)
    assert found == pytest.approx({key: everything[key] for key in found}, abs=1e-5)


def test_each_text_is_embedded_once(shelf):
    first = [shelf.entry("d1", "volume"), shelf.entry("d2", "volume"), shelf.entry("d2", "brake")]
    _, prepared = shelf.write(first)
    assert prepared.embedded == 2
    _, prepared = shelf.write([shelf.entry("d1", "brake"), shelf.entry("d3", "volume"), shelf.entry("d3", "valve")])
    assert prepared.embedded == 1
    assert shelf.embedder.embedded == ["volume", "brake", "valve"]


def test_changed_facets_are_written_without_embedding(shelf):
    shelf.put("d1", "volume", status="draft", number=5)
    entry = shelf.entry("d1", "volume", status="done", number=5)
    _, prepared = shelf.write([entry])
    assert prepared.embedded == 0
    assert shelf.find("volume", statuses=("done",)) == ["d1"]


def test_nothing_to_write_nothing_to_embed(shelf):
    assert shelf.recaller.prepare([]).embedded == 0
    shelf.write([], ["d1"], seq=1)
    assert shelf.find("volume") == []
    shelf.put("d1", "volume")
    assert shelf.find("volume", project_ids=("unknown",)) == []
    assert shelf.find(" ") == []
    assert shelf.embedder.queries == []


def test_all_texts_of_a_search_are_embedded_in_one_batch(make_shelf):
    class Counting(HashingEmbedder):
        batches = 0

        def embed_query(self, texts):
            self.batches += 1
            return super().embed_query(texts)

    shelf = make_shelf("sqlite_vec", Counting())
    shelf.put("d1", "volume")
    shelf.recaller.recall(["volume", "", "brake", "valve"], 5, Filters())
    assert (shelf.embedder.batches, shelf.embedder.queries) == (1, ["volume", "brake", "valve"])


def test_documents_behind_thousands_of_equal_chunks_are_found(make_shelf):
    shelf = make_shelf("sqlite_vec", HashingEmbedder(8))
    shelf.write(
        [shelf.entry("crowd", "volume") for _ in range(5000)]
        + [shelf.entry("d2", "volume brake"), shelf.entry("d1", "volume brake"), shelf.entry("d3", "brake")]
    )
    assert shelf.find("volume", 4) == ["crowd", "d1", "d2", "d3"]
    assert shelf.find("volume", 2) == ["crowd", "d1"]


def test_holes_are_given_back(make_shelf):
    shelf = make_shelf("sqlite_vec", HashingEmbedder(8))
    shelf.write([shelf.entry(f"d{number}", WORDS[number % 40], project=f"p{number % 20}") for number in range(6000)])
    slots = "select sum(size) from ix_test_vectors_chunks"
    kept = [f"d{number}" for number in range(0, 6000, 61)]
    ((before,),) = shelf.rows(slots)
    shelf.write([], sorted({f"d{number}" for number in range(6000)} - set(kept)))
    ((after,),) = shelf.rows(slots)
    assert after < before / 2
    assert sorted(shelf.find("word0", 200)) == sorted(kept)
    in_scope = [key for key in kept if int(key[1:]) % 20 == 0]
    assert sorted(shelf.find("word0", 200, project_ids=("p0",))) == sorted(in_scope)
    assert shelf.write([shelf.entry("new", "word0")])[1].embedded == 0


def test_many_small_projects_cost_little(make_shelf):
    shelf = make_shelf("sqlite_vec")
    shelf.write([shelf.entry(f"d{number}", WORDS[number % 40], project=f"p{number}") for number in range(2000)])
    ((slots,),) = shelf.rows("select sum(size) from ix_test_vectors_chunks")
    assert slots <= 2000 + 16 * 128


def test_an_embedder_of_another_shape_is_refused(make_shelf):
    shelf = make_shelf("sqlite_vec", WrongShape())
    with pytest.raises(EmbedderError, match=r"shape \(1, 63\)"):
        shelf.put("d1", "volume")


def test_without_sqlite_vec_it_is_refused_with_the_remedy(make_shelf, monkeypatch):
    database = make_shelf("sqlite_vec").database
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    services = Services(prefix="x", database=database, embedder=lambda _: HashingEmbedder())
    with pytest.raises(PluginError, match="pip install sqlite-vec"):
        build_sqlite_vec(SqliteVecOptions(embedder="e"), services)


def test_a_broken_extension_is_refused(make_shelf, monkeypatch, tmp_path):
    database = make_shelf("sqlite_vec").database
    (tmp_path / "sqlite_vec").mkdir()
    (tmp_path / "sqlite_vec" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "sqlite_vec", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    services = Services(prefix="x", database=database, embedder=lambda _: HashingEmbedder())
    with pytest.raises(PluginError, match="cannot be loaded"):
        build_sqlite_vec(SqliteVecOptions(embedder="e"), services)


def test_building_imports_nothing_heavy(tmp_path):
    program = f"""
import sys
from pathlib import Path
from reqall import Services
from reqall.core.database import Database
from reqall.plugins.recallers import register_recallers
services = Services(prefix="x", database=Database(Path({str(tmp_path / "c.db")!r})), embedder=lambda name: None)
for registration in register_recallers():
    options = registration.options(**({{"embedder": "e"}} if registration.name == "sqlite_vec" else {{}}))
    assert registration.build(options, services).position() is None
print(sorted({{"numpy", "sqlite_vec", "rank_bm25"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_likeness_is_the_cosine_of_the_mean_vectors(make_shelf):
    shelf = make_shelf("sqlite_vec")
    assert not shelf.recaller.likeness(["d1"]).any()
    shelf.put("d1", "alarm volume", "timer")
    shelf.put("d2", "alarm volume")
    shelf.put("d3", "other matter")
    first, second, third = HashingEmbedder().embed_documents(["alarm volume", "timer", "other matter"])
    mean = (first + second) / np.linalg.norm(first + second)
    rows = np.stack([mean, np.zeros_like(mean), first, third])
    likeness = shelf.recaller.likeness(["d1", "gone", "d2", "d3"])
    assert likeness == pytest.approx(rows @ rows.T, abs=1e-6)
