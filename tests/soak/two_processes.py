"""One process syncs, one searches, one more tries to sync: nobody is refused, and nothing is done twice.

`python -m tests.soak.two_processes --seconds 60`, from the folder of the checkout.

Seen to fail within ten seconds when nobody waits for a lock, and when a project that is being synced is
begun once more, or taken over from a process that lives.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.errors import ReqallError
from reqall.core.integrity import inspect
from reqall.core.jobs import TAKEN_OVER
from reqall.core.request import SearchRequest
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from tests.soak.counting_embedder import counted
from tests.soak.editing import Editor
from tests.soak.household import Household
from tests.soak.truth import differences

PROJECT = "TNY"
REQUIREMENTS = 120
ROLES = ("sync", "search", "sync")
MOMENT = 0.05
PATIENCE = 60.0


def work(role, seconds):
    """Do the same again and again, as a process of its own; how often each outcome was met."""
    app = App(Overrides(), Environment())
    outcomes: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            outcome = _sync(app) if role == "sync" else _search(app)
            outcomes["lost" if outcome == "empty" and outcomes["found"] else outcome] += 1
        except ReqallError as error:
            outcomes[f"refused: {error}"] += 1
        time.sleep(MOMENT)
    app.close()
    return outcomes


def _sync(app):
    """Sync the project, unless the other process does."""
    job = app.sync(PROJECT)
    if TAKEN_OVER in job.message:
        return "taken over from one that lives"
    if job.status == "RUNNING":
        return "runs elsewhere"
    return "synced" if job.status == "DONE" else f"{job.status}: {job.error or job.message}"


def _search(app):
    """Search for what every version of the project has."""
    if not app.assembly.catalog.projects():
        return "not there yet"
    _, result = app.search(SearchRequest((PROJECT,), "level kept and shown"))
    found = [hit.document.id for hit in result.hits]
    assert len(found) == len(set(found))
    return "found" if found else "empty"


def run(folder, seconds, seed=1):
    """Let the three processes work while the world is edited; assert that all went well. A summary is returned."""
    with JamaSimulator(project=tiny_project(requirements=REQUIREMENTS)) as simulator:
        household = Household(simulator, folder)
        editor = Editor(simulator.world, random.Random(seed), stop_clock=False)
        children = [_start(household, role, seconds) for role in ROLES]
        try:
            edits = _edit(editor, seconds, children)
            told = [_ended(child) for child in children]
        finally:
            for child in children:
                if child.poll() is None:
                    child.kill()
                    child.wait()
        return _checked(household, simulator, told) | {"edits": edits}


def _start(household, role, seconds):
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "tests.soak.two_processes", "--role", role, "--seconds", str(seconds)]
    return subprocess.Popen(command, env=household.settings, stdout=pipe, stderr=pipe, text=True, encoding="utf-8")


def _edit(editor, seconds, children):
    deadline = time.monotonic() + seconds
    edits = 0
    while time.monotonic() < deadline and all(child.poll() is None for child in children):
        editor.random.choice((editor.edit, editor.edit, editor.add, editor.move, editor.relate, editor.comment))()
        edits += 1
        if edits % 20 == 0:
            editor.remove(editor.world.delete)
        time.sleep(editor.random.uniform(0, 4 * MOMENT))
    return edits


def _ended(child):
    out, err = child.communicate(timeout=PATIENCE)
    assert (child.returncode, err) == (0, ""), out + err
    return Counter(json.loads(out))


def _checked(household, simulator, told):
    """Sync once more, undisturbed, and compare everything."""
    first, search, second = told
    app = household.app()
    try:
        assert app.sync(PROJECT, full=True).status == "DONE"
        assert differences(app.assembly.catalog, simulator.world) == []
        assert inspect(app.assembly.indexer(), "jama:2").problems == []
        statuses = Counter(job.status for job in app.jobs.history())
    finally:
        app.close()
    texts = counted(household.texts)
    assert set(first) | set(second) <= {"synced", "runs elsewhere"}, (first, second)
    assert set(search) <= {"found", "empty", "not there yet"}, search
    assert search["found"], search
    assert first["synced"] + second["synced"] > 0
    assert set(statuses) == {"DONE"}, statuses
    assert set(texts.values()) == {1}, [number for number in texts.values() if number > 1]
    return {"one": dict(first), "other": dict(second), "search": dict(search), "texts": len(texts), "embedded again": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--role", choices=sorted(set(ROLES)), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role:
        sys.stdout.write(json.dumps(work(arguments.role, arguments.seconds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(f"{json.dumps(run(Path(folder), arguments.seconds))}\n")


if __name__ == "__main__":
    main()
