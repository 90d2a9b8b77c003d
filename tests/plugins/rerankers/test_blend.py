"""The reranker `blend`: a mix of both orders whose shares depend on the place, over any other reranker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import DocumentRanking, Passage
from reqall.plugins.rerankers.blend import Blend, BlendOptions
from reqall.testing.contracts.examples import examples

PASSAGES = [Passage(f"s:{number:02}", "text") for number in range(20)]


class Saying:
    """Scores by place, as it is told."""

    def __init__(self, score, parts=None):
        self.score, self.parts = score, parts

    def rerank(self, query, passages):
        return DocumentRanking.of(((p.document_id, self.score(n)) for n, p in enumerate(passages)), self.parts)


class Hasty(Saying):
    """Reads four passages, whatever the time."""

    def rerank_within(self, query, passages, seconds):
        assert seconds == 7
        return self.rerank(query, passages[:4])


def ids(ranking):
    return [ranked.document_id for ranked in ranking]


def blend(score, inner=Saying, **shares):
    return Blend(BlendOptions(**shares), inner(score))


@pytest.mark.parametrize(("share", "is_reversed"), [(0, False), (1, True)])
def test_a_share_of_none_keeps_the_order_and_all_takes_the_others(share, is_reversed):
    ranking = blend(float, top=share, middle=share, rest=share).rerank("q", PASSAGES)
    assert ids(ranking) == sorted((p.document_id for p in PASSAGES), reverse=is_reversed)


def test_the_first_keep_their_place_more_than_the_last():
    """A reranker that would turn the order round."""
    order = ids(blend(float).rerank("q", PASSAGES))
    assert order[0] == "s:00"
    assert order.index("s:19") < order.index("s:11")


@pytest.mark.parametrize(("rank", "share"), [(1, "top"), (3, "top"), (4, "middle"), (10, "middle"), (11, "rest")])
def test_shares_hold_from_place_to_place(rank, share):
    """Only where the share is all of the score does the reranker decide."""
    shares = {"top": 0.0, "middle": 0.0, "rest": 0.0} | {share: 1.0}
    ranking = blend(lambda n: 1.0 - n / 100, **shares).rerank("q", PASSAGES)
    assert ranking.parts[f"s:{rank - 1:02}"]["fused"] == 0


@given(st.lists(st.floats(-1e6, 1e6), max_size=20))
@examples(60)
def test_a_score_is_the_sum_of_place_and_reranker(scores):
    ranking = blend(scores.__getitem__).rerank("q", PASSAGES[: len(scores)])
    assert sorted(ids(ranking)) == [p.document_id for p in PASSAGES[: len(scores)]]
    for ranked in ranking:
        parts = ranking.parts[ranked.document_id]
        assert ranked.score == pytest.approx(parts["fused"] + parts["reranked"])
        assert 0 <= ranked.score <= 1 + 1e-9


def test_parts_of_the_other_reranker_are_told():
    told = {p.document_id: {"yes": 0.5} for p in PASSAGES}
    ranking = Blend(BlendOptions(), Saying(float, told)).rerank("q", PASSAGES)
    assert ranking.parts["s:03"]["reranked.yes"] == 0.5


def test_a_deadline_is_handed_on():
    ranking = blend(float, Hasty, top=1, middle=1).rerank_within("q", PASSAGES, 7)
    assert ids(ranking) == ["s:03", "s:02", "s:01", "s:00"]


def test_without_a_deadline_all_is_read():
    assert len(blend(float).rerank_within("q", PASSAGES, 7)) == len(PASSAGES)
