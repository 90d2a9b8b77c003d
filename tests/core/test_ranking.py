"""Laws of rankings: order, uniqueness, ranks, ties, and what collapse keeps."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.errors import PluginError
from reqall.core.ranking import ChunkRanking, DocumentRanking, RankedChunk, RankedDocument

# Few ids and few scores, so that repetitions and ties are common.
documents = st.sampled_from([f"s:{letter}" for letter in "abcdefgh"])
scores = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 1e308, math.inf, -math.inf]) | st.floats(allow_nan=False)
document_scores = st.lists(st.tuples(documents, scores))
chunk_ids = st.integers(1, 30)
chunk_scores = st.lists(st.tuples(chunk_ids, scores)).map(
    # A chunk belongs to one document.
    lambda found: [(chunk, f"s:{chunk % 7}", score) for chunk, score in found]
)


def test_documents_by_hand():
    ranking = DocumentRanking.of([("b", 1), ("a", 1), ("c", 3), ("b", 2), ("c", 0)])
    assert list(ranking) == [RankedDocument("c", 3, 1), RankedDocument("b", 2, 2), RankedDocument("a", 1, 3)]


def test_chunks_by_hand():
    ranking = ChunkRanking.of([(3, "a", 1), (1, "b", 1), (2, "a", 1), (4, "c", 2), (4, "c", 1)])
    assert list(ranking) == [
        RankedChunk(4, "c", 2, 1),
        RankedChunk(2, "a", 1, 2),
        RankedChunk(3, "a", 1, 3),
        RankedChunk(1, "b", 1, 4),
    ]
    assert ranking.best_chunks == {"c": 4, "a": 2, "b": 1}
    assert ranking.limit_documents(2).best_chunks == {"c": 4, "a": 2}


def test_nothing_is_a_ranking_too():
    assert len(DocumentRanking.of([])) == len(ChunkRanking.of([])) == 0
    assert ChunkRanking().collapse() == DocumentRanking() == DocumentRanking.of([])
    assert ChunkRanking().limit_documents(3) == ChunkRanking()


@given(document_scores)
def test_documents_are_in_order_unique_and_counted_from_one(given_scores):
    ranking = DocumentRanking.of(given_scores)
    order = [(-ranked.score, ranked.document_id) for ranked in ranking]
    assert order == sorted(order)
    assert [ranked.rank for ranked in ranking] == list(range(1, len(ranking) + 1))
    assert len({ranked.document_id for ranked in ranking}) == len(ranking)
    best = {}
    for document_id, score in given_scores:
        best[document_id] = max(score, best.get(document_id, -math.inf))
    assert {ranked.document_id: ranked.score for ranked in ranking} == best


@given(chunk_scores)
def test_chunks_are_in_order_unique_and_counted_from_one(given_scores):
    ranking = ChunkRanking.of(given_scores)
    order = [(-ranked.score, ranked.document_id, ranked.chunk_id) for ranked in ranking]
    assert order == sorted(order)
    assert [ranked.rank for ranked in ranking] == list(range(1, len(ranking) + 1))
    best = {}
    for chunk_id, _, score in given_scores:
        best[chunk_id] = max(score, best.get(chunk_id, -math.inf))
    assert {ranked.chunk_id: ranked.score for ranked in ranking} == best


@given(document_scores, st.randoms(use_true_random=False))
def test_the_order_of_input_means_nothing(given_scores, random):
    shuffled = random.sample(given_scores, len(given_scores))
    assert DocumentRanking.of(shuffled) == DocumentRanking.of(given_scores)


@given(chunk_scores, st.randoms(use_true_random=False))
def test_the_order_of_chunks_means_nothing(given_scores, random):
    shuffled = random.sample(given_scores, len(given_scores))
    assert ChunkRanking.of(shuffled) == ChunkRanking.of(given_scores)


@given(document_scores)
def test_ranking_a_ranking_changes_nothing(given_scores):
    ranking = DocumentRanking.of(given_scores)
    assert DocumentRanking.of((ranked.document_id, ranked.score) for ranked in ranking) == ranking


@given(chunk_scores)
def test_collapse_keeps_each_document_at_its_best_chunk(given_scores):
    chunks = ChunkRanking.of(given_scores)
    collapsed = chunks.collapse()
    best = {}
    for ranked in chunks:
        best[ranked.document_id] = max(ranked.score, best.get(ranked.document_id, -math.inf))
    assert {ranked.document_id: ranked.score for ranked in collapsed} == best
    assert [ranked.document_id for ranked in collapsed] == list(chunks.best_chunks)
    by_id = {ranked.chunk_id: ranked for ranked in chunks}
    for document_id, chunk_id in chunks.best_chunks.items():
        assert by_id[chunk_id].document_id == document_id
        assert by_id[chunk_id].score == best[document_id]


@given(chunk_scores, st.integers(0, 9))
def test_a_limit_counts_documents_and_keeps_all_their_chunks(given_scores, limit):
    chunks = ChunkRanking.of(given_scores)
    kept = chunks.limit_documents(limit)
    assert kept.collapse() == chunks.collapse().top(limit)
    names = {ranked.document_id for ranked in kept}
    assert {ranked.chunk_id for ranked in kept} == {c.chunk_id for c in chunks if c.document_id in names}
    assert [ranked.rank for ranked in kept] == list(range(1, len(kept) + 1))


@given(document_scores, st.integers(0, 9))
def test_the_top_is_a_prefix(given_scores, limit):
    ranking = DocumentRanking.of(given_scores)
    assert list(ranking.top(limit)) == list(ranking)[:limit]


@given(document_scores)
def test_a_document_is_found_by_its_id(given_scores):
    ranking = DocumentRanking.of(given_scores)
    assert list(ranking.by_id.values()) == list(ranking)
    assert all(ranking.by_id[ranked.document_id] is ranked for ranked in ranking)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_score_that_is_no_number_is_refused(place):
    """NaN compares with nothing, so that a sort would put the others in an arbitrary order."""
    numbers = [1.0, 2.0]
    numbers.insert(place, math.nan)
    with pytest.raises(PluginError, match="NaN"):
        DocumentRanking.of((str(number), number) for number in numbers)
    with pytest.raises(PluginError, match="NaN"):
        ChunkRanking.of((chunk, str(number), number) for chunk, number in enumerate(numbers))
