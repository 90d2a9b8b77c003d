"""Laws that every built-in fuser keeps with every normalisation, and the formulas by hand."""

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from reqall import DocumentRanking, Services
from reqall.plugins.fusers import register_fusers

REGISTRATIONS = {registration.name: registration for registration in register_fusers()}
NORMALISATIONS = ("min-max", "z-score", "theoretical", "distribution", "none")
VARIANTS = [
    *((name, {}) for name in ("rrf", "isr", "borda", "dbsf", "combsum")),
    *((name, {"normalise": normalise}) for name in ("convex", "combmnz") for normalise in NORMALISATIONS),
]
IDS = [f"d{number}" for number in range(8)]

scores = st.one_of(st.integers(-50, 50).map(float), st.floats(allow_nan=False))
rankings = st.dictionaries(st.sampled_from(IDS), scores).map(lambda found: DocumentRanking.of(found.items()))
weights = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(min_value=0, allow_infinity=False))
every = pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join([variant[0], *variant[1].values()]))


def build(name, **options):
    registration = REGISTRATIONS[name]
    return registration.build(registration.options(**options), Services())


def fused(variant, arms):
    name, options = variant
    return build(name, **options).fuse([ranking for ranking, _ in arms], [weight for _, weight in arms])


def is_ahead(better, worse):
    """Tell whether a ranking has one document before another, or lacks that other."""
    return worse is None or (better is not None and better.rank < worse.rank)


def ranked(*pairs):
    return DocumentRanking.of(pairs)


def ids(ranking):
    return [document.document_id for document in ranking]


@pytest.fixture(params=list(REGISTRATIONS))
def fuse(request):
    return build(request.param).fuse


@settings(max_examples=60)
@given(st.lists(st.tuples(rankings, weights), max_size=5), st.randoms(use_true_random=False))
@every
def test_whatever_the_numbers(variant, arms, random):
    """All documents come out; none falls behind one that it leads in every ranking; the order of arms means nothing."""
    found = fused(variant, arms)
    assert sorted(ids(found)) == sorted({key for ranking, _ in arms for key in ids(ranking)})
    assert all(0 <= document.score < math.inf for document in found)
    assert fused(variant, random.sample(arms, len(arms))) == found
    for better, worse in permutations(ids(found), 2):
        if all(is_ahead(ranking.by_id.get(better), ranking.by_id.get(worse)) for ranking, _ in arms):
            assert found.by_id[better].score >= found.by_id[worse].score


@pytest.mark.parametrize("weight", [5e-324, 1e-200, 1e200, 1.7e308])
def test_only_proportions_of_weights_count(fuse, weight):
    arms = [ranked(("a", 3.0), ("b", 2.0), ("c", 1.0)), ranked(("a", 2.0), ("c", 1.5), ("d", 1.0))]
    assert ids(fuse([*arms, arms[0]], [weight] * 3)) == ids(fuse([*arms, arms[0]], [1.0] * 3))


def test_nothing_fused_is_nothing(fuse):
    assert len(fuse([], [])) == 0
    assert len(fuse([DocumentRanking(), DocumentRanking()], [1.0, 2.0])) == 0


def test_weights_decide(fuse):
    first, second = ranked(("a", 2.0), ("b", 1.0)), ranked(("b", 2.0), ("a", 1.0))
    assert ids(fuse([first, second], [1.0, 2.0])) == ["b", "a"]
    assert ids(fuse([first, second], [2.0, 1.0])) == ["a", "b"]


def test_weight_zero_adds_nothing_yet_keeps_the_documents(fuse):
    fused = fuse([ranked(("a", 2.0), ("b", 1.0)), ranked(("c", 9.0), ("b", 8.0))], [1.0, 0.0])
    assert ids(fused) == (["a", "b", "c"])
    assert fused.by_id["c"].score == 0
    assert len(fuse([ranked(("c", 9.0))], [0.0])) == 1


def test_one_weight_per_ranking(fuse):
    with pytest.raises(ValueError, match="zip"):
        fuse([ranked(("a", 1.0))], [1.0, 1.0])


def test_rrf_is_the_papers_formula():
    fused = build("rrf", k=10).fuse([ranked(("a", 9.0), ("b", 5.0)), ranked(("b", 0.1))], [1.0, 0.5])
    assert fused.by_id["a"].score == pytest.approx(1 / 11)
    assert fused.by_id["b"].score == pytest.approx(1 / 12 + 0.5 / 11)
    assert build("rrf").fuse([ranked(("a", 1.0))], [1.0]).by_id["a"].score == pytest.approx(1 / 61)


def test_isr_is_the_papers_formula():
    arms = [ranked(("a", 9.0), ("b", 5.0)), ranked(("c", 0.2), ("b", 0.1)), ranked(("b", 3.0))]
    found = build("isr").fuse(arms, [1.0, 0.5, 0.0])
    assert {d.document_id: d.score for d in found} == pytest.approx({"a": 1, "b": 2 * (1 / 4 + 0.5 / 4), "c": 0.5})


def test_borda_shares_the_points_that_are_left():
    arms = [ranked(("a", 9.0), ("b", 5.0)), ranked(("c", 0.2)), ranked(("x", 1.0), ("c", 0.5))]
    found = build("borda").fuse(arms, [1.0, 2.0, 0.0])
    assert {d.document_id: d.score for d in found} == {"a": 3 + 2 * 1.5, "b": 2 + 2 * 1.5, "c": 1 + 2 * 3, "x": 0}


def test_convex_is_the_weighted_mean_of_normalised_scores():
    arms = [ranked(("a", 10.0), ("b", 5.0), ("c", 0.0)), ranked(("c", 0.3))]
    fused = build("convex").fuse(arms, [3.0, 1.0])
    assert {d.document_id: d.score for d in fused} == pytest.approx({"a": 0.75, "b": 0.375, "c": 0.25})


def test_convex_takes_equal_scores_for_one():
    fused = build("convex").fuse([ranked(("a", -4.0), ("b", -4.0))], [2.0])
    assert [document.score for document in fused] == [1.0, 1.0]


def test_combsum_and_combmnz_are_the_papers_formulas():
    arms = [ranked(("a", 10.0), ("b", 5.0), ("c", 0.0)), ranked(("b", 0.3), ("c", 0.2), ("d", 0.1))]
    for normalise, score in (("min-max", 2.5), ("none", 15.3)):
        summed = build("combsum", normalise=normalise).fuse(arms, [3.0, 1.0]).by_id
        times = build("combmnz", normalise=normalise).fuse(arms, [3.0, 1.0]).by_id
        assert summed["b"].score == pytest.approx(score)
        assert {key: times[key].score for key in "abcd"} == pytest.approx(
            {"a": summed["a"].score, "b": 2 * summed["b"].score, "c": 2 * summed["c"].score, "d": summed["d"].score}
        )


def test_dbsf_is_the_sum_of_places_in_distributions():
    found = build("dbsf").fuse([ranked(("a", 3.0), ("b", 1.0)), ranked(("b", 7.0))], [1.0, 2.0])
    assert {d.document_id: d.score for d in found} == pytest.approx({"a": 4 / 6, "b": 2 / 6 + 2 * 0.5})


@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_convex_is_combsum_divided_by_the_weights(normalise):
    arms = [ranked(("a", 10.0), ("b", 6.0), ("c", 0.0)), ranked(("c", 0.3), ("d", 0.2), ("b", -0.1))]
    mean, summed = (build(name, normalise=normalise).fuse(arms, [3.0, 2.0]) for name in ("convex", "combsum"))
    assert ids(mean) == ids(summed)
    assert [5 * document.score for document in mean] == pytest.approx([document.score for document in summed])


def test_k_begins_at_one_and_ends_where_ranks_would_be_the_same():
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        build("rrf", k=0)
    with pytest.raises(ValidationError, match="less than or equal to 1000000"):
        build("rrf", k=10**16)
