"""What each normalisation makes of scores, by hand; seen through CombSUM of one ranking, which adds nothing."""

import sys
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reqall import DocumentRanking

NAMES = ("min-max", "z-score", "theoretical", "distribution", "none")
LARGEST, SMALLEST = sys.float_info.max, 5e-324


@pytest.fixture(scope="session")
def normalised(build):
    """Normalise scores, by document: the first of them is `a`."""

    def call(normalise, *scores, **options):
        ranking = DocumentRanking.of(zip("abcdefghijklmnopqrstuvwxyz", scores, strict=False))
        fused = build("fuser", "combsum", normalise=normalise, **options).fuse([ranking], [1.0])
        return [fused.by_id[key].score for key in sorted(fused.by_id)]

    return call


@pytest.mark.parametrize(
    ("normalise", "scores", "expected"),
    [
        ("min-max", (10, 5, 0), [1, 0.5, 0]),
        ("min-max", (-1, -3, -5), [1, 0.5, 0]),
        ("min-max", (-4, -4), [1, 1]),
        ("z-score", (3, 1), [2, 0]),
        ("z-score", (10, 0, 0, 0, 0), [2.5, 0, 0, 0, 0]),
        ("z-score", (7,), [1]),
        ("theoretical", (20, 15, 5), [1, 0.75, 0.25]),
        ("theoretical", (1, 0.5, 0), [1, 0.75, 0.5]),
        ("theoretical", (0.6, -0.2), [1, 0.5]),
        ("theoretical", (1.0000001, 0), [1, 0.5]),
        ("theoretical", (3, -1), [1, 0]),
        ("theoretical", (5, 5), [1, 1]),
        ("theoretical", (-1, -1), [1, 1]),
        ("distribution", (3, 1), [4 / 6, 2 / 6]),
        ("distribution", (0, 0, 0), [0.5, 0.5, 0.5]),
        ("none", (3, 1), [3, 1]),
        ("none", (3, -1), [4, 0]),
    ],
)
def test_scores_become(normalised, normalise, scores, expected):
    assert normalised(normalise, *scores) == pytest.approx(expected)


def test_the_lower_bound_may_be_given(normalised):
    assert normalised("theoretical", 0.5, 0.25, lower_bound=0) == [1, 0.5]
    assert normalised("theoretical", 8, 3, lower_bound=-2) == [1, 0.5]


def test_a_lower_bound_above_a_score_gives_way(normalised):
    assert normalised("theoretical", 3, -1, lower_bound=0) == [1, 0]


def test_an_outlier_is_beyond_1_in_a_distribution_but_none_is_below_0(normalised):
    above = normalised("distribution", 100, *[0] * 20)
    assert above[0] == pytest.approx(0.5 + 20**0.5 / 6)
    below = normalised("distribution", *[100] * 20, 0)
    assert below[-1] == 0
    assert below[0] - below[-1] == pytest.approx(above[0] - above[1])


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=8, unique=True))
def test_mean_and_deviation_are_those_of_the_population(normalised, scores):
    mean, sigma = fmean(scores), pstdev(scores)
    assert normalised("z-score", *scores) == pytest.approx([(score - min(scores)) / sigma for score in scores])
    assert normalised("distribution", *scores) == pytest.approx([(s - mean + 3 * sigma) / 6 / sigma for s in scores])


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8), st.integers(-60, 60), st.integers(-100, 100))
@pytest.mark.parametrize("normalise", ["min-max", "z-score", "distribution"])
def test_scale_and_zero_of_a_ranking_mean_nothing(normalised, normalise, scores, power, offset):
    moved = [(score + offset) * 2.0**power for score in scores]
    assert normalised(normalise, *moved) == pytest.approx(normalised(normalise, *scores))


@pytest.mark.parametrize("normalise", NAMES)
@pytest.mark.parametrize(
    "scores",
    [
        (LARGEST, 0, -LARGEST),
        (1e308, 5e307, -1e308),
        (float("inf"), 0, float("-inf")),
        (3 * SMALLEST, 2 * SMALLEST, SMALLEST),
        (SMALLEST, 0, -SMALLEST),
        (1e-200, 5e-201, 0),
        (1e200, 5e199, 1),
        (1 + 2**-52, 1, 1 - 2**-53),
    ],
)
def test_extreme_scores_keep_their_order(normalised, normalise, scores):
    first, second, last = normalised(normalise, *scores)
    assert sys.float_info.max > first >= second >= last >= 0
    if normalise != "theoretical":  # seen from -1 the last of these cases are the same
        assert first > second > last


def test_a_lower_bound_is_for_the_theoretical_normalisation(build):
    with pytest.raises(ValidationError, match="lower_bound is read with `normalise: theoretical` only"):
        build("fuser", "convex", lower_bound=0)
    with pytest.raises(ValidationError, match="greater than or equal to -1000000"):
        build("fuser", "convex", normalise="theoretical", lower_bound=-1e7)
    with pytest.raises(ValidationError, match="min-max"):
        build("fuser", "combmnz", normalise="minmax")
