"""Runs of other systems become rows; ours are written so that they come back."""

from pathlib import Path

import pytest

from reqall.core.collection import Collection, JudgedQuery
from reqall.core.errors import InputError
from reqall.core.trec import write_run
from reqall.experiments.plan import OtherRun
from reqall.experiments.runs import other_runs, save

RUNS = {"c": {"default": {"q1": ["a", "b"], "q2": []}, "grid[k=1/2]": {"q1": ["b"], "q2": ["c"]}}}


@pytest.fixture
def collection(collection_of):
    return collection_of("c", {"q1": ["a"], "q2": ["c"]})


def test_saved_runs_come_back_as_rows_with_the_same_scores(collection, report_of, tmp_path):
    report = report_of(RUNS, [collection])
    names = [file.name for file in save(report, tmp_path)]
    assert names == ["qrels.txt", "default.run", "grid[k=1_2].run"]
    assert (tmp_path / "c" / "qrels.txt").read_text(encoding="utf-8") == "q1 0 a 1\nq2 0 c 1\n"
    again = other_runs([OtherRun(tmp_path / "c" / name) for name in names[1:]], [collection], ["default"])
    assert {name: searched.run for name, searched in again["c"].items()} == {
        "default (default.run)": RUNS["c"]["default"],
        "grid[k=1/2]": RUNS["c"]["grid[k=1/2]"],
    }


def test_systems_whose_names_differ_in_signs_alone_have_a_file_each(collection, report_of, tmp_path):
    runs = {"c": {"default": {"q1": ["a"]}, "a/b": {"q1": ["a"]}, "a:b": {"q1": ["b"]}}}
    save(report_of(runs, [collection]), tmp_path / "new")
    assert sorted(file.name for file in (tmp_path / "new" / "c").iterdir()) == [
        "a_b-2.run", "a_b.run", "default.run", "qrels.txt",
    ]  # fmt: skip


def test_a_query_that_a_run_lacks_is_empty_and_its_own_document_is_dropped(tmp_path):
    queries = (JudgedQuery("q1", "one", frozenset(["own"])), JudgedQuery("q2", "two"))
    collection = Collection("c", queries, {"q1": {"a": 1}, "q2": {"b": 1}})
    write_run(tmp_path / "other.run", {"q1": ["own", "a"], "stranger": ["b"]}, "other")
    found = other_runs([OtherRun(tmp_path / "other.run")], [collection], [])
    assert found["c"]["other"].run == {"q1": ["a"], "q2": []}


def test_a_run_that_cannot_be_of_its_collection_is_told(collection, collection_of, tmp_path):
    write_run(tmp_path / "other.run", {"q1": ["a"]}, "other")
    file = tmp_path / "other.run"
    both = [collection, collection_of("d", {"q9": ["a"]})]
    for runs, told in (
        ([OtherRun(file)], "of which collection"),
        ([OtherRun(file, "cc")], "no collection 'cc' here; did you mean 'c'"),
        ([OtherRun(file, "d")], "none of its queries is one of d"),
        ([OtherRun(file, "c"), OtherRun(file, "c")], "a second run of 'other' on c"),
        ([OtherRun(Path("absent.run"), "c")], "no such file"),
    ):
        with pytest.raises(InputError) as caught:
            other_runs(runs, both, [])
        assert told in caught.value.message
