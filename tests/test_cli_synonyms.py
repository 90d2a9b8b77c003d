"""`reqall synonyms` prints what a project's items define, as a file that the expander reads; `check` names hosts."""

import json
import os
import subprocess
import sys

import pytest

from reqall.plugins.expanders.synonym_file import read_groups

CONFIG = """\
version: 1
sources: {notes: {use: jsonl, with: {path: ITEMS}}}
indexes: {words: {use: sqlite_fts5}}
pipelines:
  default:
    recall: [{index: words}]
    expand: [{use: sub_queries}, {use: synonyms, weight: 0.5}]
  asking:
    recall: [{index: words}]
    expand: [{use: hyde}, {use: multi_query}]
"""

ITEMS = [
    {"_id": "N-1", "title": "Reset", "text": "The Electronic Control Unit (ECU) restarts."},
    {"_id": "N-2", "title": "Power", "text": "The ECU (Electronic Control Unit) is powered by NO (on/off)."},
    {"_id": "N-3", "title": "Fault", "text": "A fault of the electronic control unit is stored."},
]


@pytest.fixture
def notes(tmp_path):
    """Run a command in a home in which the items are synced."""
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)) + "\n", encoding="utf-8")
    config = tmp_path / "notes.yaml"
    config.write_text(CONFIG.replace("ITEMS", json.dumps(str(tmp_path / "items.jsonl"))), encoding="utf-8")
    own = ("REQALL_", "JAMA_", "EMBEDDING_", "CHAT_")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    settings |= {"REQALL_HOME": str(tmp_path), "JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db")}

    def run(*arguments, **more):
        command = [sys.executable, "-m", "reqall", "--config", str(config), *arguments]
        return subprocess.run(
            command, env={**settings, **more}, capture_output=True, encoding="utf-8", timeout=100, check=False
        )

    done = run("sync", "items")
    assert done.returncode == 0, done.stderr
    return run


def test_what_is_printed_is_a_file_that_can_be_used(notes, tmp_path):
    printed = notes("synonyms", "items")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.splitlines()[1:] == ['"ECU": ["Electronic Control Unit"]  # 2']
    (tmp_path / "own.yaml").write_text(printed.stdout, encoding="utf-8")
    assert read_groups(tmp_path / "own.yaml") == [("ECU", "Electronic Control Unit")]
    record = json.loads(notes("synonyms", "items", "--json").stdout)
    means = [{"long": "Electronic Control Unit", "documents": 2}]
    assert record == [{"abbreviation": "ECU", "means": means}]


def test_an_abbreviation_finds_what_is_spelt_out(notes):
    answer = json.loads(notes("search", "fault of the ECU", "--project", "items", "--explain", "--json").stdout)
    assert answer["sub_queries_used"] == ["fault of the ECU", "fault of the ECU (Electronic Control Unit)"]
    found = {each["document_key"]: each["found_by"] for each in answer["hits"]}
    assert {(each["query"], each["weight"]) for each in found["N-3"]} == {
        ("fault of the ECU", 1.0),
        ("fault of the ECU (Electronic Control Unit)", 0.5),
    }
    told = notes("search", "fault of the ECU", "--project", "items", "--explain").stdout
    assert "weight 0.5 by: fault of the ECU (Electronic Control Unit)" in told


def test_a_check_names_the_host_that_query_texts_go_to(notes):
    settings = {"CHAT_API_KEY": "sk-secret", "CHAT_MODEL": "m", "CHAT_BASE_URL": "https://models.example/v1"}
    told = notes("check", REQALL_PIPELINE="asking", **settings).stdout
    assert "sends the texts of queries to models.example" in " ".join(told.split())
    assert "expander 'hyde'" in told
    assert "expander 'multi_query'" in told
    assert "sk-secret" not in told
    assert "models.example" not in notes("check").stdout
    told = notes("check", REQALL_PIPELINE="asking")
    assert told.returncode == 1
    assert "CHAT_API_KEY" in told.stdout
