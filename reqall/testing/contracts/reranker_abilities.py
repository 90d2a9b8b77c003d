"""What a reranker keeps that judges passages one by one, or within a time."""

from math import isfinite

import pytest

from reqall import DocumentRanking, Reranker, SupportsDeadline, SupportsScores
from reqall.testing.contracts.reranker import PASSAGES, QUERY, RerankerSetting
from reqall.testing.contracts.wellformed import require_document_ranking


class ScoresContract(RerankerSetting):
    """Laws of `SupportsScores`. Override the fixture `reranker`."""

    def test_scores_are_those_of_the_order(self, reranker: Reranker) -> None:
        """One finite number per passage, each by itself, in the order of `rerank`; `identity` stays the same."""
        assert isinstance(reranker, SupportsScores), "the reranker does not score passages by themselves"
        identity = reranker.identity
        scores = [float(score) for score in reranker.score(QUERY, PASSAGES)]
        assert len(scores) == len(PASSAGES), f"{len(scores)} scores for {len(PASSAGES)} passages"
        assert all(map(isfinite, scores)), f"a score is not finite: {scores}"
        alone = [float(score) for passage in PASSAGES for score in reranker.score(QUERY, [passage])]
        assert scores == pytest.approx(alone, rel=1e-3, abs=1e-4), "a score depends on the other passages of its batch"
        ranked = DocumentRanking.of((p.document_id, score) for p, score in zip(PASSAGES, scores, strict=True))
        order = [each.document_id for each in reranker.rerank(QUERY, PASSAGES)]
        assert order == [each.document_id for each in ranked], "`rerank` orders otherwise than `score`"
        assert reranker.identity == identity, "its identity changes"
        assert reranker.batch_size >= 1, "its batch size is below 1"


class DeadlineContract(RerankerSetting):
    """Laws of `SupportsDeadline`. Override the fixture `reranker`."""

    def test_little_time_leaves_the_last_out(self, reranker: Reranker) -> None:
        """With a deadline it orders the first passages, as many as it can; with enough time all of them."""
        assert isinstance(reranker, SupportsDeadline), "the reranker has no method rerank_within"
        for seconds in (0.0, 3600.0):
            found = sorted(require_document_ranking(reranker.rerank_within(QUERY, PASSAGES, seconds)))
            first = sorted(passage.document_id for passage in PASSAGES[: len(found)])
            assert found == first, f"not the first passages: {found}"
        assert len(found) == len(PASSAGES), "an hour was not enough for three passages"
