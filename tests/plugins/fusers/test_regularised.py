"""The fuser that looks at neighbours: who stands among good candidates rises, who stands alone falls."""

import numpy as np  # noqa: TID253 - a test may
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import DocumentRanking
from reqall.plugins.fusers.convex import Convex
from reqall.plugins.fusers.normalisation import ScoreOptions, normalised
from reqall.plugins.fusers.regularised import Regularised, RegularisedOptions

KEYS = "abcdef"


def ranking(**scores):
    return DocumentRanking.of(scores.items())


def likeness_of(**groups):
    """Documents of one group are alike, others are not."""

    def likeness(document_ids):
        return np.array(
            [[float(groups.get(one) == groups.get(other)) for other in document_ids] for one in document_ids]
        )

    return likeness


def order(fused):
    return [each.document_id for each in fused]


def test_a_document_among_good_ones_passes_one_that_stands_alone():
    rankings = [ranking(a=10, b=9, lone=8.5, c=8, d=1)]
    fuser = Regularised(RegularisedOptions(neighbours=2))
    assert order(fuser.fuse(rankings, [1])) == ["a", "b", "lone", "c", "d"]
    alike = likeness_of(a=1, b=1, c=1, lone=2, d=2)
    assert order(fuser.fuse_alike(rankings, [1], alike)) == ["a", "b", "c", "lone", "d"]


def test_scores_are_mixed_as_the_options_say():
    rankings = [ranking(a=4, b=2, c=0)]
    fuser = Regularised(RegularisedOptions(normalise="none", share=0.5, neighbours=2))
    likeness = np.array([[1, 0.75, 0.25], [0.75, 1, -0.5], [0.25, -0.5, 1]])
    scores = {each.document_id: each.score for each in fuser.fuse_alike(rankings, [1], lambda _ids: likeness)}
    assert scores == pytest.approx({"a": 2 + 0.75, "b": 1 + 2, "c": 0 + 2})


def test_what_is_below_the_pool_keeps_its_score():
    rankings = [ranking(a=4, b=3, c=2, d=1)]
    fuser = Regularised(RegularisedOptions(normalise="none", pool=2, share=1))
    asked = []

    def likeness(document_ids):
        asked.extend(document_ids)
        return np.ones((2, 2))

    scores = {each.document_id: each.score for each in fuser.fuse_alike(rankings, [1], likeness)}
    assert (scores, asked) == ({"a": 3, "b": 4, "c": 2, "d": 1}, ["a", "b"])


def test_one_candidate_or_none_asks_for_no_likeness():
    fuser = Regularised(RegularisedOptions())
    assert order(fuser.fuse_alike([], [], likeness_of())) == []
    assert order(fuser.fuse_alike([ranking(a=1)], [1], lambda _ids: pytest.fail("asked"))) == ["a"]


SCORES = st.dictionaries(st.sampled_from(KEYS), st.floats(0, 100, allow_nan=False), max_size=len(KEYS))


@given(st.lists(SCORES, max_size=3), st.integers(1, 6), st.integers(1, 4))
def test_it_is_convex_where_nothing_is_alike_or_nothing_is_shared(found, pool, neighbours):
    rankings = [DocumentRanking.of(scores.items()) for scores in found]
    weights = [1.0] * len(rankings)
    convex = Convex(ScoreOptions(normalise="padded")).fuse(rankings, weights)
    apart = Regularised(RegularisedOptions(pool=pool, neighbours=neighbours))
    assert order(apart.fuse(rankings, weights)) == order(convex)
    assert order(apart.fuse_alike(rankings, weights, lambda ids: np.eye(len(ids)))) == order(convex)
    alone = Regularised(RegularisedOptions(pool=pool, neighbours=neighbours, share=0))
    assert order(alone.fuse_alike(rankings, weights, lambda ids: np.ones((len(ids), len(ids))))) == order(convex)


@given(st.lists(SCORES, min_size=1, max_size=3))
def test_scores_stay_between_those_that_they_are_mixed_of(found):
    rankings = [DocumentRanking.of(scores.items()) for scores in found]
    weights = [1.0] * len(rankings)
    fuser = Regularised(RegularisedOptions(share=0.7, neighbours=2))
    before = [each.score for each in fuser.fuse(rankings, weights)]
    after = fuser.fuse_alike(rankings, weights, lambda ids: np.ones((len(ids), len(ids))))
    assert len(after) == len(before)
    assert all(min(before) - 1e-9 <= each.score <= max(before) + 1e-9 for each in after)


def test_padded_the_last_of_a_short_ranking_still_counts():
    """Three documents hold the words: the third is no chance hit, though it is the last."""
    short = DocumentRanking.of([("a", 8.0), ("b", 6.0), ("c", 5.0)])
    long = DocumentRanking.of([(f"d{number}", 1 - number / 100) for number in range(20)])
    first, second = (dict(each) for each in normalised([short, long], ScoreOptions(normalise="padded")))
    assert first["a"] / first["c"] == pytest.approx(8 / 5)
    assert first["c"] > 1
    assert second == pytest.approx(normalised_alone(long))
    assert list(first) == ["a", "b", "c"]


def test_padded_a_ranking_with_negative_scores_is_not_filled_up():
    below = DocumentRanking.of([("a", 0.5), ("b", -0.5)])
    long = DocumentRanking.of([(f"d{number}", 1 - number / 100) for number in range(20)])
    assert dict(normalised([below, long], ScoreOptions(normalise="padded"))[0]) == normalised_alone(below)


def normalised_alone(ranking):
    return dict(normalised([ranking], ScoreOptions(normalise="z-score"))[0])
