"""The tutorial on recallers, followed to its end: its laws hold, its pipeline finds what it says."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial-write-a-recaller.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    return [text for found, text in BLOCK.findall(PAGE) if found == language]


@pytest.fixture
def folder(tmp_path):
    """What the reader has saved, installed as pip would leave it."""
    for text in blocks("python"):
        if name := re.match(r"# (\w+\.py)\n", text):
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
    (tmp_path / "parts.jsonl").write_text(blocks("text")[0], encoding="utf-8")
    (tmp_path / "trigrams.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    project = tomllib.loads(blocks("toml")[0])["project"]
    info = tmp_path / "reqall_trigrams-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = "".join(f"{key} = {value}\n" for key, value in project["entry-points"]["reqall"].items())
    (info / "entry_points.txt").write_text(f"[reqall]\n{points}")
    return tmp_path


def run(folder, *arguments):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "REQALL_"))}
    env = {**kept, "PYTHONPATH": str(folder), "REQALL_STRICT_PLUGINS": "1", "REQALL_HOME": str(folder)}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", timeout=100)


def test_its_code_is_as_short_as_it_says(folder):
    lines = [line for file in folder.glob("*.py") for line in file.read_text(encoding="utf-8").splitlines()]
    assert 60 < len(lines) < 80


def test_its_laws_hold(folder):
    done = run(folder, "pytest", "-q", "-W", "error", "-p", "no:cacheprovider")
    assert re.search(r"\d\d passed", done.stdout), done.stdout


@pytest.mark.parametrize(
    ("sound", "broken", "law"),
    [
        (" if meets(entry.facets, filters)]", "]", "test_filters_come_before_ranking"),
        (
            "[self._ranking(trigrams(text), kept).limit_documents(limit) for text in texts]",
            "[ChunkRanking(self._ranking(trigrams(text), kept).chunks[:limit]) for text in texts]",
            "test_the_limit_counts_documents",
        ),
    ],
)
def test_a_change_that_it_proposes_breaks_a_law(folder, sound, broken, law):
    module = folder / "reqall_trigrams.py"
    text = module.read_text(encoding="utf-8")
    assert sound in text
    module.write_text(text.replace(sound, broken), encoding="utf-8")
    done = run(folder, "pytest", "-q", "-p", "no:cacheprovider", "-k", law)
    assert f"FAILED test_reqall_trigrams.py::TestTrigrams::{law}" in done.stdout


def test_its_pipeline_finds_what_the_index_of_words_does_not(folder):
    command = ("reqall", "--config", "trigrams.yaml", "--db", "trigrams.db")
    assert "2 changed" in run(folder, *command, "sync", "parts").stdout
    search = ("search", "brke presure", "--project", "parts")
    assert "nothing found" in run(folder, *command, *search, "--pipeline", "words_alone").stdout
    found = run(folder, *command, *search, "--explain").stdout
    (shown,) = [text for text in blocks("text") if "explain" not in text and "shapes #1" in text]
    assert found.startswith(shown), found
