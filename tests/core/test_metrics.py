"""Metrics against hand-worked values, against trec_eval (through ir_measures), and by invariants."""

import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall.core.errors import InputError
from reqall.core.metrics import DEFAULT, evaluate, parse

REFERENCE = {
    "nDCG@10": "nDCG@10",
    "nDCG@3": "nDCG@3",
    "Recall@5": "R@5",
    "Recall@10": "R@10",
    "Recall@50": "R@50",
    "MAP": "AP",
    "MRR": "RR",
    "P@1": "P@1",
    "P@7": "P@7",
}

with warnings.catch_warnings():
    # ir_measures reads its version through pkg_resources, or names of measures by deprecated parts of ast.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    import ir_measures

    MEASURES = [ir_measures.parse_measure(name) for name in REFERENCE.values()]

DOCUMENTS = [f"d{n}" for n in range(60)]
runs = st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), st.lists(st.sampled_from(DOCUMENTS), unique=True))
grades = st.integers(-1, 4)
judgements = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q5"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), grades, max_size=30),
    min_size=1,
).filter(lambda qrels: any(grade > 0 for judged in qrels.values() for grade in judged.values()))


def value(metric, ranked, judged):
    return evaluate({"q": ranked}, {"q": judged}, [metric]).means[metric]


@given(runs, judgements)
@settings(max_examples=300, deadline=None)
def test_every_metric_equals_trec_eval(run, qrels):
    scores = evaluate(run, qrels, list(REFERENCE))
    expected = {
        (str(metric.measure), metric.query_id): metric.value
        for metric in ir_measures.iter_calc(
            MEASURES,
            [ir_measures.Qrel(q, d, grade) for q, judged in qrels.items() for d, grade in judged.items()],
            # trec_eval sorts by score, so the order of the list is given as strictly falling scores.
            [ir_measures.ScoredDoc(q, d, 1000.0 - n) for q, ranked in run.items() for n, d in enumerate(ranked)],
        )
    }
    judged_queries = {q for q, judged in qrels.items() if any(grade > 0 for grade in judged.values())}
    for ours, theirs in REFERENCE.items():
        assert set(scores.per_query[ours]) == judged_queries
        for query in judged_queries:
            # The reference may leave out a query that the run lacks; it counts as 0 here.
            assert scores.per_query[ours][query] == pytest.approx(expected.get((theirs, query), 0.0), abs=1e-9)
        mean = sum(scores.per_query[ours].values()) / len(judged_queries)
        assert scores.means[ours] == pytest.approx(mean)


@given(st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=2), judgements, st.data())
def test_a_better_document_one_place_higher_never_lowers_a_metric(ranked, qrels, data):
    judged = next(judged for judged in qrels.values() if any(grade > 0 for grade in judged.values()))
    place = data.draw(st.integers(1, len(ranked) - 1))
    before, after = ranked[place - 1], ranked[place]
    if max(judged.get(after, 0), 0) < max(judged.get(before, 0), 0):
        before, after = after, before
    worse, better = list(ranked), list(ranked)
    worse[place - 1 : place + 1] = [before, after]
    better[place - 1 : place + 1] = [after, before]
    for metric in REFERENCE:
        assert 0 <= value(metric, worse, judged) <= value(metric, better, judged) + 1e-12 <= 1 + 2e-12


@given(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 4), min_size=1, max_size=50))
def test_the_ideal_order_scores_one(judged):
    ideal = sorted(judged, key=lambda document: -judged[document])
    for metric in ("nDCG@10", "nDCG@1000", "Recall@50", "MAP", "MRR", "P@1"):
        assert value(metric, ideal, judged) == pytest.approx(1.0)


def test_ndcg_worked_by_hand():
    # Gains 0, 3, 1 at ranks 1 to 3; the ideal is 3, 2, 1: one relevant document was not found.
    judged = {"b": 3, "c": 1, "missed": 2}
    found = 3 / math.log2(3) + 1 / math.log2(4)
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert value("nDCG@10", ["a", "b", "c"], judged) == pytest.approx(found / ideal)
    assert value("nDCG@1", ["c", "b"], judged) == pytest.approx(1 / 3)


def test_ndcg_measures_against_all_that_is_relevant_even_if_little_was_returned():
    assert value("nDCG@10", ["a"], {"a": 1, "b": 1, "c": 1}) < 0.5


def test_average_precision_worked_by_hand():
    # Found at ranks 1 and 4 of three relevant: (1/1 + 2/4 + 0) / 3.
    assert value("MAP", ["a", "x", "y", "b"], {"a": 1, "b": 1, "c": 1}) == pytest.approx(0.5)


def test_average_precision_counts_the_whole_list():
    ranked = [f"x{n}" for n in range(1999)] + ["a"]
    assert value("MAP", ranked, {"a": 1}) == pytest.approx(1 / 2000)
    assert value("MRR", ranked, {"a": 1}) == pytest.approx(1 / 2000)


def test_recall_precision_and_reciprocal_rank_worked_by_hand():
    judged = {"a": 1, "b": 2, "c": 1, "d": 0, "e": -1}
    ranked = ["d", "a", "e", "b"]
    assert value("Recall@2", ranked, judged) == pytest.approx(1 / 3)
    assert value("Recall@100", ranked, judged) == pytest.approx(2 / 3)
    assert value("P@1", ranked, judged) == 0
    assert value("P@10", ranked, judged) == pytest.approx(2 / 10)
    assert value("MRR", ranked, judged) == pytest.approx(1 / 2)


def test_a_query_without_results_counts_as_zero_and_one_without_relevant_documents_not_at_all():
    qrels = {"hit": {"a": 1}, "empty": {"a": 1}, "missing": {"a": 1}, "unjudged": {"a": 0}, "bare": {}}
    scores = evaluate({"hit": ["a"], "empty": [], "unjudged": ["a"], "stranger": ["a"]}, qrels)
    assert set(scores.per_query) == set(scores.means) == set(DEFAULT)
    for metric in set(DEFAULT) - {"microF1@4"}:
        assert scores.per_query[metric] == {"hit": 1.0, "empty": 0.0, "missing": 0.0}
        assert scores.means[metric] == pytest.approx(1 / 3)


def test_judgements_without_any_relevant_document_are_refused():
    with pytest.raises(InputError, match="none of the 1 judged queries"):
        evaluate({"q": ["a"]}, {"q": {"a": 0}})


def test_a_repeated_document_is_refused():
    with pytest.raises(InputError, match="twice for query 'q7'"):
        evaluate({"q7": ["a", "b", "a"]}, {"q7": {"a": 1}})


@pytest.mark.parametrize(
    "name", ["nDCG", "ndcg@10", "Recall@0", "Recall@-1", "Recall@five", "Recall@1.5", "MAP@", "F1", ""]
)
def test_an_unknown_metric_names_those_that_are_known(name):
    with pytest.raises(InputError) as caught:
        parse(name)
    assert repr(name) in caught.value.message
    for known in ("nDCG@<k>", "Recall@<k>", "P@<k>", "microF1@<k>", "MAP", "MRR"):
        assert known in caught.value.remedy


def test_a_metric_keeps_its_name_and_any_cut_is_understood():
    assert parse("Recall@100").name == "Recall@100"
    assert parse("Recall@100").part([0] * 99 + [1, 1], [1, 1]) == (0.5, 1)


@given(runs, judgements, st.integers(1, 12))
def test_micro_metrics_count_all_queries_together(run, qrels, cut):
    relevant = {(q, d) for q, judged in qrels.items() for d, grade in judged.items() if grade > 0}
    queries = {q for q, _ in relevant}
    returned = {(q, d) for q, ranked in run.items() if q in queries for d in ranked[:cut]}
    precision = len(relevant & returned) / len(returned) if returned else 0.0
    recall = len(relevant & returned) / len(relevant)
    both = precision + recall
    expected = {"microP": precision, "microR": recall, "microF1": 2 * precision * recall / both if both else 0.0}
    scores = evaluate(run, qrels, [f"{name}@{cut}" for name in expected])
    assert scores.means == {f"{name}@{cut}": pytest.approx(value) for name, value in expected.items()}


def test_micro_f1_worked_by_hand():
    # Four results each: 2 of 3 and 0 of 1 relevant ones found; a third query without hits has 2 relevant ones.
    qrels = {"q1": dict.fromkeys("abc", 1), "q2": {"z": 1}, "q3": {"y": 1, "x": 2}}
    run = {"q1": ["a", "k", "b", "l", "c"], "q2": ["k", "l", "m", "n", "z"]}
    assert evaluate(run, qrels, ["microP@4", "microR@4", "microF1@4"]).means == {
        "microP@4": pytest.approx(2 / 8),
        "microR@4": pytest.approx(2 / 6),
        "microF1@4": pytest.approx(2 * 2 / (8 + 6)),
    }
