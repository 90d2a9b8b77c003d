"""A recaller on a shelf of its own, and a project of requirement-like documents in a file."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

from reqall.testing.contracts import Shelf

SUBJECTS = (
    *("infusion pump", "brake controller", "door lock", "battery monitor", "audio mixer"),
    *("login service", "alarm panel", "pressure sensor", "fuel valve", "display unit"),
)
ACTIONS = (
    *("report", "limit", "synchronise", "record", "reject", "restart", "display", "calibrate"),
    *("encrypt", "measure", "notify", "suspend"),
)
OBJECTS = (
    *("the flow rate", "the volume level", "every failed login", "the supply voltage", "the stored settings"),
    *("the motor torque", "a lost connection", "the operator", "the event history", "the session timeout"),
)
CONDITIONS = (
    *("after a power loss", "while the vehicle moves", "when the limit is exceeded", "during maintenance"),
    *("at start-up", "before each delivery", "in emergency mode", "without user action"),
)


@pytest.fixture
def make_shelf(tmp_path):
    """Build shelves of this recaller; each call has a folder of its own."""
    made = []

    def make(**options):
        folder = tmp_path / f"shelf{len(made)}"
        folder.mkdir()
        made.append(Shelf(lambda services: build_tantivy(TantivyOptions(**options), services), folder))
        return made[-1]

    yield make
    for shelf in made:
        shelf.close()


@pytest.fixture
def shelf(make_shelf):
    """One of them, with the defaults."""
    return make_shelf()


@pytest.fixture(scope="session")
def requirements():
    """Make lines of a corpus.jsonl: the same for the same seed."""
    return _requirements


def _requirements(count, seed=0):
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        subject, action, target = draw.choice(SUBJECTS), draw.choice(ACTIONS), draw.choice(OBJECTS)
        text = f"The {subject} shall {action} {target} {draw.choice(CONDITIONS)} within {draw.randint(1, 90)} seconds."
        if draw.random() < 0.4:
            text += f" See also {draw.choice(SUBJECTS)}: it must {draw.choice(ACTIONS)} {draw.choice(OBJECTS)}."
        metadata = {
            "type": draw.choice(["requirement", "test case", "defect"]),
            "status": draw.choice(["", "Draft", "Approved"]),
            "modified": f"2026-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}T08:00:00Z",
        }
        title = f"{action.capitalize()} {target.removeprefix('the ')}"
        lines.append({"_id": f"SYS-REQ-{number + 1}", "title": title, "text": text, "metadata": metadata})
    return lines


CONFIG = """
version: 1
sources:
  specs: {use: jsonl, with: {path: PATH, project: pump}}
indexes:
  rust: {use: tantivy}
  words: {use: sqlite_fts5}
pipelines:
  default: {expand: {use: sub_queries}, recall: [{index: rust}, {index: words}]}
"""


class Home:
    """A folder with a corpus, a configuration and a catalog, and the command line on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = folder / "corpus.jsonl"
        self.config = folder / "pipelines.yaml"
        self.indexes = folder / "indexes"
        self.configure(CONFIG)

    def configure(self, text):
        self.config.write_text(text.replace("PATH", str(self.corpus)), encoding="utf-8")

    def write(self, lines):
        self.corpus.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    def settings(self, **changes):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "REQALL_"))}
        own = {"REQALL_HOME": str(self.folder), "JAMA_MCP_DB_PATH": str(self.folder / "catalog.db")}
        return kept | own | {"REQALL_CONFIG": str(self.config), "REQALL_STRICT_PLUGINS": "1"} | changes

    def start(self, *arguments, **changes):
        command = [sys.executable, "-W", "error", "-m", "reqall", *arguments]
        return subprocess.Popen(
            command,
            env=self.settings(**changes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self, *arguments, code=0, **changes):
        """Run a command; its output, of both kinds, is returned."""
        process = self.start(*arguments, **changes)
        out, told = process.communicate(timeout=60)
        assert process.returncode == code, f"{arguments} ended with {process.returncode}:\n{out}\n{told}"
        return out + told

    def json(self, *arguments, code=0):
        process = self.start(*arguments, "--json")
        out, told = process.communicate(timeout=60)
        assert process.returncode == code, f"{arguments} ended with {process.returncode}:\n{out}\n{told}"
        return json.loads(out)

    def index_folder(self):
        (folder,) = [path for path in self.indexes.iterdir() if (path / "meta.json").is_file()]
        return folder


@pytest.fixture
def home(tmp_path):
    """A home whose project has no documents yet."""
    made = Home(tmp_path)
    made.write([])
    return made
