"""The search flow: arms that fail are left out, exact keys come first, and what is shown is there."""

import logging
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reqall import DocumentRanking, EmbedderError, Filters, InputError, PluginError, Query
from reqall.core.expansion import Expanding
from reqall.core.pipeline import Arm, Pipeline
from reqall.plugins.fusers.rrf import Rrf, RrfOptions
from reqall.testing.fakes import MemoryRecaller


class Broken:
    """Whatever is asked of it fails."""

    storage = "external"

    def __init__(self, error):
        self.error = error

    def position(self):
        return None

    def recall(self, texts, limit, filters):
        raise self.error

    def rerank(self, query, passages):
        raise self.error

    def expand(self, query):
        raise self.error


class Reversing:
    """Ranks the passages from last to first, and remembers them."""

    def rerank(self, query, passages):
        self.passages = passages
        return DocumentRanking.of((passage.document_id, float(place)) for place, passage in enumerate(passages))


class Answering:
    """Returns a ranking that was set before."""

    def __init__(self, ranking):
        self.ranking = ranking

    def rerank(self, query, passages):
        return self.ranking


class Variants:
    """The text and the client's own rewrites."""

    def expand(self, query):
        return [query.text, *query.sub_queries]


@pytest.fixture
def make_pipeline(bench):
    """Build a pipeline over the bench; by default its two indexes, RRF, no expander, no reranker."""

    def make(*arms, **stages):
        given = {"fuser": Rrf(RrfOptions()), "fuser_name": "rrf", "reranker": None} | stages
        chosen = arms or [Arm(index) for index in bench.indexer.indexes]
        return Pipeline("default", indexer=bench.indexer, arms=chosen, **given)

    return make


@pytest.fixture
def pipeline(make_pipeline):
    return make_pipeline()


@pytest.fixture
def filled(bench, document):
    """Five documents, of which four hold the word alarm."""
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    bench.commit(
        document(1, "alarm volume", status="Draft", modified=noon),
        document(2, "alarm alarm alarm", status="Approved"),
        document(3, "alarm\nbattery library", status="Draft", parent_id="s:5"),
        document(4, "alarm of the battery", project_id="s:q", type_id="u", key="OTHER-4"),
        document(5, name="Folder"),
    )
    return bench


def ids(result):
    return [hit.document.id for hit in result.hits]


def search(pipeline, text, top_k=10, candidate_k=10, sub_queries=(), **filters):
    return pipeline.search(Query(text, sub_queries, Filters(**filters)), top_k, candidate_k)


def broken(bench, error, name="broken"):
    return bench.index(name, recaller=Broken(error))


def test_a_search_flows_from_recall_to_hits(filled, pipeline):
    result = search(pipeline, "battery library")
    first = result.hits[0]
    assert (first.document.id, first.section, first.text, first.strategy) == (
        "s:3",
        "description",
        "battery library",
        "rrf",
    )
    assert first.document.path == ("Folder",)
    assert (result.query, result.sub_queries_used, result.pipeline) == (
        "battery library",
        ("battery library",),
        "default",
    )
    assert result.warnings == ()
    assert result.pool == len(result.hits)


def test_timings_name_every_stage_and_arm(filled, pipeline):
    timings = search(pipeline, "alarm").timings
    stages = {"expand", "recall", "recall.words", "recall.meaning", "fuse", "read", "present", "rerank", "pin"}
    assert set(timings) == stages
    assert all(value >= 0 for value in timings.values())
    assert timings["recall"] >= timings["recall.words"]


@pytest.mark.parametrize("error", [EmbedderError("the endpoint is down", "start it"), ValueError("text of an item")])
def test_an_arm_that_fails_is_left_out_with_a_warning(filled, make_pipeline, error, caplog):
    with caplog.at_level(logging.ERROR, "reqall.pipeline"):
        result = search(make_pipeline(Arm(broken(filled, error)), Arm(filled.words)), "volume")
    assert ids(result) == ["s:1"]
    told = [warning for warning in result.warnings if "left out" in warning]
    assert len(told) == 1
    assert "'broken'" in told[0]
    assert "text of an item" not in "".join(result.warnings)
    assert ("the endpoint is down" in told[0]) or ("unexpected ValueError" in told[0])
    assert ("text of an item" in caplog.text) == isinstance(error, ValueError)


def test_an_arm_that_answers_wrongly_is_left_out_too(filled, make_pipeline):
    class Short(MemoryRecaller):
        def recall(self, texts, limit, filters):
            return super().recall(texts, limit, filters)[:-1]

    index = filled.index("short", recaller=Short())
    result = search(make_pipeline(Arm(index), Arm(filled.words)), "volume")
    assert ids(result) == ["s:1"]
    assert "'short' was left out" in result.warnings[0]


@pytest.mark.parametrize(
    ("error", "raised", "told"),
    [
        (EmbedderError("the endpoint is down", "start it"), EmbedderError, "the endpoint is down"),
        (ValueError("text of an item"), PluginError, "index 'broken': unexpected ValueError"),
    ],
)
@pytest.mark.parametrize("required", [False, True])
def test_when_every_arm_or_a_required_one_fails_the_search_fails(filled, make_pipeline, error, raised, told, required):
    others = [Arm(filled.words)] if required else [Arm(broken(filled, error, "second"))]
    pipeline = make_pipeline(Arm(broken(filled, error), required=required), *others)
    with pytest.raises(raised, match=told) as caught:
        search(pipeline, "volume")
    assert "text of an item" not in str(caught.value)


def test_an_expander_that_fails_leaves_the_query_itself(filled, make_pipeline):
    result = search(
        make_pipeline(expanders=[Expanding(Broken(InputError("too much")))]), "volume", sub_queries=("battery",)
    )
    assert result.sub_queries_used == ("volume",)
    assert result.hits[0].document.id == "s:1"
    assert "the expander was left out" in result.warnings[0]


def test_every_variant_is_searched(filled, make_pipeline):
    pipeline = make_pipeline(Arm(filled.words), expanders=[Expanding(Variants())])
    result = search(pipeline, "volume", sub_queries=("library", "nothing of the kind"))
    assert result.sub_queries_used == ("volume", "library", "nothing of the kind")
    assert sorted(ids(result)) == ["s:1", "s:3"]
    assert {hit.document.id: [p.variant for p in hit.provenance] for hit in result.hits} == {
        "s:1": ["volume"],
        "s:3": ["library"],
    }


def test_provenance_agrees_with_the_arms(filled, make_pipeline):
    result = search(make_pipeline(expanders=[Expanding(Variants())]), "alarm", sub_queries=("battery",))
    assert len(result.hits) == 5
    for index in filled.indexer.indexes:
        for text, chunks in zip(
            ("alarm", "battery"), index.recaller.recall(["alarm", "battery"], 10, Filters()), strict=True
        ):
            documents = chunks.collapse().by_id
            for hit in result.hits:
                told = [p for p in hit.provenance if (p.arm, p.variant) == (index.name, text)]
                ranked = documents.get(hit.document.id)
                assert [(p.rank, p.score) for p in told] == ([(ranked.rank, ranked.score)] if ranked else [])


def test_weights_decide_what_an_arm_counts(filled, make_pipeline):
    both = make_pipeline(Arm(filled.words, weight=0.0), Arm(filled.meaning, weight=1.0))
    alone = make_pipeline(Arm(filled.meaning))
    assert ids(search(both, "alarm volume")) == ids(search(alone, "alarm volume"))


@pytest.mark.parametrize("text", ["P-5", "what of p-5?", "(P-5).", "see “P-5”", "请看P-5的内容", "P-5、P-99"])
def test_an_exact_key_comes_first_even_of_a_folder_without_text(filled, pipeline, text):
    first = search(pipeline, text).hits[0]
    assert (first.document.id, first.strategy, first.score) == ("s:5", "exact", 1.0)


def test_keys_are_pinned_in_the_order_of_the_query(filled, pipeline):
    result = search(pipeline, "P-3 or P-1 or P-3 or alarm")
    assert ids(result)[:2] == ["s:3", "s:1"]
    assert [hit.strategy for hit in result.hits[:3]] == ["exact", "exact", "rrf"]
    assert len(ids(result)) == len(set(ids(result)))
    assert result.hits[0].provenance  # what recall knew of it is kept


def test_a_key_beyond_ascii_is_pinned_in_any_case(filled, pipeline, document):
    filled.commit(document(6, "alarm", key="Prüf-1"))
    for text in ("Prüf-1", "PRÜF-1", "«prüf-1»"):
        assert search(pipeline, text).hits[0].strategy == "exact", text


def test_a_key_outside_the_filters_is_not_pinned(filled, pipeline):
    assert search(pipeline, "OTHER-4", project_ids=("s:q",)).hits[0].strategy == "exact"
    for filters in ({"project_ids": ("s:p",)}, {"type_ids": ("t",)}, {"statuses": ("Draft",)}):
        result = search(pipeline, "alarm OTHER-4", **filters)
        assert "s:4" not in ids(result)
        assert result.hits
        assert all(hit.strategy == "rrf" for hit in result.hits)


def test_no_reranker_displaces_a_pinned_key(filled, make_pipeline):
    result = search(make_pipeline(reranker=Reversing()), "P-2 alarm")
    assert result.hits[0].document.id == "s:2"
    assert [hit.strategy for hit in result.hits] == ["exact", *["rerank"] * (len(result.hits) - 1)]


def test_pinning_can_be_switched_off(filled, make_pipeline):
    result = search(make_pipeline(pin=False), "OTHER-4 alarm")
    assert all(hit.strategy == "rrf" for hit in result.hits)


def test_a_reranker_decides_the_order_of_the_pool(filled, make_pipeline, pipeline):
    reranker = Reversing()
    fused = ids(search(pipeline, "alarm"))
    result = search(make_pipeline(reranker=reranker), "alarm")
    assert ids(result) == fused[::-1]
    assert {hit.strategy for hit in result.hits} == {"rerank"}
    told = {passage.document_id: passage.text for passage in reranker.passages}
    assert told["s:3"] == "Folder > name3\nalarm"
    assert told["s:5"] == "Folder"


@pytest.mark.parametrize(
    "reranker",
    [
        Broken(ValueError("text of an item")),
        Answering(DocumentRanking.of([("s:1", 1.0)])),
        Answering(DocumentRanking.of([("s:1", 5.0), ("s:invented", 9.0)])),
        Answering(None),
    ],
    ids=["fails", "drops", "invents", "answers nothing"],
)
def test_a_reranker_that_fails_leaves_the_fused_order(filled, make_pipeline, pipeline, reranker):
    result = search(make_pipeline(reranker=reranker), "alarm")
    assert ids(result) == ids(search(pipeline, "alarm"))
    assert {hit.strategy for hit in result.hits} == {"rrf"}
    assert "the reranker was left out" in result.warnings[0]
    assert "text of an item" not in result.warnings[0]


def test_a_reranker_is_not_asked_about_nothing(bench, make_pipeline):
    result = search(make_pipeline(reranker=Broken(ValueError())), "alarm")
    assert result.hits == ()
    assert result.warnings == ()


def test_a_candidate_that_was_deleted_meanwhile_is_dropped(filled, make_pipeline):
    class Late(MemoryRecaller):
        def recall(self, texts, limit, filters):
            found = super().recall(texts, limit, filters)
            filled.commit(deleted=["s:2"])
            return found

    index = filled.index("late", recaller=Late("external"))
    filled.level(index)
    result = search(make_pipeline(Arm(index)), "alarm")
    assert sorted(ids(result)) == ["s:1", "s:3", "s:4"]


def test_a_text_that_changed_meanwhile_is_shown_as_it_is_now(filled, make_pipeline, document):
    index = filled.index("behind", recaller=MemoryRecaller("external"))
    filled.level(index)
    filled.commit(document(2, "siren"))
    (hit,) = [hit for hit in search(make_pipeline(Arm(index)), "alarm").hits if hit.document.id == "s:2"]
    assert hit.text == "siren"


def test_filters_are_checked_against_the_catalog(filled, make_pipeline, document):
    """An index that is behind still has the old facets."""
    index = filled.index("behind", recaller=MemoryRecaller("external"))
    filled.level(index)
    filled.commit(replace(filled.catalog.documents(["s:1"])["s:1"], status="Approved", modified=None))
    pipeline = make_pipeline(Arm(index))
    assert ids(search(pipeline, "alarm", statuses=("Draft",))) == ["s:3"]
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    assert ids(search(pipeline, "alarm", modified_after=noon)) == []
    assert ids(search(pipeline, "alarm", modified_before=noon)) == []


@pytest.mark.parametrize("pin", [True, False])
def test_filters_hold_in_every_hit(filled, make_pipeline, pin):
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    pipeline = make_pipeline(pin=pin)
    assert ids(search(pipeline, "alarm P-2", project_ids=("s:q",))) == ["s:4"]
    assert ids(search(pipeline, "alarm P-2", modified_after=noon, modified_before=noon)) == ["s:1"]


def test_top_k_cuts_the_hits_and_candidate_k_the_pool(filled, make_pipeline):
    asked = []

    class Asked(MemoryRecaller):
        def recall(self, texts, limit, filters):
            asked.append(limit)
            return super().recall(texts, limit, filters)

    pipeline = make_pipeline(Arm(filled.index("asked", recaller=Asked())))
    result = search(pipeline, "alarm", top_k=1, candidate_k=3)
    assert asked == [3]
    assert (len(result.hits), result.pool) == (1, 3)
    assert search(pipeline, "alarm", top_k=5, candidate_k=5).pool == 4


def test_an_arm_that_returns_more_than_its_limit_is_cut(filled, make_pipeline):
    class Generous(MemoryRecaller):
        def recall(self, texts, limit, filters):
            return super().recall(texts, 100, filters)

    pipeline = make_pipeline(Arm(filled.index("generous", recaller=Generous())), expanders=[Expanding(Variants())])
    result = search(pipeline, "alarm", candidate_k=2, sub_queries=("battery",))
    assert result.pool == 2
    # The third document holds the word alarm too, at a rank beyond the limit.
    assert {hit.document.id: [p.variant for p in hit.provenance] for hit in result.hits} == {
        "s:1": ["alarm"],
        "s:3": ["battery"],
    }


def test_an_index_that_is_behind_is_told(filled, pipeline, document):
    filled.commit(document(6, "alarm"), document(7, "alarm", project_id="s:q"), eager=False)
    (warning,) = search(pipeline, "alarm").warnings
    assert "index 'meaning' does not hold 2 documents" in warning
    (warning,) = search(pipeline, "alarm", project_ids=("s:q",)).warnings
    assert "does not hold 1 documents" in warning
    assert search(pipeline, "alarm", project_ids=("s:none",)).warnings == ()
    filled.level()
    assert search(pipeline, "alarm").warnings == ()


def test_an_index_in_memory_is_filled_by_the_first_search_and_kept_level(filled, make_pipeline, document):
    memory = MemoryRecaller()
    pipeline = make_pipeline(Arm(filled.index("memory", recaller=memory)))
    assert ids(search(pipeline, "library")) == ["s:3"]
    search(pipeline, "library")
    assert len(memory.applied) == 1
    filled.commit(document(3, "siren"), deleted=["s:1"])
    assert ids(search(pipeline, "library volume")) == []
    assert ids(search(pipeline, "siren")) == ["s:3"]


def test_an_index_in_memory_never_waits_for_a_writer(make_bench, make_pipeline, filled):
    """Its chunks exist already: nothing has to be written."""
    other = make_bench()
    pipeline = make_pipeline(Arm(filled.index("memory", recaller=MemoryRecaller())))
    with other.database.writing():
        assert ids(search(pipeline, "library")) == ["s:3"]


def test_the_piece_that_was_found_by_meaning_is_preferred_over_the_whole(filled, make_pipeline):
    whole = filled.index("whole", recaller=MemoryRecaller(), chunking="whole", chunker=Whole())
    # Of the third document the whole stands first in its arm, the piece third.
    result = search(make_pipeline(Arm(whole), Arm(filled.meaning)), "alarm alarm alarm library battery volume")
    (hit,) = [hit for hit in result.hits if hit.document.id == "s:3"]
    assert [p.rank for p in hit.provenance] == [1, 3]
    assert (hit.section, hit.text) == ("description", "alarm")


class Whole:
    """One piece per document."""

    def chunk(self, document, budget):
        from reqall import ChunkDraft

        return [ChunkDraft("", document.name, "\n".join(document.sections.values()))]


def test_a_query_that_cannot_be_stored_is_a_query_like_any_other(filled, pipeline):
    result = search(pipeline, "volume \ud800 \x00 P-1\x00")
    assert result.hits
    assert result.warnings == ()


def test_an_empty_catalog_answers_with_nothing(pipeline):
    result = search(pipeline, "P-1 alarm")
    assert (result.hits, result.pool, result.warnings) == ((), 0, ())
