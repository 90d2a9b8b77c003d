"""The rerank stage: within its time, in part where that is short, and in the fused order when all else fails."""

import threading
import time

import pytest

from reqall import DocumentRanking, Passage, PluginError, Query
from reqall.core.guard import Component
from reqall.core.passage import clean, passage_of
from reqall.core.pipeline import Pipeline
from reqall.core.recall import Arm
from reqall.core.scores import ScoreCache
from reqall.core.scoring import Scoring
from reqall.plugins.fusers.rrf import Rrf, RrfOptions
from reqall.testing.fake_reranker import SharedWordsReranker

PATIENCE = 30
SOON = 0.3
COUNT = 12
ACME = "reranker 'odd' of acme 1.0"


class Backwards:
    """Scores by place, the last best; `before` is done before each batch."""

    identity = ""
    batch_size = 4

    def __init__(self, before=lambda: None):
        self.before = before
        self.batches = 0

    def score(self, query, passages):
        self.batches += 1
        self.before()
        return [float(passage.document_id[2:]) for passage in passages]

    def rerank(self, query, passages):
        raise AssertionError("the host scores batch by batch")


class Doing:
    """Does as it is told."""

    def __init__(self, do):
        self.do = do

    def rerank(self, query, passages):
        return self.do(passages)


@pytest.fixture
def gate():
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def cache(tmp_path):
    made = ScoreCache(tmp_path)
    yield made
    made.close()


@pytest.fixture
def search(bench, document):
    """Search a pool of twelve, of which the fused order is by number, with a reranker of acme."""
    bench.commit(*(document(100 + number, "alarm " * (COUNT - number) + "volume") for number in range(COUNT)))

    def run(reranker, *, timeout=PATIENCE, deadline=PATIENCE):
        pipeline = Pipeline(
            "default",
            indexer=bench.indexer,
            arms=[Arm(bench.words)],
            fuser=Rrf(RrfOptions()),
            fuser_name="rrf",
            reranker=reranker,
            deadline=deadline,
            components={"reranker": Component(ACME, timeout)},
        )
        return pipeline.search(Query("alarm"), COUNT, COUNT)

    return run


def ids(result):
    return [hit.document.id for hit in result.hits]


def strategies(result):
    return [hit.strategy for hit in result.hits]


def raises(error):
    def do(_passages):
        raise error

    return do


MISBEHAVIOURS = {
    "exception": (raises(ValueError("text of an item")), "unexpected ValueError; the log has the details"),
    "memory": (raises(MemoryError()), "unexpected MemoryError; the log has the details"),
    "exit": (raises(SystemExit(1)), "it raised SystemExit"),
    "recursion": (raises(RecursionError()), "unexpected RecursionError"),
    "nan": (lambda p: DocumentRanking.of((each.document_id, float("nan")) for each in p), "not a number (NaN)"),
    "too few": (lambda p: DocumentRanking.of([(p[0].document_id, 1.0)]), "other documents than it was given"),
    "a list": (lambda p: [1.0] * len(p), "it returned a list, not a DocumentRanking"),
    "parts that are none": (
        lambda p: DocumentRanking.of(((each.document_id, 1.0) for each in p), {p[0].document_id: {"x": "y"}}),
        "parts of scores that are no finite numbers",
    ),
}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_reranker_that_misbehaves_leaves_the_fused_order(search, name):
    do, reason = MISBEHAVIOURS[name]
    fused = ids(search(None))
    result = search(Doing(do))
    assert ids(result) == fused
    assert strategies(result) == ["rrf"] * COUNT
    (warning,) = result.warnings
    assert warning.startswith(f"{ACME} was left out, the order is the fused one: ")
    assert reason in warning
    assert "text of an item" not in warning


SCORES = {
    "too few": (lambda p: [1.0], "it returned 1 scores for 4 passages"),
    "too many": (lambda p: [1.0] * 5, "it returned more than 4 scores for 4 passages"),
    "a number": (lambda p: 1.0, "it returned a float, not a list"),
    "rows": (lambda p: [[1.0]] * 4, "it returned a score that is no number"),
    "nan": (lambda p: [float("nan")] * 4, "it returned a score that is not finite"),
    "infinite": (lambda p: [float("inf")] * 4, "it returned a score that is not finite"),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_that_are_none_leave_the_fused_order(search, cache, name):
    score, reason = SCORES[name]
    scorer = Backwards()
    scorer.score = lambda _query, passages: score(passages)
    result = search(Scoring(scorer, cache))
    assert strategies(result) == ["rrf"] * COUNT
    assert reason in result.warnings[0]


def test_a_reranker_that_hangs_is_left_by_the_deadline_of_the_search(search, gate):
    """Its own timeout is far away."""
    fused = ids(search(None))
    result = search(Doing(lambda _p: gate.wait()), deadline=SOON)
    assert (ids(result), strategies(result)) == (fused, ["rrf"] * COUNT)
    assert "it did not answer within" in result.warnings[0]


def test_a_search_that_is_late_already_is_not_reranked(search):
    asked = []
    result = search(Doing(asked.append), deadline=1e-9)
    assert asked == []
    assert strategies(result) == ["rrf"] * COUNT
    assert result.warnings == (
        f"{ACME} was left out, the order is the fused one: the search's 1e-09 s had passed before",
    )


def test_all_is_scored_in_batches_when_there_is_time(search, cache):
    scorer = Backwards()
    fused = ids(search(None))
    result = search(Scoring(scorer, cache))
    assert ids(result) == fused[::-1]
    assert (strategies(result), scorer.batches, result.warnings) == (["rerank"] * COUNT, 3, ())


def test_what_there_is_no_time_for_follows_in_fused_order(search, cache):
    """Two batches of four fit in; the third would not."""
    fused = ids(search(None))
    result = search(Scoring(Backwards(lambda: time.sleep(0.4)), cache), timeout=1.2)
    assert ids(result) == [*fused[7::-1], *fused[8:]]
    assert strategies(result) == ["rerank"] * 8 + ["rrf"] * 4
    assert result.warnings == (
        f"{ACME} read only 8 of {COUNT} candidates in time; the others follow in the fused order",
    )


def test_nothing_read_in_time_is_the_fused_order(search):
    class Idle(Doing):
        def rerank_within(self, query, passages, seconds):
            return DocumentRanking()

    result = search(Idle(None))
    assert strategies(result) == ["rrf"] * COUNT
    assert f"it could not read any of {COUNT} candidates in time" in result.warnings[0]


def test_others_than_the_first_are_refused(search):
    class Choosy(Doing):
        def rerank_within(self, query, passages, seconds):
            return DocumentRanking.of([(passages[-1].document_id, 1.0)])

    result = search(Choosy(None))
    assert strategies(result) == ["rrf"] * COUNT
    assert "it returned other documents than the first that it was given" in result.warnings[0]


def test_reading_the_candidates_is_timed_apart(search):
    timings = search(Doing(lambda p: (time.sleep(0.2), DocumentRanking.of((e.document_id, 1.0) for e in p))[1])).timings
    assert timings["rerank"] >= 200
    assert "read" in timings


def test_parts_of_a_score_come_with_the_hit(search):
    def do(passages):
        return DocumentRanking.of(((p.document_id, 1.0) for p in passages), {passages[0].document_id: {"yes": 1.0}})

    hits = search(Doing(do)).hits
    assert [hit.parts for hit in hits] == [{"yes": 1.0}, *[{}] * (COUNT - 1)]


PASSAGES = [Passage(f"s:{number}", f"alarm {number}") for number in range(10)]


def test_known_scores_are_not_asked_for(tmp_path):
    """Not by the next object, which another process might have: they are on disk."""
    rankings = []
    for batches in ([8, 2], [], []):
        cache = ScoreCache(tmp_path)
        scorer = SharedWordsReranker(identity="words")
        rankings.append(Scoring(scorer, cache).rerank("alarm 7", PASSAGES))
        assert scorer.batches == batches
        cache.close()
    assert rankings[0] == rankings[1] == rankings[2]
    assert rankings[0].documents[0].document_id == "s:7"


@pytest.mark.parametrize("change", ["identity", "query", "text"])
def test_another_model_query_or_text_is_scored_anew(cache, change):
    Scoring(SharedWordsReranker(identity="a"), cache).rerank("alarm", PASSAGES[:1])
    scorer = SharedWordsReranker(identity="b" if change == "identity" else "a")
    text = "alarm 0 changed" if change == "text" else PASSAGES[0].text
    Scoring(scorer, cache).rerank("alarms" if change == "query" else "alarm", [Passage("s:0", text)])
    assert scorer.batches == [1]


def test_a_score_belongs_to_the_text_not_to_the_document(cache):
    scorer = SharedWordsReranker(identity="a")
    ranking = Scoring(scorer, cache).rerank("alarm", [Passage(key, "alarm") for key in ("s:1", "s:2", "s:3")])
    assert (len(ranking), scorer.batches) == (3, [1])


def test_without_an_identity_nothing_is_kept(cache):
    scorer = SharedWordsReranker()
    for _ in range(2):
        Scoring(scorer, cache).rerank("alarm", PASSAGES[:3])
    assert scorer.batches == [3, 3]
    assert not cache.path.exists()


def test_the_oldest_scores_go(tmp_path):
    cache = ScoreCache(tmp_path, limit=6)
    for start in (0, 4):
        Scoring(SharedWordsReranker(identity="a"), cache).rerank("alarm", PASSAGES[start : start + 4])
    scorer = SharedWordsReranker(identity="a")
    Scoring(scorer, cache).rerank("alarm", PASSAGES[:8])
    assert scorer.batches == [2]
    cache.close()


@pytest.mark.parametrize(
    "content", [b"no database at all, but longer than a header" * 9, None], ids=["damaged", "folder"]
)
def test_a_file_that_cannot_be_used_costs_no_search(tmp_path, content, caplog):
    cache = ScoreCache(tmp_path)
    if content is None:
        cache.path.mkdir()
    else:
        cache.path.write_bytes(content)
    for _ in range(2):
        assert len(Scoring(SharedWordsReranker(identity="a"), cache).rerank("alarm", PASSAGES)) == 10
    assert caplog.text.count("scores of rerankers are not kept") == 1


def test_threads_share_the_scores(cache):
    scorer = Scoring(SharedWordsReranker(identity="a"), cache)
    rankings = []
    threads = [threading.Thread(target=lambda: rankings.append(scorer.rerank("alarm 3", PASSAGES))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rankings) == 8
    assert all(ranking == rankings[0] for ranking in rankings)


def test_a_scorer_that_fails_keeps_what_was_scored_before(cache):
    class Failing(SharedWordsReranker):
        def score(self, query, passages):
            if self.batches:
                raise PluginError("the model is gone")
            return super().score(query, passages)

    with pytest.raises(PluginError):
        Scoring(Failing(identity="a"), cache).rerank("alarm", PASSAGES)
    scorer = SharedWordsReranker(identity="a")
    Scoring(scorer, cache).rerank("alarm", PASSAGES)
    assert scorer.batches == [2]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<p>The <b>pump</b>&nbsp;stops<br/>at once</p>", "The pump stops at once"),
        ("a < b and c > d, <T> stays", "a < b and c > d, <T> stays"),
        ("bell\x07 nul\x00 zero\u200bwidth soft\u00adhyphen \u202eturned", "bell nul zerowidth softhyphen turned"),
        ("one\r\n\r\n  two\t\tthree  \n", "one\ntwo three"),
        ("क्\u200dष", "क्\u200dष"),
        ("<!-- hidden\n -->shown", "shown"),
        ("", ""),
    ],
)
def test_a_passage_is_clean(text, cleaned):
    assert clean(text) == cleaned


def test_a_passage_is_path_name_and_text(document):
    made = passage_of(document(7, "unused"), "The <i>text</i>")
    assert made == Passage("s:7", f"{made.name}\nThe text", made.name)
