"""A component that fails, hangs or answers rubbish in a search: the others answer, and a warning names it."""

import itertools
import threading
import time
from pathlib import Path

import pytest

from reqall import ChunkRanking, DocumentRanking, Filters, PluginError, Position, Query, RankedChunk, RankedDocument
from reqall.core.expansion import Expanding
from reqall.core.guard import Component
from reqall.core.pipeline import Pipeline
from reqall.core.recall import Arm
from reqall.plugins.fusers.rrf import Rrf, RrfOptions
from reqall.testing.fakes import MemoryRecaller

NAN = float("nan")
SOON = 0.3
PATIENCE = 30
ACME = "of acme 1.0"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


class Saying:
    """Answers every question with what it was given, or does what it was given."""

    storage = "external"

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    def position(self):
        return None

    def prepare(self, entries):
        return None

    def _say(self, *arguments):
        self.asked += 1
        return self.answer(*arguments) if callable(self.answer) else self.answer

    def recall(self, texts, limit, filters):
        return self._say(texts)

    def expand(self, query):
        return self._say(query)

    def fuse(self, rankings, weights):
        return self._say(rankings)

    def rerank(self, query, passages):
        return self._say(passages)


@pytest.fixture
def gate():
    """What a hanging component waits for; opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def filled(bench, document):
    bench.commit(document(1, "alarm volume"), document(2, "alarm alarm"), document(3, "battery"))
    return bench


@pytest.fixture
def make_pipeline(filled):
    """A pipeline with the arm `words`, after those given; every component but words is one of acme."""

    def make(*arms, timeout=PATIENCE, **stages):
        names = {kind: Component(f"{kind} 'odd' {ACME}", timeout) for kind in ("expander", "fuser", "reranker")}
        expander = stages.pop("expander", None)
        expanders = [Expanding(expander, names["expander"])] if expander else []
        given = {"expanders": expanders, "fuser": Rrf(RrfOptions()), "fuser_name": "rrf", "reranker": None} | stages
        return Pipeline("default", indexer=filled.indexer, arms=[*arms, Arm(filled.words)], components=names, **given)

    return make


@pytest.fixture
def odd(filled):
    """An arm over the index `odd`, whose recaller of acme answers as it is told."""

    def make(answer, *, timeout=PATIENCE, required=False, storage="external"):
        recaller = Saying(answer)
        recaller.storage = storage
        component = Component(f"recaller 'odd' {ACME}", timeout)
        return Arm(filled.index("odd", recaller=recaller), required=required, component=component)

    return make


def ids(result):
    return [hit.document.id for hit in result.hits]


def search(pipeline, text="volume", candidate_k=10, sub_queries=()):
    return pipeline.search(Query(text, sub_queries, Filters()), 10, candidate_k)


def eventually(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def chunk(number=1, document="s:1", score=1.0, rank=1):
    return RankedChunk(number, document, score, rank)


def ranked(*documents):
    return DocumentRanking(tuple(RankedDocument(d, 1.0, rank) for rank, d in enumerate(documents, start=1)))


def endless(*_):
    return itertools.repeat("volume")


def raises(error):
    def answer(*_):
        raise error

    return answer


RUBBISH = {
    "nothing": (None, "it returned a NoneType, not a list"),
    "text": ("rubbish", "it returned a str, not a list"),
    "too few": ([], "it returned 0 rankings for 1 texts"),
    "too many": ([ChunkRanking(), ChunkRanking()], "it returned more than 1 rankings for 1 texts"),
    "without end": (lambda _: itertools.repeat(ChunkRanking()), "it returned more than 1 rankings for 1 texts"),
    "no ranking": ([[(1, "s:1", 0.5)]], "it returned a list, not a ChunkRanking"),
    "of documents": ([ranked("s:1")], "it returned a DocumentRanking, not a ChunkRanking"),
    "list": ([ChunkRanking([chunk()])], "it returned a ranking that is no tuple of RankedChunk"),
    "strange entries": ([ChunkRanking(((1, "s:1", 0.5),))], "it returned a ranking that is no tuple of RankedChunk"),
    "chunk twice": ([ChunkRanking((chunk(), chunk(rank=2)))], "it returned an id twice in one ranking"),
    "nan": ([ChunkRanking((chunk(score=NAN),))], "it returned a score that is not a number (NaN)"),
    "nan by of": (lambda _: [ChunkRanking.of([(1, "s:1", NAN)])], "a score is not a number (NaN)"),
    "no score": ([ChunkRanking((chunk(score="1"),))], "it returned a score that is no number"),
    "wrong ranks": ([ChunkRanking((chunk(rank=0),))], "ranks do not count from 1, best first"),
    "worst first": (
        [ChunkRanking((chunk(score=1.0), chunk(2, score=2.0, rank=2)))],
        "ranks do not count from 1, best first",
    ),
    "text as chunk id": ([ChunkRanking((chunk("1"),))], "it returned ids that are no int"),
    "number as document id": ([ChunkRanking((chunk(document=1),))], "it returned ids of documents that are no str"),
    "unknown documents": (
        [ChunkRanking.of([(2, "s:never", 0.4), (3, "t:1", 0.1)])],
        "it returned documents that the catalog never had: 2",
    ),
    "raises": (raises(ZeroDivisionError("text of an item")), "unexpected ZeroDivisionError; the log has the details"),
    "exits": (raises(SystemExit("text of an item")), "it raised SystemExit"),
    "late": (lambda _: (1 / 0 for _ in range(1)), "unexpected ZeroDivisionError; the log has the details"),
    "own error": (raises(PluginError("no licence", "buy one")), "no licence"),
}


@pytest.mark.parametrize("name", RUBBISH)
def test_an_arm_that_answers_rubbish_is_left_out_and_named(make_pipeline, odd, name):
    answer, reason = RUBBISH[name]
    result = search(make_pipeline(odd(answer)))
    assert ids(result) == ["s:1"]
    assert [origin.arm for hit in result.hits for origin in hit.provenance] == ["words"]
    (warning,) = [each for each in result.warnings if "was left out" in each]
    assert warning.startswith(f"index 'odd' (recaller 'odd' {ACME}) was left out: ")
    assert reason in warning
    assert "text of an item" not in warning


@pytest.mark.parametrize("name", RUBBISH)
def test_a_required_arm_that_answers_rubbish_ends_the_search(make_pipeline, odd, name):
    answer, reason = RUBBISH[name]
    with pytest.raises(PluginError) as caught:
        search(make_pipeline(odd(answer, required=True)))
    assert caught.value.message.startswith(f"index 'odd' (recaller 'odd' {ACME}): ")
    assert reason in caught.value.message
    assert caught.value.remedy
    assert "text of an item" not in str(caught.value)


def test_a_level_index_with_one_unknown_document_among_others_is_left_out(make_pipeline, odd, filled):
    arm = odd([ChunkRanking.of([(1, "s:1", 0.5), (2, "s:never", 0.4)])])
    position = Position(filled.indexer.expected(arm.index), filled.log.seq())
    arm.index.recaller.position = lambda: position
    (warning,) = search(make_pipeline(arm)).warnings
    assert warning.endswith(" was left out: it returned documents that the catalog never had: 1")


def test_what_gc_has_forgotten_is_dropped_from_an_index_in_memory(make_pipeline, filled, document):
    """The index was filled before; the tombstone that it would learn from is gone."""
    arm = Arm(filled.index("memory", recaller=MemoryRecaller()))
    pipeline = make_pipeline(arm)
    assert sorted(ids(search(pipeline, "alarm"))) == ["s:1", "s:2"]
    filled.commit(deleted=["s:2"])
    with filled.database.writing() as tx:
        tx.execute("DELETE FROM change WHERE deleted")
    result = search(pipeline, "alarm")
    assert (ids(result), result.warnings) == (["s:1"], ())
    assert {origin.arm for origin in result.hits[0].provenance} == {"memory", "words"}


def test_an_arm_that_returns_too_many_documents_is_cut_and_named(make_pipeline, odd):
    found = ChunkRanking.of([(1, "s:3", 0.9), (2, "s:2", 0.8), (3, "s:1", 0.7)])
    result = search(make_pipeline(odd([found])), candidate_k=2)
    assert f"index 'odd' (recaller 'odd' {ACME}) returned more than 2 documents; the rest was cut" in result.warnings
    told = {hit.document.id: [origin.arm for origin in hit.provenance] for hit in result.hits}
    assert told["s:3"] == ["odd"]
    assert "odd" not in told.get("s:1", [])


def test_a_chunk_of_another_document_shows_none_of_its_text(make_pipeline, odd, filled):
    """The recaller says that the chunk of the third document is of the first one."""
    (strange,) = [number for document, number in filled.chunks() if document == "s:3"]
    result = search(make_pipeline(odd([ChunkRanking.of([(strange, "s:1", 1.0)])])), "no such word")
    assert [(hit.document.id, hit.text) for hit in result.hits] == [("s:1", "alarm volume")]


def test_an_arm_that_hangs_is_left_out_at_once_from_then_on_and_comes_back(make_pipeline, odd, gate):
    good = [ChunkRanking.of([(9, "s:3", 1.0)])]
    arm = odd(lambda _: (gate.wait(), good)[1], timeout=SOON)
    pipeline = make_pipeline(arm)
    started = threading.active_count()
    first = search(pipeline)
    assert ids(first) == ["s:1"]
    assert f"index 'odd' (recaller 'odd' {ACME}) was left out: it did not answer within 0.3 s" in first.warnings
    for _ in range(20):
        again = search(pipeline)
        assert ids(again) == ["s:1"]
        assert any("an earlier call of it has not returned" in warning for warning in again.warnings)
    assert arm.index.recaller.asked == 1
    assert threading.active_count() <= started + 3, "threads do not pile up"
    gate.set()
    eventually(lambda: "s:3" in ids(search(pipeline)))
    assert not any("was left out" in warning for warning in search(pipeline).warnings)


def test_two_pipelines_of_one_index_each_notice_that_it_hangs(make_pipeline, odd, gate):
    arm = odd(lambda _: gate.wait(), timeout=SOON)
    for _ in range(2):
        assert ids(search(make_pipeline(arm))) == ["s:1"]


def test_an_arm_that_hangs_while_it_is_filled_is_left_out(make_pipeline, filled, gate):
    class Stuck(MemoryRecaller):
        def apply(self, batch, prepared, tx):
            gate.wait()

    arm = Arm(filled.index("stuck", recaller=Stuck()), component=Component("recaller 'stuck'", SOON))
    result = search(make_pipeline(arm))
    assert ids(result) == ["s:1"]
    assert "did not answer" in result.warnings[0]


def test_an_index_in_memory_is_filled_however_long_that_takes(make_pipeline, filled, document):
    """Six steps, each well below the time to wait, together above it."""
    filled.commit(*(document(number, "filler") for number in range(10, 350)))

    class Slow(MemoryRecaller):
        def apply(self, batch, prepared, tx):
            time.sleep(0.2)
            super().apply(batch, prepared, tx)

    arm = Arm(filled.index("slow", recaller=Slow()), component=Component("recaller 'slow'", 0.9))
    result = search(make_pipeline(arm))
    assert {origin.arm for origin in result.hits[0].provenance} == {"slow", "words"}
    assert result.warnings == ()


def test_all_arms_are_asked_at_once(make_pipeline, odd, filled):
    """Each waits for the other: in turn, neither would ever answer."""
    both = threading.Barrier(2, timeout=PATIENCE)
    first, second = (odd(lambda _: (both.wait(), [ChunkRanking()])[1]) for _ in range(2))
    result = search(make_pipeline(first, second))
    assert ids(result) == ["s:1"]
    assert not any("left out" in warning for warning in result.warnings)


def test_the_order_of_arms_decides_not_who_is_first(make_pipeline, odd):
    """Results, warnings and provenance are the same, whichever arm is slow."""
    results = []
    for slow in (0, 1, 2):

        def answer(position, slow=slow):
            def say(_):
                time.sleep(0.05 if position == slow else 0)
                return [ChunkRanking.of([(position + 20, f"s:{position + 1}", 1.0)])] if position < 2 else None

            return say

        result = search(make_pipeline(*(odd(answer(position)) for position in range(3))))
        results.append((result.hits, result.warnings))
    assert results[0] == results[1] == results[2]


def test_a_search_of_a_hung_catalog_index_is_interrupted(make_pipeline, odd, filled):
    """SQL that would never end holds neither a thread nor a snapshot of the file."""
    arm = odd(lambda _: list(filled.database.reader().execute(ENDLESS)), timeout=SOON, storage="catalog")
    pipeline = make_pipeline(arm)
    assert ids(search(pipeline)) == ["s:1"]
    eventually(lambda: "did not answer within" in " ".join(search(pipeline).warnings))
    assert arm.index.recaller.asked > 1, "the first call ended, so that there could be a second one"
    eventually(lambda: pipeline_rests(filled))


def pipeline_rests(bench):
    """No reader holds the log of writes back: it can be emptied."""
    ((busy, *_),) = bench.database.query("PRAGMA wal_checkpoint(TRUNCATE)")
    return not busy


def test_an_arm_that_hangs_elsewhere_lets_go_of_the_file(make_pipeline, odd, filled, gate, document):
    def answer(_):
        filled.database.query("SELECT count(*) FROM document")  # the snapshot begins
        gate.wait()

    assert ids(search(make_pipeline(odd(answer, timeout=SOON, storage="catalog")))) == ["s:1"]
    filled.commit(document(9, "later"))
    assert pipeline_rests(filled)


def test_a_catalog_index_reads_one_state(make_pipeline, odd, filled, document):
    seen = []
    numbers = itertools.count(100)

    def answer(texts):
        count = "SELECT count(*) FROM document"
        before = filled.database.query(count)
        writer = threading.Thread(target=lambda: filled.commit(document(next(numbers), "new")))
        writer.start()
        writer.join()
        seen.append((before, filled.database.query(count)))
        return [ChunkRanking() for _ in texts]

    pipeline = make_pipeline(odd(answer, storage="catalog"))
    for _ in range(3):
        search(pipeline)
    assert [before == after for before, after in seen] == [True] * 3
    assert seen[0] != seen[1], "each search has a state of its own"


@pytest.mark.parametrize("storage", ["catalog", "external"])
@pytest.mark.parametrize("in_sql", [True, False], ids=["sql", "python"])
def test_the_database_closes_while_an_arm_hangs(make_pipeline, odd, filled, gate, storage, in_sql):
    def answer(_):
        if in_sql:
            list(filled.database.reader().execute(ENDLESS))
        filled.database.reader()
        gate.wait()
        ended.append(filled.database.reader())  # what comes back to life opens nothing

    ended = []
    pipeline = make_pipeline(odd(answer, timeout=SOON, storage=storage))
    search(pipeline)
    filled.database.close()
    gate.set()
    eventually(lambda: not pipeline._recall._arms[0][1].hangs())
    assert ended == []
    opened = Path("/proc/self/fd")
    assert not opened.is_dir() or not [file for file in opened.iterdir() if is_of(file, filled.database.path)]


def is_of(file, path):
    try:
        return str(file.readlink()).startswith(str(path))
    except FileNotFoundError:
        return False


EXPANSIONS = {
    "nothing": (None, "it returned a NoneType, not a list"),
    "text": ("volume", "it returned a str, not a list"),
    "numbers": ([1, 2], "it returned texts that are no str"),
    "without end": (lambda _: (f"{number}" for number in itertools.count()), "it returned more than 50 texts"),
    "raises": (raises(KeyError("text of an item")), "unexpected KeyError; the log has the details"),
    "exits": (raises(SystemExit(1)), "it raised SystemExit"),
}


@pytest.mark.parametrize("name", EXPANSIONS)
def test_an_expander_that_answers_rubbish_leaves_the_query_itself(make_pipeline, name):
    answer, reason = EXPANSIONS[name]
    result = search(make_pipeline(expander=Saying(answer)), sub_queries=("battery",))
    assert (ids(result), result.sub_queries_used) == (["s:1"], ("volume",))
    (warning,) = result.warnings
    assert warning.startswith(f"expander 'odd' {ACME} was left out, only the query itself was used: ")
    assert reason in warning
    assert "text of an item" not in warning


def test_a_text_that_an_expander_gives_twice_is_searched_with_once(make_pipeline):
    result = search(make_pipeline(expander=Saying(["volume", "battery", "volume"])))
    assert result.sub_queries_used == ("volume", "battery")


FUSIONS = {
    "nothing": (None, "it returned a NoneType, not a DocumentRanking"),
    "of chunks": (ChunkRanking(), "it returned a ChunkRanking, not a DocumentRanking"),
    "invents": (ranked("s:1", "s:2"), "it returned documents that it was not given"),
    "repeats": (ranked("s:1", "s:1"), "it returned an id twice in one ranking"),
    "nan": (DocumentRanking((RankedDocument("s:1", NAN, 1),)), "it returned a score that is not a number (NaN)"),
    "raises": (raises(KeyError("text of an item")), "unexpected KeyError; the log has the details"),
    "exits": (raises(SystemExit(1)), "it raised SystemExit"),
}


@pytest.mark.parametrize("name", FUSIONS)
def test_a_fuser_that_answers_rubbish_ends_the_search_and_is_named(make_pipeline, name):
    answer, reason = FUSIONS[name]
    with pytest.raises(PluginError) as caught:
        search(make_pipeline(fuser=Saying(answer)))
    assert caught.value.message.startswith(f"fuser 'odd' {ACME}: ")
    assert reason in caught.value.message
    assert "text of an item" not in str(caught.value)


RERANKINGS = FUSIONS | {
    "invents": (ranked("s:1", "s:2"), "it returned other documents than it was given"),
    "drops": (ranked(), "it returned other documents than it was given"),
}


@pytest.mark.parametrize("name", RERANKINGS)
def test_a_reranker_that_answers_rubbish_leaves_the_fused_order(make_pipeline, name):
    answer, reason = RERANKINGS[name]
    result = search(make_pipeline(reranker=Saying(answer)))
    assert [(hit.document.id, hit.strategy) for hit in result.hits] == [("s:1", "rrf")]
    (warning,) = result.warnings
    assert warning.startswith(f"reranker 'odd' {ACME} was left out, the order is the fused one: ")
    assert reason in warning


@pytest.mark.parametrize("kind", ["expander", "reranker"])
def test_a_stage_that_hangs_is_left_out(make_pipeline, gate, kind):
    stage = Saying(lambda *_: gate.wait())
    pipeline = make_pipeline(timeout=SOON, **{kind: stage})
    for reason in ("it did not answer within 0.3 s", "an earlier call of it has not returned"):
        result = search(pipeline)
        assert ids(result) == ["s:1"]
        (warning,) = result.warnings
        assert warning.startswith(f"{kind} 'odd' {ACME} was left out")
        assert reason in warning
    assert stage.asked == 1


def test_a_fuser_that_hangs_ends_the_search(make_pipeline, gate):
    pipeline = make_pipeline(timeout=SOON, fuser=Saying(lambda *_: gate.wait()))
    for reason in ("it did not answer within 0.3 s", "an earlier call of it has not returned"):
        with pytest.raises(PluginError, match=reason):
            search(pipeline)
