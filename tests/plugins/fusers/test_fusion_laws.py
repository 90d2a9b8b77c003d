"""Laws that every built-in fuser keeps, and the two formulas by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reqall import DocumentRanking, Services
from reqall.plugins.fusers import register_fusers

REGISTRATIONS = {registration.name: registration for registration in register_fusers()}
IDS = [f"d{number}" for number in range(8)]

rankings = st.dictionaries(st.sampled_from(IDS), st.integers(-50, 50).map(float)).map(
    lambda scores: DocumentRanking.of(scores.items())
)
weighted = st.lists(st.tuples(rankings, st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])), max_size=6)
full = rankings.filter(len)


def build(name, **options):
    registration = REGISTRATIONS[name]
    return registration.build(registration.options(**options), Services())


def ranked(*pairs):
    return DocumentRanking.of(pairs)


def ids(ranking):
    return [document.document_id for document in ranking]


@pytest.fixture(params=list(REGISTRATIONS))
def fuse(request):
    return build(request.param).fuse


@given(weighted)
@pytest.mark.parametrize("name", list(REGISTRATIONS))
def test_all_documents_and_no_others_each_once(name, arms):
    fused = build(name).fuse([ranking for ranking, _ in arms], [weight for _, weight in arms])
    assert sorted(ids(fused)) == sorted({key for ranking, _ in arms for key in ids(ranking)})
    assert [document.rank for document in fused] == list(range(1, len(fused) + 1))


@given(weighted.flatmap(lambda arms: st.tuples(st.just(arms), st.permutations(arms))))
@pytest.mark.parametrize("name", list(REGISTRATIONS))
def test_the_order_of_the_rankings_means_nothing(name, both):
    first, second = (
        build(name).fuse([ranking for ranking, _ in arms], [weight for _, weight in arms]) for arms in both
    )
    assert first == second


@given(rankings, st.integers(1, 5), st.sampled_from([0.5, 1.0, 3.0]))
@pytest.mark.parametrize("name", list(REGISTRATIONS))
def test_identical_rankings_keep_their_order(name, ranking, times, weight):
    assert ids(build(name).fuse([ranking] * times, [weight] * times)) == ids(ranking)


@given(st.lists(full, min_size=1, max_size=5))
@pytest.mark.parametrize("name", list(REGISTRATIONS))
def test_what_is_first_everywhere_is_first(name, arms):
    raised = [DocumentRanking.of([("best", 99.0), *((d.document_id, d.score) for d in arm)]) for arm in arms]
    assert ids(build(name).fuse(raised, [1.0] * len(raised)))[0] == "best"


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


def test_convex_is_the_weighted_mean_of_normalised_scores():
    arms = [ranked(("a", 10.0), ("b", 5.0), ("c", 0.0)), ranked(("c", 0.3))]
    fused = build("convex").fuse(arms, [3.0, 1.0])
    assert {d.document_id: d.score for d in fused} == pytest.approx({"a": 0.75, "b": 0.375, "c": 0.25})


def test_convex_takes_equal_scores_for_one():
    fused = build("convex").fuse([ranked(("a", -4.0), ("b", -4.0))], [2.0])
    assert [document.score for document in fused] == [1.0, 1.0]


def test_k_begins_at_one():
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        build("rrf", k=0)
