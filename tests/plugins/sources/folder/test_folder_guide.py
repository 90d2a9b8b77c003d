"""The guide to the source: its files are written, its commands run, and they print what it says."""

import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[4] / "docs" / "how-to" / "search-a-folder.md"
FENCE = re.compile(r"(?P<before>[^\n]*)\n\n```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SCORE = re.compile(r"0\.\d+")


@pytest.fixture
def steps():
    walk = GUIDE.read_text(encoding="utf-8").partition("## What becomes a document")[0]
    return [(match["before"], match["language"], match["body"]) for match in FENCE.finditer(walk)]


def test_the_guide_prints_what_it_says(steps, tmp_path):
    written = [(before, body) for before, language, body in steps if language in ("markdown", "sdoc", "yaml")]
    files = {re.search(r"`([\w/.]+\.\w+)`", before)[1]: body for before, body in written}
    assert set(files) == {"car/needs/stopping.md", "car/system.sdoc", "car/tests.md", "car.yaml"}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    foreign = ("REQALL_", "JAMA_", "EMBEDDING_")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    settings |= {"REQALL_HOME": str(tmp_path), "JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db"), "COLUMNS": "200"}
    ran = 0
    for (_, language, body), (_, following, printed) in itertools.pairwise(steps):
        if (language, following) != ("console", ""):
            continue
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(body)],
            cwd=tmp_path,
            env=settings,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        # What a model scores differs a little from one processor to another; a search ends with its time.
        wanted = SCORE.sub("#", printed).split()
        assert SCORE.sub("#", done.stdout).split()[: len(wanted)] == wanted
        ran += 1
    assert ran == 3
