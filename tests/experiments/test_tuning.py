"""A choice owes nothing to the queries that it is judged by."""

import pytest

from reqall.core.errors import InputError
from reqall.core.evaluation import Searched
from reqall.core.metrics import evaluate
from reqall.experiments.plan import Tune
from reqall.experiments.tuning import cross_validated

RIGHT, WRONG = ["a"], ["x"]


def searched(answers):
    return Searched(answers, tuple({"recall": 1.0} for _ in answers))


def test_the_best_on_all_queries_is_not_credited_with_the_queries_that_made_it_so(collection_of):
    """Each of n pipelines answers one query alone: with that query held out it is no better than the others."""
    queries = [f"q{n}" for n in range(5)]
    collection = collection_of("c", {key: ["a"] for key in queries})
    found = {f"p{n}": searched({q: RIGHT if q == f"q{n}" else WRONG for q in queries}) for n in range(5)}
    chosen, rows = cross_validated([collection], {"c": found}, Tune(5, "P@1"))
    assert evaluate(rows["c"].run, collection.qrels, ["P@1"]).means["P@1"] == 0
    assert len(chosen) == 5
    best = max(evaluate(each.run, collection.qrels, ["P@1"]).means["P@1"] for each in found.values())
    assert best == pytest.approx(0.2)


def test_a_pipeline_that_is_better_everywhere_is_chosen_everywhere(collection_of):
    queries = [f"q{n}" for n in range(12)]
    collections = [collection_of(name, {key: ["a"] for key in queries}) for name in ("c", "d")]
    found = {"bad": searched(dict.fromkeys(queries, WRONG)), "good": searched(dict.fromkeys(queries, RIGHT))}
    chosen, rows = cross_validated(collections, {"c": found, "d": found}, Tune(3, "MAP"))
    assert chosen == ("good",) * 3
    for collection in collections:
        assert rows[collection.name].run == found["good"].run
        assert len(rows[collection.name].timings) == 12


def test_the_answers_of_a_query_change_the_choice_of_other_folds_alone(collection_of):
    queries = [f"q{n}" for n in range(6)]
    collection = collection_of("c", {key: ["a"] for key in queries})
    steady = searched({q: RIGHT if q in ("q0", "q1") else WRONG for q in queries})
    for query in queries:
        alone = searched({q: RIGHT if q == query else WRONG for q in queries})
        all_but = searched({q: WRONG if q == query else RIGHT for q in queries})
        for other, expected in ((alone, "steady"), (all_but, "other")):
            chosen, rows = cross_validated([collection], {"c": {"steady": steady, "other": other}}, Tune(6, "P@1"))
            # Six folds of one query each: what this query's own fold chose is read off its row.
            assert expected in chosen
            assert rows["c"].run[query] == {"steady": steady, "other": other}[expected].run[query]


def test_queries_of_one_text_share_a_fold(collection_of):
    """Of pairs of equal queries none is left for the choice when the other is held out."""
    queries = {f"q{n}": f"text {n // 2}" for n in range(10)}
    collection = collection_of("c", {key: ["a"] for key in queries}, queries)
    found = {f"p{n}": searched({q: RIGHT if queries[q] == f"text {n}" else WRONG for q in queries}) for n in range(5)}
    _, rows = cross_validated([collection], {"c": found}, Tune(5, "P@1"))
    assert evaluate(rows["c"].run, collection.qrels, ["P@1"]).means["P@1"] == 0


def test_too_few_queries_are_told(collection_of):
    collection = collection_of("c", {"q1": ["a"], "q2": ["a"]}, {"q1": "same", "q2": "same"})
    with pytest.raises(InputError, match="1 different queries cannot be divided into 2 folds"):
        cross_validated([collection], {"c": {"p": searched({"q1": RIGHT, "q2": RIGHT})}}, Tune(2, "MAP"))
