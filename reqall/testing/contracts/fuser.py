"""What every fuser keeps."""

from collections.abc import Sequence
from math import isclose
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import DocumentRanking, Fuser
from reqall.testing.contracts.examples import examples
from reqall.testing.contracts.threads import in_threads
from reqall.testing.contracts.wellformed import require_document_ranking
from reqall.testing.strategies import document_rankings

Arms: TypeAlias = Sequence[tuple[DocumentRanking, float]]
"""Rankings and their weights."""

_WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 3.0])
_ARMS: st.SearchStrategy[Arms] = st.lists(st.tuples(document_rankings(), _WEIGHTS), max_size=6)


class FuserContract:
    """Laws of a `Fuser`. Override the fixture `fuser`."""

    @pytest.fixture
    def fuser(self) -> Fuser:
        """Return the fuser under test."""
        raise NotImplementedError("override the fixture `fuser` in your test class")

    def test_nothing_fused_is_nothing(self, fuser: Fuser) -> None:
        """No rankings, or empty ones, give an empty ranking."""
        for rankings in ([], [DocumentRanking()], [DocumentRanking(), DocumentRanking()]):
            ids = require_document_ranking(fuser.fuse(rankings, [1.0] * len(rankings)))
            assert ids == [], f"{len(rankings)} empty rankings gave documents: {ids}"

    @examples(100)
    @given(arms=_ARMS)
    def test_it_invents_nothing_and_repeats_nothing(self, fuser: Fuser, arms: Arms) -> None:
        """What comes out is a ranking of documents that went in."""
        known = {document.document_id for ranking, _ in arms for document in ranking}
        invented = set(_fused(fuser, arms)) - known
        assert not invented, f"the fuser invented documents that no ranking holds: {sorted(invented)}"

    @examples(60)
    @given(ranking=document_rankings(), weight=_WEIGHTS)
    def test_one_ranking_keeps_its_order(self, fuser: Fuser, ranking: DocumentRanking, weight: float) -> None:
        """A single ranking comes out as it went in."""
        assert _fused(fuser, [(ranking, weight)]) == _ids(ranking), "one ranking alone did not keep its order"

    @examples(60)
    @given(ranking=document_rankings(), weights=st.lists(_WEIGHTS, min_size=2, max_size=5))
    def test_identical_rankings_keep_their_order(
        self, fuser: Fuser, ranking: DocumentRanking, weights: list[float]
    ) -> None:
        """Where all agree there is nothing to decide."""
        fused = _fused(fuser, [(ranking, weight) for weight in weights])
        assert fused == _ids(ranking), "rankings that are all the same did not keep their order"

    @examples(100)
    @given(both=_ARMS.flatmap(lambda arms: st.tuples(st.just(arms), st.permutations(arms))))
    def test_the_order_of_the_rankings_means_nothing(self, fuser: Fuser, both: tuple[Arms, Arms]) -> None:
        """Rankings are a set with weights, not a list."""
        first, second = (fuser.fuse([ranking for ranking, _ in arms], [weight for _, weight in arms]) for arms in both)
        assert _ids(first) == _ids(second), (
            "the order in which the rankings were given decided the outcome; add scores with math.fsum, so that "
            "rounding breaks no tie"
        )
        assert all(isclose(one.score, two.score, abs_tol=1e-9) for one, two in zip(first, second, strict=True)), (
            "the order in which the rankings were given changed the scores"
        )

    @examples(60)
    @given(arms=st.lists(st.tuples(document_rankings(min_size=1), _WEIGHTS), min_size=1, max_size=5))
    def test_a_document_first_everywhere_is_first(self, fuser: Fuser, arms: Arms) -> None:
        """What every ranking puts first, the fused ranking puts first."""
        raised = [
            (DocumentRanking.of([("best", 10.0**6), *((d.document_id, d.score) for d in ranking)]), weight)
            for ranking, weight in arms
        ]
        fused = _fused(fuser, raised)
        assert fused[:1] == ["best"], f"a document that is first in all rankings came out behind {fused[:1]}"

    @examples(100)
    @given(arms=_ARMS.filter(len), muted=st.lists(document_rankings(tuple("abcd1234")), min_size=1, max_size=3))
    def test_a_ranking_of_weight_0_moves_nothing(self, fuser: Fuser, arms: Arms, muted: list[DocumentRanking]) -> None:
        """It may add documents, but none of a better score than those of the other rankings, whose order stays."""
        alone = _fused(fuser, arms)
        together = fuser.fuse([r for r, _ in arms] + muted, [weight for _, weight in arms] + [0.0] * len(muted))
        kept = [document_id for document_id in require_document_ranking(together) if document_id in alone]
        assert kept == alone, "a ranking of weight 0 changed the order of what the others found"
        added = [document.score for document in together if document.document_id not in alone]
        lowest = min((together.by_id[document_id].score for document_id in kept), default=max(added, default=0.0))
        assert max(added, default=lowest) <= lowest, (
            "a document that only a ranking of weight 0 holds got a better score than one that others found"
        )

    def test_only_rankings_of_weight_0_are_no_error(self, fuser: Fuser) -> None:
        """All weights may be 0: a sum of weights must not be divided by unseen."""
        ids = _fused(fuser, [(DocumentRanking.of([("a", 2.0), ("b", 1.0)]), 0.0)])
        assert set(ids) <= {"a", "b"}, f"the fuser invented documents: {ids}"

    def test_threads_get_the_same(self, fuser: Fuser) -> None:
        """Searches of one server run in several threads."""
        first, second = DocumentRanking.of([("a", 3.0), ("b", 2.0)]), DocumentRanking.of([("b", 9.0), ("c", 1.0)])
        alone = fuser.fuse([first, second], [1.0, 2.0])
        got = in_threads(lambda: fuser.fuse([first, second], [1.0, 2.0]))
        assert all(each == alone for each in got), "four threads that fuse at once got different rankings"


def _fused(fuser: Fuser, arms: Arms) -> list[str]:
    return require_document_ranking(fuser.fuse([ranking for ranking, _ in arms], [weight for _, weight in arms]))


def _ids(ranking: DocumentRanking) -> list[str]:
    return [document.document_id for document in ranking]
