"""The laws of indexing: nothing is half written, embedded twice, stale or lost."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reqall import ConfigError, EmbedderError, IndexBatch, PluginError, Position
from reqall.core.batch import Committed
from reqall.core.indexing import LEVEL_BATCH, Indexer
from reqall.testing.fakes import HashingEmbedder, MemoryRecaller


def fail(*_):
    raise RuntimeError("stop")


def is_level(bench, *indexes):
    return all(bench.indexer.is_level(index) for index in indexes or bench.indexer.indexes)


def exact(bench):
    """Every index holds the catalog's chunks, no more, no less; every document has chunks, and nothing else has."""
    chunks = bench.chunks()
    documents = {key for key, _ in chunks}
    return bench.held(bench.words) == bench.held(bench.meaning) == chunks and documents == set(
        bench.catalog.document_ids("s:p")
    )


def test_a_new_catalog_is_level_and_a_first_batch_fills_all_indexes(bench, document):
    assert is_level(bench)
    done = bench.commit(document(1, "volume sync\nalarm"), document(2))
    assert done == Committed(written=2, embedded=3)
    assert is_level(bench)
    assert exact(bench)
    assert bench.find(bench.words, "alarm") == bench.find(bench.meaning, "alarm") == ["s:1"]


def test_an_unchanged_batch_writes_nothing(bench, document):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    before = bench.dump()
    seen = []
    done = bench.commit(document(1, "alarm"), document(2, "battery"), within=lambda _tx, told: seen.append(told))
    assert done == Committed(unchanged=2)
    assert seen == [done]
    assert bench.dump() == before
    assert bench.commit(deleted=["s:never"]) == Committed()
    assert bench.dump() == before


@pytest.mark.parametrize("behind", [False, True])
def test_facets_change_without_embedding_and_keep_their_chunks(bench, document, behind):
    bench.commit(document(1, "alarm\nbattery", status="Draft"), document(2, "alarm", status="Draft"))
    chunks, embedded = bench.chunks(), list(bench.embedder.embedded)
    changed = document(1, "alarm\nbattery", status="Approved", modified=datetime(2024, 1, 1, tzinfo=UTC))
    assert bench.commit(changed, eager=not behind).written == 1
    assert is_level(bench) is not behind
    assert bench.level() == 0
    assert bench.embedder.embedded == embedded
    assert bench.chunks() == chunks
    assert exact(bench)
    for index in bench.indexer.indexes:
        assert bench.find(index, "alarm", statuses=("Approved",)) == ["s:1"]
        assert bench.find(index, "alarm", statuses=("Draft",)) == ["s:2"]


@pytest.mark.parametrize("behind", [False, True])
def test_an_old_text_is_gone_with_the_transaction_of_the_new(bench, document, behind):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    old = bench.chunks()
    bench.commit(document(1, "siren"), eager=not behind)
    for index in bench.indexer.indexes:
        assert bench.find(index, "alarm") == []
        assert bench.find(index, "battery") == ["s:2"]
    assert bench.find(bench.meaning, "siren") == ([] if behind else ["s:1"])
    assert bench.indexer.lag(bench.meaning) == int(behind)
    bench.level()
    assert bench.find(bench.meaning, "siren") == ["s:1"]
    assert exact(bench)
    assert not {chunk for key, chunk in bench.chunks() if key == "s:1"} & {chunk for _, chunk in old}


@pytest.mark.parametrize("behind", [False, True])
def test_a_deleted_document_leaves_a_tombstone_and_nothing_else(bench, document, behind):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    if behind:
        bench.commit(document(3, "filter"), eager=False)
    assert bench.commit(deleted=["s:1"]).deleted == 1
    assert [c.document_id for c in bench.log.after(0, 10) if c.deleted] == ["s:1"]
    assert "s:1" not in dict(bench.chunks())
    for index in bench.indexer.indexes:
        assert bench.find(index, "alarm") == []
        assert "s:1" not in dict(bench.held(index))
    assert is_level(bench) is not behind
    bench.level()
    assert exact(bench)


def test_a_deleted_document_may_come_back(bench, document):
    bench.commit(document(1, "alarm"))
    bench.commit(deleted=["s:1"])
    assert bench.commit(document(1, "alarm")).written == 1
    assert exact(bench)
    assert bench.find(bench.words, "alarm") == ["s:1"]


def test_a_first_sync_embeds_later(bench, document):
    bench.commit(document(1, "alarm"), document(2, "battery"), eager=False)
    assert bench.embedder.embedded == []
    assert is_level(bench, bench.words)
    assert bench.indexer.lag(bench.meaning) == 2
    assert bench.indexer.lag(bench.meaning, ["s:other"]) == 0
    bench.commit(document(3, "filter"))
    assert bench.embedder.embedded == []  # an index that is behind is not skipped ahead
    told = []
    assert bench.indexer.level(bench.meaning, lambda _tx, done: told.append(done)) == 3
    assert told == [Committed(written=3, embedded=3)]
    assert is_level(bench)
    assert exact(bench)


@pytest.mark.parametrize("eager", [False, True])
def test_a_failure_within_rolls_everything_back(bench, document, eager):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    before = bench.dump()
    with pytest.raises(RuntimeError, match="stop"):
        bench.commit(document(1, "siren"), document(3, "new"), deleted=["s:2"], eager=eager, within=fail)
    assert bench.dump() == before
    with pytest.raises(RuntimeError, match="stop"):
        bench.indexer.level(bench.index("later", HashingEmbedder()), fail)
    assert bench.database.query("SELECT name FROM sqlite_master WHERE name LIKE 'ix_later%'") == []


class Breaking:
    """Writes as the recaller that it wraps does, then fails."""

    storage = "catalog"

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def apply(self, batch, prepared, tx):
        self.inner.apply(batch, prepared, tx)
        fail()


@pytest.mark.parametrize("name", ["words", "meaning"])
@pytest.mark.parametrize("eager", [False, True])
def test_a_failure_of_any_index_rolls_back_all(bench, document, name, eager):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    before = bench.dump()
    bench.indexer.indexes = [
        replace(index, recaller=Breaking(index.recaller)) if index.name == name else index
        for index in bench.indexer.indexes
    ]
    with pytest.raises(RuntimeError, match="stop"):
        bench.commit(document(1, "siren"), document(3, "new"), deleted=["s:2"], eager=eager)
    assert bench.dump() == before


def test_a_lost_index_is_noticed_and_rebuilt(bench, document):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    with bench.database.writing() as tx:
        bench.meaning.recaller.drop(tx)
    assert bench.indexer.lag(bench.meaning) == 2
    bench.commit(document(3, "filter"))
    assert bench.find(bench.meaning, "filter") == []
    assert bench.level() == 3
    assert exact(bench)


def test_an_index_of_another_fingerprint_is_rebuilt_from_the_catalog_alone(bench, document):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    changed = replace(bench.words, fingerprint="words 2")
    assert bench.indexer.lag(changed) == 2
    bench.level(changed)
    assert bench.indexer.lag(changed) == 0
    assert bench.indexer.lag(bench.words) == 2
    assert bench.held(bench.words) == bench.chunks()


def test_a_new_index_is_filled_from_the_catalog_while_the_old_goes_on(bench, document):
    bench.commit(document(1, "alarm"), document(2, "battery"))
    other = bench.index("other", HashingEmbedder(16), chunking="other lines")
    indexer = Indexer(bench.catalog, bench.log, [*bench.indexer.indexes, other])
    assert indexer.lag(other) == 2
    assert bench.find(other, "alarm") == []
    assert indexer.level(other, lambda _tx, _done: None) == 2
    assert [key for key, _ in bench.held(other)] == ["s:1", "s:2"]
    assert set(bench.held(other)).isdisjoint(bench.held(bench.meaning))  # cut anew: chunks of its own
    assert is_level(bench)


def test_indexes_of_one_chunking_share_chunks(bench, document):
    bench.commit(document(1, "alarm\nbattery"))
    other = bench.index("other", HashingEmbedder(16))
    bench.level(other)
    assert bench.held(other) == bench.held(bench.meaning) == bench.chunks()


@pytest.mark.parametrize("storage", ["external", "memory"])
def test_an_engine_filled_from_another_catalog_is_emptied(make_bench, document, storage):
    engine = MemoryRecaller(storage)
    first, second = make_bench("first"), make_bench("second")
    first.commit(document(1, "alarm"))
    first.level(first.index("engine", recaller=engine))
    assert list(engine.held) == ["s:1"]
    index = second.index("engine", recaller=engine)
    assert not second.indexer.is_level(index)
    second.commit(document(2, "battery"))
    second.level(index)
    assert list(engine.held) == ["s:2"]
    assert second.indexer.is_level(index)


def test_an_engine_ahead_of_a_restored_catalog_is_filled_anew(bench, document):
    bench.commit(document(1, "alarm"))
    engine = MemoryRecaller("external")
    index = bench.index("engine", recaller=engine)
    engine.apply(IndexBatch({}, (), Position(bench.indexer.expected(index), 99)), None, None)
    assert bench.indexer.lag(index) == 1
    bench.level(index)
    assert list(engine.held) == ["s:1"]


def test_an_external_engine_follows_after_the_commit(bench, document):
    engine = MemoryRecaller("external")
    index = bench.index("engine", recaller=engine)
    bench.indexer.indexes.append(index)
    bench.commit(document(1, "alarm"), document(2, "battery"))
    assert engine.applied == []
    bench.level(index)
    bench.commit(document(1, "siren"), deleted=["s:2"])
    bench.level(index)
    assert {key: [e.chunk.body for e in entries] for key, entries in engine.held.items()} == {"s:1": ["siren"]}
    assert [batch.position.seq for batch in engine.applied] == [2, 4]
    bench.level(index)
    assert len(engine.applied) == 2


@pytest.mark.parametrize("edit", ["text", "facets", "delete"])
def test_a_document_overtaken_while_it_is_embedded_is_not_written_stale(bench, document, edit):
    bench.commit(document(1, "alarm", status="Draft"), document(2, "battery"), eager=False)

    def overtake(texts):
        assert texts == ["name1\nalarm", "name2\nbattery"]
        if edit == "delete":
            bench.commit(deleted=["s:1"])
        else:
            text, status = ("siren", "Draft") if edit == "text" else ("alarm", "Approved")
            bench.commit(document(1, text, status=status), eager=False)

    def look(_tx, _done):
        stale = {"statuses": ("Draft",)} if edit == "facets" else {}
        assert bench.find(bench.meaning, "alarm", **stale) == []

    bench.embedder.before = overtake
    bench.indexer.level(bench.meaning, look)
    assert exact(bench)
    assert is_level(bench)
    expected = {"text": ([], ["s:1"], []), "facets": (["s:1"], [], ["s:1"]), "delete": ([], [], [])}[edit]
    assert bench.find(bench.meaning, "alarm") == expected[0]
    assert bench.find(bench.meaning, "siren") == expected[1]
    assert bench.find(bench.meaning, "alarm", statuses=("Approved",)) == expected[2]
    assert bench.find(bench.meaning, "battery") == ["s:2"]


@pytest.mark.parametrize("edit", ["text", "facets", "delete"])
def test_a_batch_overtaken_while_it_is_embedded_is_planned_anew(make_bench, document, edit):
    mine, other = make_bench(), make_bench()
    mine.commit(document(1, "alarm", status="Draft"))

    def overtake(_texts):
        if edit == "delete":
            other.commit(deleted=["s:1"])
        else:
            text, status = ("siren", "Draft") if edit == "text" else ("alarm", "Approved")
            other.commit(document(1, text, status=status))

    mine.embedder.before = overtake
    # The first document is changed in its facets alone; the second makes the batch embed.
    mine.commit(document(1, "alarm", status="Verified"), document(2, "battery"))
    mine.level()
    assert exact(mine)
    assert mine.catalog.documents(["s:1"])["s:1"].status == "Verified"
    for index in mine.indexer.indexes:
        assert mine.find(index, "alarm", statuses=("Verified",)) == ["s:1"]
        assert mine.find(index, "siren") == []


def test_levelling_goes_on_after_its_last_step(bench, document):
    count = 2 * LEVEL_BATCH + 10
    bench.commit(*(document(n, f"text{n}") for n in range(count)), eager=False)
    steps = []

    def second_step_fails(_tx, done):
        steps.append(done)
        if len(steps) == 2:
            fail()

    with pytest.raises(RuntimeError, match="stop"):
        bench.indexer.level(bench.meaning, second_step_fails)
    assert bench.indexer.applied(bench.meaning) == LEVEL_BATCH
    bench.embedder.embedded.clear()
    assert bench.level(bench.meaning) == len(bench.embedder.embedded) == count - LEVEL_BATCH
    assert exact(bench)


def test_vectors_are_found_again_by_their_text(bench, document):
    bench.commit(document(1, "alarm\nbattery"), document(2, "filter"))
    bench.embedder.embedded.clear()
    bench.commit(document(1, "alarm\nsiren\nbattery", status="Draft"), document(2, "filter", status="Draft"))
    assert bench.embedder.embedded == ["name1\nsiren"]
    bench.commit(document(3, "alarm", name="name1"), document(4, "new"), eager=False)
    assert bench.level() == 1
    assert bench.embedder.embedded[1:] == ["name4\nnew"]
    assert exact(bench)


@pytest.mark.parametrize("eager", [False, True])
def test_a_second_init_of_unchanged_text_embeds_nothing(bench, document, eager):
    documents = [document(n, f"text{n}") for n in range(100)]
    bench.commit(*documents, eager=False)
    bench.level()
    bench.embedder.embedded.clear()
    assert bench.commit(*documents, eager=eager) == Committed(unchanged=100)
    assert bench.level() == 0
    assert bench.embedder.embedded == []


def test_a_parent_that_moves_or_is_renamed_embeds_nothing_below_it(bench, document):
    folder, child = document(1, name="Folder"), document(2, "alarm", parent_id="s:1")
    bench.commit(folder, child, document(3, name="Other"))
    bench.embedder.embedded.clear()
    bench.commit(replace(folder, parent_id="s:3"), child)
    assert bench.level() == 0
    assert bench.embedder.embedded == []
    assert bench.catalog.documents(["s:2"])["s:2"].path == ("Other", "Folder")
    bench.commit(replace(folder, parent_id="s:3", name="Renamed"), child)
    bench.level()
    assert bench.embedder.embedded == ["Renamed"]
    assert bench.catalog.documents(["s:2"])["s:2"].path == ("Other", "Renamed")


def unreachable(_texts):
    raise EmbedderError("the endpoint is down", "start it")


def test_an_embedder_that_is_down_leaves_its_index_behind_and_nothing_else(bench, document):
    bench.commit(document(1, "alarm"))
    bench.embedder.before = unreachable
    assert bench.commit(document(1, "siren"), document(2, "battery")).written == 2
    assert is_level(bench, bench.words)
    assert bench.find(bench.words, "siren") == ["s:1"]
    assert bench.find(bench.meaning, "alarm") == []
    assert bench.indexer.lag(bench.meaning) == 2
    bench.embedder.before = unreachable
    with pytest.raises(EmbedderError, match="the endpoint is down"):
        bench.level()
    assert bench.level() == 2
    assert exact(bench)


def test_a_piece_longer_than_the_embedder_reads_is_refused(bench, document):
    short = bench.index("short", HashingEmbedder(max_tokens=5), chunking="short lines")
    bench.indexer.indexes.append(short)
    before = bench.dump()
    with pytest.raises(ConfigError, match=r"'short'.*longer than its embedder reads \(5 tokens\)"):
        bench.commit(document(1, "one two three four five six"))
    assert bench.dump() == before


def test_of_a_document_that_comes_twice_the_last_counts(bench, document):
    done = bench.commit(document(1, "alarm"), document(2, "battery"), document(1, "siren"))
    assert done.written == 2
    assert exact(bench)
    assert bench.find(bench.words, "alarm") == []
    assert bench.find(bench.words, "siren") == ["s:1"]


def test_a_document_that_comes_and_goes_in_one_batch_is_gone(bench, document):
    bench.commit(document(1, "alarm"))
    bench.commit(document(1, "siren"), document(2, "battery"), deleted=["s:1", "s:1"])
    assert exact(bench)
    assert bench.catalog.document_ids("s:p") == ["s:2"]


def test_text_that_cannot_be_stored_does_not_stop_its_batch(bench, document):
    broken = document(1, "half \ud83d pair\x00", name="N\ud800", key="K\udfff", fields={"\ud800": ["\ud800"]})
    assert bench.commit(broken, document(2, "fine")).written == 2
    assert bench.commit(broken, document(2, "fine")).unchanged == 2
    assert exact(bench)
    assert bench.find(bench.words, "pair") == bench.find(bench.meaning, "pair") == ["s:1"]


def test_a_time_without_a_zone_does_not_stop_its_batch(bench, document):
    naive = datetime(2024, 1, 1, 12)  # noqa: DTZ001 - what a careless source sends
    bench.commit(document(1, "alarm", modified=naive))
    noon = naive.replace(tzinfo=UTC)
    for index in bench.indexer.indexes:
        assert bench.find(index, "alarm", modified_after=noon, modified_before=noon) == ["s:1"]


class Forgetful:
    """An index in the catalog that never remembers how far it is."""

    storage = "catalog"

    def prepare(self, entries):
        return None

    def apply(self, batch, prepared, tx):
        return None

    def position(self):
        return None


def test_a_recaller_that_forgets_its_position_is_an_error_not_an_endless_loop(bench, document):
    bench.commit(document(1, "alarm"))
    with pytest.raises(PluginError, match="'forgetful' does not say how far it is"):
        bench.level(bench.index("forgetful", recaller=Forgetful()))
