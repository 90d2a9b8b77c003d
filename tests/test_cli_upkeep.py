"""The commands that look after the database, as a person and a script meet them."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, typer
from reqall import commands_check, commands_jobs, commands_upkeep
from reqall.core.errors import ReqallError
from reqall.invocation import give
cli = typer.Typer()
@cli.callback()
def options(config: str = "", db: str = "") -> None:
    give(config, db)
for commands in (commands_check, commands_jobs, commands_upkeep):
    commands.register(cli)
try:
    cli()
except ReqallError as error:
    sys.exit(f"error: {error}")
"""

ONLY_WORDS = """
version: 1
indexes: {words: {use: sqlite_fts5}}
pipelines: {default: {recall: [{index: words}]}}
"""


@pytest.fixture(scope="module")
def filled(home, tmp_path_factory):
    """A copy of the synced demo that these tests may change."""
    folder = tmp_path_factory.mktemp("upkeep")
    source = sqlite3.connect(home["JAMA_MCP_DB_PATH"])
    target = sqlite3.connect(folder / "catalog.db")
    source.backup(target)
    source.close()
    target.close()
    return folder / "catalog.db"


@pytest.fixture
def settings(home, filled, tmp_path):
    shutil.copy(filled, tmp_path / "catalog.db")
    return home | {"JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db"), "REQALL_HOME": str(tmp_path)}


@pytest.fixture
def command(settings):
    def run(*arguments, given=""):
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            env=settings,
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
        )

    return run


def damage(settings, statement):
    connection = sqlite3.connect(settings["JAMA_MCP_DB_PATH"])
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_verify_says_that_everything_agrees(command):
    done = command("check", "--deep", "AIP")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "everything agrees"
    answer = json.loads(command("check", "--deep", "AIP", "--json").stdout)
    assert answer["documents"] == 232
    assert {index["name"]: index["state"] for index in answer["indexes"]} == {
        "words": "level",
        "terms": "level",
        "meaning": "level",
        "memory": "level",
    }
    assert [finding for finding in answer["findings"] if finding["level"] == "problem"] == []
    assert list(answer["not_built"]) == ["openai"]


def test_verify_finds_and_repairs(command, settings):
    damage(settings, "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk ORDER BY id LIMIT 3)")
    found = command("check", "--deep", "AIP")
    assert found.returncode == 1
    assert "problem  " in found.stdout
    assert "--repair" in found.stdout.splitlines()[-1]
    assert command("check", "--deep", "AIP").returncode == 1  # looking mends nothing
    mended = command("check", "--deep", "AIP", "--repair", "--json")
    assert mended.returncode == 0, mended.stdout + mended.stderr
    answer = json.loads(mended.stdout)
    assert 0 <= answer["embedded"] <= 5
    assert command("check", "--deep", "AIP").returncode == 0


def test_forget_asks(command, settings):
    refused = command("forget", "ADS", given="n\n")
    assert refused.returncode == 1
    assert "Forget" in refused.stderr
    assert "documents?" in refused.stderr
    assert command("forget", "ADS").returncode == 1  # nobody answers
    done = command("forget", "ADS", given="y\n")
    assert (done.returncode, "forgotten" in done.stdout) == (0, True)
    assert command("forget", "ADS", "--yes").returncode == 1  # it is not there any more
    answer = json.loads(command("forget", "AIP", "--yes", "--json").stdout)
    assert (answer["documents"], answer["behind"]) == (232, [])
    connection = sqlite3.connect(settings["JAMA_MCP_DB_PATH"])
    for table in ("project", "document", "chunk", "link", "job"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    connection.close()


def test_gc_tells_then_does(command, settings, tmp_path):
    file = tmp_path / "words.yaml"
    file.write_text(ONLY_WORDS, encoding="utf-8")
    kept = json.loads(command("--config", str(file), "gc", "--json").stdout)
    assert {(each["index"], each["is_dropped"]) for each in kept["indexes"]} == {("meaning", False), ("terms", False)}
    assert "ago by" in kept["indexes"][0]["reason"]
    # As two weeks later: the notes of use are old.
    damage(settings, "UPDATE meta SET value = json_set(value, '$.time', 1.0) WHERE key LIKE 'used:%'")
    trial = command("--config", str(file), "gc", "--dry-run")
    assert "meaning" in trial.stdout
    assert "would be removed" in trial.stdout
    before = Path(settings["JAMA_MCP_DB_PATH"]).stat().st_size
    done = command("--config", str(file), "gc", "--vacuum")
    assert done.returncode == 0, done.stderr
    assert "would" not in done.stdout
    assert Path(settings["JAMA_MCP_DB_PATH"]).stat().st_size < before / 2
    again = json.loads(command("--config", str(file), "gc", "--json").stdout)
    assert (again["indexes"], again["chunks"], again["free_bytes"]) == ([], 0, 0)


def test_paths_open_nothing(command, settings, tmp_path):
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "cranfield-1.db").write_bytes(b"x" * 10)
    (tmp_path / "catalog.db.before-2").write_bytes(b"x" * 20)
    Path(settings["JAMA_MCP_DB_PATH"]).write_bytes(b"not a database")
    rows = {row["what"]: row for row in json.loads(command("paths", "--json").stdout)}
    assert rows["database"]["path"] == settings["JAMA_MCP_DB_PATH"]
    assert (rows["database"]["bytes"], rows["database"]["origin"]) == (14, "JAMA_MCP_DB_PATH from environment")
    assert rows["eval database"]["bytes"] == 10
    assert rows["copy"]["bytes"] == 20
    assert rows["settings"] == {"what": "settings", "path": str(tmp_path / ".env"), "origin": ".env", "bytes": None}
    assert rows["configuration"]["bytes"] > 1000
    assert rows["logs"]["path"] == "stderr"
    text = command("paths").stdout
    assert all(os.fspath(row["path"]) in text for row in rows.values())


@pytest.mark.parametrize("arguments", [("check", "--deep", "NONE"), ("forget", "NONE", "--yes")])
def test_a_project_that_is_not_there(command, arguments):
    done = command(*arguments)
    assert done.returncode == 1
    assert "is not initialised" in done.stderr
    assert "Traceback" not in done.stderr
