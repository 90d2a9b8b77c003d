"""An experiment is run whole, goes on where it was interrupted, and searches anew what has changed."""

from dataclasses import replace

import pytest

from reqall.core.errors import InputError
from reqall.experiment import run
from reqall.experiments.plan import Plan, Tune


@pytest.fixture
def plan(lonely, doors):
    pipelines = {name: lonely.config.pipelines[name] for name in ("lexical", "bm25")}
    return Plan(pipelines, (doors,), metrics=("nDCG@10", "P@1"))


class Interruption:
    """Watches, and interrupts the pipeline of that number before its last query."""

    def __init__(self, number=0):
        self.number, self.searched = number, []

    def __call__(self, what, done, total):
        if "/" in what:
            self.searched.append(what)
            if f": {self.number}/" in what and done == total - 1:
                raise KeyboardInterrupt

    @property
    def pipelines(self):
        return {what.rpartition(" ")[2] for what in self.searched}


def test_pipelines_are_scored_and_compared(lonely, plan):
    report = run(lonely, plan, lambda *_: None)
    assert report.systems == ["lexical", "bm25"]
    assert report.baseline == "lexical"
    outcome = report.outcomes["doors"]["lexical"]
    assert outcome.scores.per_query["P@1"]["q3"] == 1.0
    assert set(report.comparisons["P@1"]["doors"]) == {"bm25"}
    assert outcome.searched.timings[0].keys() >= {"recall", "recall.words", "fuse", "present"}
    assert len(outcome.searched.timings) == 4


def test_an_interrupted_run_goes_on_with_what_is_left(lonely, plan):
    with pytest.raises(KeyboardInterrupt):
        run(lonely, plan, Interruption(2))
    rest = Interruption()
    resumed = run(lonely, plan, rest)
    assert rest.pipelines == {"bm25"}
    again = Interruption()
    assert run(lonely, plan, again).outcomes == resumed.outcomes
    assert again.pipelines == set()
    anew = Interruption()
    fresh = run(lonely, replace(plan, fresh=True), anew)
    assert anew.pipelines == {"lexical", "bm25"}
    for name in plan.pipelines:
        assert fresh.outcomes["doors"][name].searched.run == resumed.outcomes["doors"][name].searched.run


def test_a_collection_that_has_changed_is_searched_anew(lonely, plan, doors):
    before = run(lonely, plan, lambda *_: None)
    text = (doors / "corpus.jsonl").read_text(encoding="utf-8")
    (doors / "corpus.jsonl").write_text(text.replace("Brakes hold", "Horns and brakes hold"), encoding="utf-8")
    watch = Interruption()
    after = run(lonely, plan, watch)
    assert watch.pipelines == {"lexical", "bm25"}
    ranked = [report.outcomes["doors"]["bm25"].searched.run["q2"] for report in (before, after)]
    assert ranked[0] != ranked[1]


def test_a_result_is_shared_by_pipelines_that_differ_in_name_alone(lonely, plan):
    run(lonely, plan, lambda *_: None)
    watch = Interruption()
    report = run(lonely, replace(plan, pipelines={"other": plan.pipelines["bm25"]}), watch)
    assert watch.pipelines == set()
    assert report.systems == ["other"]


def test_the_depth_cuts_rankings(lonely, plan):
    report = run(lonely, replace(plan, depth=1), lambda *_: None)
    assert {len(ranked) for ranked in report.outcomes["doors"]["lexical"].searched.run.values()} == {1}


def test_tuning_adds_a_row_that_is_compared(lonely, plan):
    report = run(lonely, replace(plan, tune=Tune(2, "P@1")), lambda *_: None)
    assert report.systems == ["lexical", "bm25", report.tuned]
    assert set(report.chosen) <= set(plan.pipelines)
    assert len(report.chosen) == 2
    assert report.tuned in report.comparisons["P@1"]["doors"]


def test_what_cannot_be_run_is_told(lonely, plan, doors):
    twin = doors.parent / "other" / "doors"
    twin.parent.mkdir()
    doors.rename(twin)
    for changed, told in (
        (replace(plan, folders=()), "nothing to evaluate on"),
        (replace(plan, folders=(twin, twin)), "two collections are called 'doors'"),
        (replace(plan, pipelines={}), "no pipeline to evaluate"),
        (replace(plan, baseline="lexicl"), "'lexicl' is not evaluated; did you mean 'lexical'"),
        (replace(plan, metrics=("nDCG",)), "unknown metric 'nDCG'"),
        (replace(plan, folders=(twin,), tune=Tune(9, "MAP")), "4 different queries cannot be divided into 9 folds"),
    ):
        with pytest.raises(InputError) as caught:
            run(lonely, changed, lambda *_: None)
        assert told in caught.value.message
