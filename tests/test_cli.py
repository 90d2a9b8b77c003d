"""The command line as a person and a script meet it: answers, JSON shapes, exit codes, messages."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reqall.testing.jama_simulator import JamaSimulator, tiny_project


def refused(process, *parts: str) -> str:
    """Exit code 1 with one message on stderr that holds these parts, nothing on stdout, no traceback."""
    assert process.returncode == 1, process.stdout + process.stderr
    assert process.stdout == ""
    assert "Traceback" not in process.stderr
    errors = [line for line in process.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, process.stderr
    for part in parts:
        assert part in process.stderr
    return process.stderr


def test_search_prints_json_alone(reqall):
    process = reqall("search", "occlusion alarm time", "--project", "AIP", "--top-k", "3", "--json")
    assert process.returncode == 0, process.stderr
    answer = json.loads(process.stdout)
    assert len(answer["hits"]) == 3
    assert {"sub_queries_used", "warnings", "timings"} <= answer.keys()
    assert {
        "document_key",
        "name",
        "item_type_name",
        "section",
        "modified_date",
        "text",
        "score",
        "strategy",
    } <= answer["hits"][0].keys()
    assert answer["hits"][0]["strategy"] == "regularised"
    assert answer["hits"][0]["modified_date"].endswith("Z")


def test_search_is_readable_and_explains(reqall):
    process = reqall("search", "AIP-SYSR-10", "--project", "51", "--explain", "--item-type", "System Requirement")
    assert process.returncode == 0, process.stderr
    assert "AIP-SYSR-10" in process.stdout.splitlines()[0]
    assert "exact" in process.stdout.splitlines()[0]
    assert "words #1" in process.stdout


def test_export_writes_a_line_per_document(reqall):
    process = reqall("export", "Asteria Infusion Pump")
    assert process.returncode == 0, process.stderr
    records = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(records) == 232
    keys = {"id", "key", "name", "type", "status", "sections", "parent", "modified", "links"}
    assert all(keys <= record.keys() for record in records)
    assert sum(len(record["links"]) for record in records) > 100
    assert any("中" in json.dumps(record, ensure_ascii=False) for record in records)


def test_sync_prints_the_finished_job(jama, tmp_path, empty_home):
    with JamaSimulator(project=tiny_project(requirements=7)) as small:
        settings = empty_home | {
            "JAMA_URL": small.url,
            "JAMA_CLIENT_ID": small.client_id,
            "JAMA_CLIENT_SECRET": small.client_secret,
        }
        project = next(p for p in tiny_project()["projects"] if not p.get("isFolder"))["projectKey"]
        command = [sys.executable, "-m", "reqall", "sync", project, "--json"]
        process = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=100)
        assert process.returncode == 0, process.stderr
        job = json.loads(process.stdout)
        assert (job["status"], job["phase"], job["error"]) == ("DONE", "done", "")
        assert job["embedded"] > 0
        assert small.writes == []


def test_plugins_and_check_list_what_is_there(reqall):
    listed = json.loads(reqall("plugins", "--json").stdout)
    assert {"minilm", "sqlite_fts5", "rrf", "jama"} <= {component["name"] for component in listed["components"]}
    assert listed["left_out"] == []
    process = reqall("check", "--live")
    assert process.returncode == 0, process.stdout
    assert "answers" in process.stdout
    assert "***" in process.stdout


def test_usage_errors_have_code_2(reqall):
    for arguments in (
        ["search", "no project given"],
        ["sync"],
        ["nonsense"],
        ["search", "x", "-p", "AIP", "--top-k", "many"],
    ):
        process = reqall(*arguments)
        assert process.returncode == 2
        assert "Traceback" not in process.stderr


def test_an_unknown_project_is_named(reqall):
    refused(reqall("search", "alarm", "-p", "APP"), "'APP'", "did you mean 'AIP'")
    refused(reqall("sync", "NOPE"), "'NOPE'", "51 AIP")
    refused(reqall("export", "NOPE"), "'NOPE'")


@pytest.mark.parametrize(
    ("query", "part"), [("", "empty"), ("   ", "empty"), ("?! … --", "no word"), ("word " * 2000, "10000 characters")]
)
def test_a_query_that_cannot_be_searched_with(reqall, query, part):
    refused(reqall("search", query, "-p", "AIP", "--json"), part)


def test_limits_name_both_numbers(reqall):
    refused(reqall("search", "alarm", "-p", "AIP", "--top-k", "40", "--candidate-k", "30"), "40", "30")
    refused(reqall("search", "alarm", "-p", "AIP", "--top-k", "51"), "51", "1 to 50")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"JAMA_CLIENT_SECRET": "not-the-secret"}, ["JAMA_CLIENT_SECRET"]),
        ({"JAMA_URL": "http://127.0.0.1:9"}, ["JAMA_URL", "127.0.0.1"]),
        ({"JAMA_URL": "http://no-such-host.invalid"}, ["JAMA_URL", "no-such-host.invalid"]),
        ({"JAMA_URL": "jama.example.com"}, ["http"]),
        ({"JAMA_URL": ""}, ["JAMA_URL is not set"]),
    ],
)
def test_a_source_that_cannot_be_used(reqall, changes, parts):
    told = refused(reqall("sync", "AIP", **changes), *parts)
    assert "not-the-secret" not in told


def test_a_url_that_is_not_jama(reqall, jama):
    refused(reqall("sync", "AIP", JAMA_URL=f"{jama.url}/elsewhere"), "JAMA_URL")


def test_three_mistakes_of_a_file_are_told_in_one_go(reqall, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "version: 1\n"
        "indexes:\n"
        "  words: {use: sqlite_fts}\n"
        "pipelines:\n"
        "  default:\n"
        "    recall: [{index: word}]\n"
        "    topk: 5\n",
        encoding="utf-8",
    )
    told = refused(reqall("--config", str(file), "search", "x", "-p", "AIP"))
    assert f"{file}:3:16: no recaller named 'sqlite_fts'; did you mean 'sqlite_fts5'?" in told
    assert f"{file}:6:22: no index 'word' in this file; did you mean 'words'?" in told
    assert f"{file}:7:5: unknown key 'topk'; did you mean 'top_k'?" in told


def test_a_database_that_cannot_be_opened(reqall, tmp_path):
    (tmp_path / "file").write_text("no folder")
    refused(
        reqall("--db", str(tmp_path / "file" / "catalog.db"), "search", "x", "-p", "AIP"),
        "catalog.db",
        "JAMA_MCP_DB_PATH",
    )
    (tmp_path / "other.db").write_text("not a database, but long enough to be read as a header of one" * 20)
    refused(reqall("--db", str(tmp_path / "other.db"), "search", "x", "-p", "AIP"), "other.db")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_read_only_folder(home, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    command = [sys.executable, "-m", "reqall", "--db", str(folder / "catalog.db"), "search", "x", "-p", "AIP"]
    if os.geteuid() == 0:  # root may write anywhere, unless that capability is taken away
        if shutil.which("setpriv") is None:
            pytest.skip("root without setpriv")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    refused(
        subprocess.run(command, env=home, capture_output=True, text=True, check=False, timeout=60),
        "catalog.db",
        "writable",
    )


def test_the_schema_is_json(reqall):
    assert json.loads(reqall("schema").stdout)["properties"]["pipelines"]


def test_eval_prints_metrics_per_collection_and_pipeline(reqall, tmp_path):
    folder = tmp_path / "doors"
    folder.mkdir()
    texts = {
        "d1": "The door shall lock above walking speed.",
        "d2": "The horn shall sound at 105 dB.",
        "d3": "Seats fold flat.",
    }
    write_lines(folder / "corpus.jsonl", [{"_id": key, "title": "", "text": text} for key, text in texts.items()])
    write_lines(
        folder / "queries.jsonl",
        [{"_id": "q1", "text": "locking of doors"}, {"_id": "q2", "text": "loudness of the horn"}],
    )
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n", encoding="utf-8")
    process = reqall(
        "eval", str(folder), "--pipeline", "default,lexical,vector,bm25", "--json", REQALL_HOME=str(tmp_path)
    )
    assert process.returncode == 0, process.stderr
    scores = json.loads(process.stdout)
    assert scores.keys() == {"doors"}
    assert scores["doors"].keys() == {"default", "lexical", "vector", "bm25"}
    assert scores["doors"]["default"]["nDCG@10"] == 1.0
    assert {"Recall@5", "Recall@10", "Recall@50", "MAP"} <= scores["doors"]["lexical"].keys()
    refused(reqall("eval", str(tmp_path / "absent"), "--json"), "absent")


def write_lines(path: Path, records: list[dict]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom reqall.cli import cli\nfrom typer.main import get_command\nget_command(cli)\n"
        "print([m for m in ('torch', 'transformers', 'llama_index', 'openai', 'onnxruntime',"
        " 'apscheduler', 'numpy', 'mcp', 'bs4') if m in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert process.stdout.strip() == "[]"
