"""`reqall eval` as a user runs it."""

import json
import os

import pytest

TEXTS = {"d1": "The door shall lock above walking speed.", "d2": "The horn shall sound.", "d3": "Seats fold flat."}


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def doors(tmp_path):
    folder = tmp_path / "doors"
    folder.mkdir()
    write_lines(folder / "corpus.jsonl", [{"_id": key, "title": "", "text": text} for key, text in TEXTS.items()])
    write_lines(
        folder / "queries.jsonl", [{"_id": "q1", "text": "lock of doors"}, {"_id": "q2", "text": "sound of the horn"}]
    )
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n", encoding="utf-8")
    return folder


@pytest.fixture
def evaluate(reqall, tmp_path):
    def run(*arguments, **changes):
        return reqall("eval", *map(str, arguments), REQALL_HOME=str(tmp_path / "home"), **changes)

    return run


def test_an_experiment_file_gives_table_report_and_run_files(evaluate, doors, tmp_path):
    file = tmp_path / "grid.yaml"
    file.write_text(
        "collections: [doors]\nmetrics: [nDCG@10, microF1@4]\npipelines:\n  lexical: {}\n"
        "  grid: {base: lexical, vary: {fuse.with.k: [10, 60]}}\ntune: {folds: 2}\n",
        encoding="utf-8",
    )
    html, runs = tmp_path / "report.html", tmp_path / "runs"
    done = evaluate("--experiment", file, "--html", html, "--save", runs)
    assert done.returncode == 0, done.stderr
    for part in ("grid[fuse.with.k=10]", "microF1@4", "w/t/l", "ms p50/p95", "tuned(nDCG@10,2 folds)"):
        assert part in done.stdout
    assert html.read_text(encoding="utf-8").count("<svg") >= 3
    assert (runs / "doors" / "lexical.run").is_file()
    again = evaluate(doors, "--pipeline", "lexical", "--run", runs / "doors" / "lexical.run", "--json")
    assert again.returncode == 0, again.stderr
    rows = json.loads(again.stdout)["doors"]
    assert rows["lexical (lexical.run)"]["nDCG@10"] == rows["lexical"]["nDCG@10"] == 1.0
    assert rows["lexical (lexical.run)"]["latency_ms"] == {}


def test_json_is_alone_on_stdout_and_compares_with_the_baseline(evaluate, doors):
    done = evaluate(doors, "--pipeline", "lexical", "--baseline", "bm25", "-m", "MAP", "-m", "P@1", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["doors"]
    assert list(rows["lexical"]["against_baseline"]) == ["MAP", "P@1"]
    assert "against_baseline" not in rows["bm25"]


def test_trace_links_of_a_synced_project_are_judgements(reqall, home, tmp_path):
    done = reqall(
        "eval", "--from-links", "AIP", "--from-type", "Stakeholder Requirement", "--to-type", "System Requirement",
        "--pipeline", "lexical", "--json", REQALL_HOME=str(tmp_path), JAMA_MCP_DB_PATH=home["JAMA_MCP_DB_PATH"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 0.3 < json.loads(done.stdout)["AIP"]["lexical"]["nDCG@10"] < 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pipeline", "lexcal"], "did you mean 'lexical'"),
        (["--baseline", "lexcal"], "'lexcal' is not evaluated"),
        ([], "nothing to evaluate on"),
        (["--to-type", "X"], "--from-links"),
        (["--experiment", "absent.yaml"], "no such file"),
        (["--from-links", "NOPE"], "not initialised"),
    ],
)
def test_wrong_usage_is_told_in_one_message(evaluate, arguments, told):
    done = evaluate(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_report_that_cannot_be_written_is_told(evaluate, doors, tmp_path):
    done = evaluate(doors, "--pipeline", "lexical", "--html", tmp_path / "absent" / "report.html")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


@pytest.mark.skipif("REQALL_BENCH" not in os.environ, reason="REQALL_BENCH names no folder of collections")
def test_known_figures_of_two_small_collections(evaluate):
    """The README of the collections has BM25 with other stop words and stems: ours must be near."""
    folder = os.environ["REQALL_BENCH"]
    done = evaluate(f"{folder}/cm1-nasa", f"{folder}/gannt", "--pipeline", "lexical", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    expected = {"cm1-nasa": (0.745, 0.683, 0.481), "gannt": (0.625, 0.553, 0.441)}
    for name, values in expected.items():
        row = found[name]["lexical"]
        assert [row[metric] for metric in ("nDCG@10", "MAP", "microF1@4")] == [
            pytest.approx(value, abs=0.1) for value in values
        ]


@pytest.mark.skipif("REQALL_BENCH" not in os.environ, reason="REQALL_BENCH names no folder of collections")
def test_the_default_stays_above_floors_and_above_its_legs(evaluate):
    """Floors are some .02 below what was measured; `make bench-quality` has all figures."""
    floors = {"cm1-nasa": 0.78, "gannt": 0.61, "modis": 0.61, "strictdoc-l1-l2": 0.63}
    folders = [f"{os.environ['REQALL_BENCH']}/{name}" for name in floors]
    done = evaluate(*folders, "--pipeline", "default,lexical,terms,vector", "-m", "nDCG@10", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {
        name: found[name]["default"]["nDCG@10"] for name in floors if found[name]["default"]["nDCG@10"] < floors[name]
    } == {}
    means = {name: row["nDCG@10"] for name, row in found["mean"].items()}
    assert means.pop("default") > max(means.values())
