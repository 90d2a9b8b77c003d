"""A grid recalls once per texts and depth, finds what it would find without a cache, and owes the time."""

import time

import pytest

from reqall.core.assemble import Assembly
from reqall.core.config import PipelineConfig
from reqall.core.database import Database
from reqall.core.errors import EmbedderError
from reqall.core.evaluation import search_all
from reqall.core.expanding import FoundDocument, SupportsFeedback
from reqall.core.ranking import ChunkRanking
from reqall.core.registration import ComponentConfig
from reqall.core.scores import Score
from reqall.core.types import Document, Filters, Query
from reqall.experiment import run
from reqall.experiments.caching import (
    Ledger,
    RememberingAssembly,
    RememberingCatalog,
    RememberingExpander,
    RememberingFeedback,
    RememberingRecaller,
    RememberingScores,
)
from reqall.experiments.plan import Plan


class CountingRecaller:
    """Counts its recalls; each takes 20 ms."""

    storage = "catalog"

    def __init__(self):
        self.asked = []

    def position(self):
        return None

    def recall(self, texts, limit, filters):
        self.asked.append((tuple(texts), limit, filters))
        time.sleep(0.02)
        return [ChunkRanking.of([(1, "list:1", 1.0)]) for _ in texts]


def test_the_same_texts_and_depth_are_recalled_once():
    inner = CountingRecaller()
    recaller = RememberingRecaller("words", inner, Ledger())
    asked = [
        (("a",), 10, Filters()),
        (("a", "b"), 10, Filters()),
        (("a",), 20, Filters()),
        (("a",), 10, Filters(("p",))),
    ]
    first = [recaller.recall(*each) for each in asked]
    assert [recaller.recall(*each) for each in asked] == first
    assert inner.asked == asked


def test_a_failure_is_not_remembered():
    class Failing(CountingRecaller):
        def recall(self, texts, limit, filters):
            super().recall(texts, limit, filters)
            raise EmbedderError("the endpoint is down")

    inner = Failing()
    recaller = RememberingRecaller("words", inner, Ledger())
    for _ in range(2):
        with pytest.raises(EmbedderError):
            recaller.recall(["a"], 10, Filters())
    assert len(inner.asked) == 2


def test_what_was_remembered_owes_its_time_to_the_next_search_alone():
    ledger = Ledger()
    recaller = RememberingRecaller("words", CountingRecaller(), ledger)
    recaller.recall(["a"], 10, Filters())
    fresh = {"recall": 25.0, "recall.words": 21.0, "fuse": 1.0}
    assert ledger.settle(fresh) == fresh
    recaller.recall(["a"], 10, Filters())
    settled = ledger.settle({"recall": 0.1, "recall.words": 0.1, "fuse": 1.0})
    assert settled["recall"] == settled["recall.words"] >= 20
    assert settled["fuse"] == 1.0
    assert ledger.settle({"recall": 0.1}) == {"recall": 0.1}


def test_an_expander_is_asked_once_per_query():
    class Expander:
        asked = 0

        def expand(self, query):
            self.asked += 1
            return [query.text, f"variant {self.asked}"]

    inner = Expander()
    expander = RememberingExpander("id", inner, Ledger())
    assert expander.expand(Query("a")) == expander.expand(Query("a")) == ["a", "variant 1"]
    assert expander.expand(Query("b")) == ["b", "variant 2"]
    assert inner.asked == 2


def test_feedback_is_remembered_by_what_was_found():
    class Naming:
        def __init__(self):
            self.asked = 0

        def expand(self, query):
            return [query.text]

        def expand_from(self, query, found):
            self.asked += 1
            return [query.text, *(each.document.name for each in found)]

    inner = Naming()
    expander = RememberingFeedback("id", inner, Ledger())
    assert isinstance(expander, SupportsFeedback)
    made = [FoundDocument(Document(f"s:{n}", "s", "s:p", "K", "t", "T", f"name {n}"), 1.0) for n in (1, 2)]
    for found in (made, made[:1], [], made):
        assert expander.expand_from(Query("a"), found) == ["a", *(each.document.name for each in found)]
    assert inner.asked == 3


def test_pipelines_of_a_grid_share_indexes_and_stages_and_find_the_same_as_without_cache(lonely, doors):
    pipelines = {
        f"w{weight}": PipelineConfig.model_validate(
            {
                "expand": {"use": "lexical_variants"},
                "recall": [{"index": "words", "weight": weight}, {"index": "memory", "weight": 1.0}],
                "pin": False,
            }
        )
        for weight in (0.1, 1.0, 9.0)
    }
    report = run(lonely, Plan(pipelines, (doors,)), lambda *_: None)
    (file,) = (doors.parent / "home" / "eval").glob("doors-*.db")
    for kind in (Assembly, RememberingAssembly):
        database = Database(file)
        source = ComponentConfig.model_validate({"use": "jsonl", "with": {"path": str(doors), "keys": False}})
        config = lonely.config.model_copy(update={"pipelines": pipelines, "sources": {"collection": source}})
        assembly = kind(config, lonely.host, lonely.environment, database, file.parent)
        for name in pipelines:
            found = search_all(assembly.pipeline(name), report.collections[0])
            assert found.run == report.outcomes["doors"][name].searched.run
        arms = [assembly.pipeline(name).arms[0] for name in pipelines]
        assert all(arm.index is arms[0].index for arm in arms)
        database.close()


def test_a_catalog_reads_each_document_once_and_leaves_out_absent_ones(app):
    catalog = app.assembly.catalog
    ids = catalog.document_ids(app.synced_project("AIP").id)[:6]
    ledger = Ledger()
    remembering = RememberingCatalog(catalog.database, ledger)
    assert remembering.documents(ids[:4]) == catalog.documents(ids[:4])
    assert ledger.settle({"read": 1.0}) == {"read": 1.0}
    mixed = [ids[5], "jama:no-such", *ids[:2]]
    assert list(remembering.documents(mixed)) == [ids[5], *ids[:2]]
    assert remembering.documents(mixed) == catalog.documents(mixed)
    assert ledger.settle({"read": 1.0})["read"] > 1.0


def test_scores_from_the_cache_owe_the_time_that_they_took(tmp_path):
    ledger = Ledger()
    scores = RememberingScores(tmp_path, ledger)
    scores.put({b"a": Score(0.5, 120.0), b"b": Score(0.25, 30.0)})
    assert scores.get([b"a", b"b", b"c"]) == {b"a": Score(0.5, 120.0), b"b": Score(0.25, 30.0)}
    assert ledger.settle({"rerank": 1.0}) == {"rerank": 151.0}
    scores.close()
