"""What every reranker keeps. Models may be slow: the laws take a dozen calls of few passages."""

from collections.abc import Sequence
from math import isfinite

import pytest

from reqall import DocumentRanking, Passage, Reranker, SupportsDeadline, SupportsScores
from reqall.testing.contracts.threads import in_threads
from reqall.testing.contracts.wellformed import require_document_ranking
from reqall.testing.strategies import BLANK_TEXTS, ODD_TEXTS

_QUERY = "how is the volume synchronised?"
_PASSAGES = (
    Passage("s:1", "Volume sync\nThe volume of all speakers shall be the same."),
    Passage("s:2", "Door\nThe door closes when the train starts to move."),
    Passage("s:3", "Login\nThe user is logged out after ten minutes without input."),
)


class RerankerContract:
    """Laws of a `Reranker`. Override the fixture `reranker`."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Return the reranker under test."""
        raise NotImplementedError("override the fixture `reranker` in your test class")

    def test_it_orders_its_passages_and_nothing_else(self, reranker: Reranker) -> None:
        """A permutation: every document once, scores finite."""
        _require_permutation(reranker, _QUERY, _PASSAGES)

    def test_no_passages_no_ranking(self, reranker: Reranker) -> None:
        """Nothing found is nothing to order."""
        assert require_document_ranking(reranker.rerank(_QUERY, [])) == [], "documents came out of no passages"

    def test_one_passage_stays(self, reranker: Reranker) -> None:
        """A single passage is a ranking of one."""
        _require_permutation(reranker, _QUERY, _PASSAGES[:1])

    def test_equal_texts_stay_apart(self, reranker: Reranker) -> None:
        """Two documents of one text are two documents."""
        _require_permutation(reranker, _QUERY, [Passage(f"s:{number}", "The same text.") for number in range(4)])

    def test_odd_passages_are_no_error(self, reranker: Reranker) -> None:
        """Blank, very long, in other scripts: a passage holds whatever a document holds."""
        texts = [text for text in (*BLANK_TEXTS, *ODD_TEXTS) if "\ud800" not in text]
        _require_permutation(reranker, _QUERY, [Passage(f"s:{number}", text) for number, text in enumerate(texts)])

    @pytest.mark.parametrize(
        "query", ["", "\x00", "用户登录超时 🎉", "volume " * 3000], ids=["blank", "nul", "cjk", "long"]
    )
    def test_odd_queries_are_no_error(self, reranker: Reranker, query: str) -> None:
        """A query holds whatever a user sends."""
        _require_permutation(reranker, query, _PASSAGES[:2])

    def test_scores_are_those_of_the_order(self, reranker: Reranker) -> None:
        """One finite number per passage, each by itself, in the order of `rerank`; `identity` stays the same."""
        if not isinstance(reranker, SupportsScores):
            pytest.skip("it does not score passages by themselves")
        identity = reranker.identity
        scores = [float(score) for score in reranker.score(_QUERY, _PASSAGES)]
        assert len(scores) == len(_PASSAGES), f"{len(scores)} scores for {len(_PASSAGES)} passages"
        assert all(map(isfinite, scores)), f"a score is not finite: {scores}"
        alone = [float(score) for passage in _PASSAGES for score in reranker.score(_QUERY, [passage])]
        assert scores == pytest.approx(alone, rel=1e-3, abs=1e-4), "a score depends on the other passages of its batch"
        ranked = DocumentRanking.of((p.document_id, score) for p, score in zip(_PASSAGES, scores, strict=True))
        order = [each.document_id for each in reranker.rerank(_QUERY, _PASSAGES)]
        assert order == [each.document_id for each in ranked], "`rerank` orders otherwise than `score`"
        assert reranker.identity == identity, "its identity changes"
        assert reranker.batch_size >= 1, "its batch size is below 1"

    def test_little_time_leaves_the_last_out(self, reranker: Reranker) -> None:
        """With a deadline it orders the first passages, as many as it can; with enough time all of them."""
        if not isinstance(reranker, SupportsDeadline):
            pytest.skip("it knows no deadline")
        for seconds in (0.0, 3600.0):
            found = sorted(require_document_ranking(reranker.rerank_within(_QUERY, _PASSAGES, seconds)))
            first = sorted(passage.document_id for passage in _PASSAGES[: len(found)])
            assert found == first, f"not the first passages: {found}"
        assert len(found) == len(_PASSAGES), "an hour was not enough for three passages"

    def test_threads_get_permutations(self, reranker: Reranker) -> None:
        """Searches of one server run in several threads."""
        in_threads(lambda: _require_permutation(reranker, _QUERY, _PASSAGES))


def _require_permutation(reranker: Reranker, query: str, passages: Sequence[Passage]) -> None:
    found = sorted(require_document_ranking(reranker.rerank(query, passages)))
    given = sorted(passage.document_id for passage in passages)
    assert found == given, f"not a permutation of the passages: {given} went in, {found} came out"
