"""Values, comparisons and latencies of a report, as values, in JSON and in a terminal."""

import json
from io import StringIO

import pytest
from rich.console import Console

from reqall.experiments.latency import TOTAL, latencies
from reqall.experiments.records import record
from reqall.experiments.report import MEAN
from reqall.experiments.tables import tables

ANSWERS = {f"q{n}": ["a"] for n in range(1, 5)}
GOOD, BAD = {key: ["a"] for key in ANSWERS}, {key: ["x", "a"] for key in ANSWERS}


@pytest.fixture
def report(collection_of, report_of):
    collections = [collection_of("one", ANSWERS), collection_of("two", ANSWERS)]
    runs = {
        "one": {"default": BAD, "better": GOOD, "once": GOOD},
        "two": {"default": BAD, "better": {**BAD, "q1": ["a"], "q2": ["x"]}},
    }
    return report_of(runs, collections, metrics=("P@1", "microF1@1"), tuned="better", chosen=("a", "a", "b"))


def test_a_system_that_ran_on_some_collections_has_no_mean(report):
    assert report.places == ["one", "two", MEAN]
    assert report.systems == ["default", "better", "once"]
    assert report.systems_at(MEAN) == ["default", "better"]
    assert report.value(MEAN, "better", "P@1") == pytest.approx((1 + 0.25) / 2)


def test_comparisons_are_with_the_baseline_at_each_place(report):
    found = report.comparisons["P@1"]
    assert set(found["one"]) == {"better", "once"}
    assert set(found[MEAN]) == {"better"}
    assert (found[MEAN]["better"].wins, found[MEAN]["better"].ties) == (5, 3)
    assert found[MEAN]["better"].difference == pytest.approx(0.625)
    assert found["one"]["better"].adjusted == pytest.approx(2 * found["one"]["better"].p)


def test_one_collection_has_no_mean(collection_of, report_of):
    report = report_of({"one": {"default": BAD}}, [collection_of("one", ANSWERS)])
    assert report.places == ["one"]
    assert report.comparisons["MAP"]["one"] == {}


def test_json_holds_values_comparisons_queries_and_choices(report):
    found = json.loads(json.dumps(record(report)))
    assert list(found) == ["one", "two", "mean"]
    better = found["two"]["better"]
    assert better["P@1"] == 0.25
    assert better["per_query"]["P@1"] == {"q1": 1.0, "q2": 0.0, "q3": 0.0, "q4": 0.0}
    assert better["against_baseline"]["P@1"].keys() == {
        "difference", "low", "high", "p", "adjusted", "wins", "ties", "losses",
    }  # fmt: skip
    assert better["chosen"] == ["a", "a", "b"]
    assert "against_baseline" not in found["two"]["default"]
    assert "per_query" not in found["mean"]["better"]


def test_latency_leaves_out_the_first_search_of_each_collection(report):
    # Searches 2, 3 and 4 of each collection took as many ms in recall, and 1 ms in fusion.
    found = latencies(report, "default")
    assert (found["recall"].p50, found["recall"].p95) == (3.0, 4.0)
    assert (found["recall.words"].p50, found[TOTAL].p50, found[TOTAL].p95) == (1.5, 4.0, 5.0)
    assert record(report)["one"]["default"]["latency_ms"]["recall"] == {"p50": 3.0, "p95": 4.0}


def test_the_terminal_shows_each_value_and_comparison(report):
    console = Console(file=StringIO(), width=200)
    for table in tables(report):
        console.print(table)
    text = console.file.getvalue()
    assert "0.6250" in text
    assert "+0.6250" in text
    assert "5/3/0" in text
    assert "folds 1 to 2: a" in text
    assert "fold 3: b" in text
    assert text.count("better") >= 4


def test_square_brackets_in_names_are_no_styles(collection_of, report_of):
    report = report_of({"c": {"default": BAD, "g[red]": GOOD}}, [collection_of("c", ANSWERS)])
    console = Console(file=StringIO(), width=200)
    for table in tables(report):
        console.print(table)
    assert console.file.getvalue().count("g[red]") == 2
