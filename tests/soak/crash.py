"""Kill a sync again and again: what is stored at the end is what the source holds, and little was done twice.

`python -m tests.soak.crash --kills 50`, from the folder of the checkout.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from reqall.core.indexing import LEVEL_BATCH
from reqall.core.integrity import inspect
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from tests.soak.counting_embedder import counted
from tests.soak.editing import Editor
from tests.soak.household import Household
from tests.soak.truth import differences

REQUIREMENTS = 120
PATIENCE = 60.0
PHASES = ("full", "full", "incremental", "deletion", "incremental", "deletion")
"""Of syncs to be killed, in turn. A sync that takes over a full one is full itself: one is let through between them."""


class CrashTest:
    """Syncs in a child process that is killed at random instants; the world changes between two runs.

    An instant is drawn from the time that such a sync takes from its first request to its end, which is
    learned from those that were through before they could be killed.
    """

    def __init__(self, simulator, folder, seed):
        self.simulator = simulator
        self.household = Household(simulator, folder)
        self.random = random.Random(seed)
        self.editor = Editor(simulator.world, self.random)
        self.kills = dict.fromkeys(PHASES, 0)
        self.finished = 0
        self._is_full = False
        self._spans = {"full": 1.0, "incremental": 0.5, "deletion": 0.5}

    def run(self, kills):
        """Kill that often, in all phases in turn, then let one sync come through."""
        deadline = time.monotonic() + 10 * kills + PATIENCE
        while sum(self.kills.values()) < kills:
            assert time.monotonic() < deadline, (self.kills, self.finished, self._spans)
            phase = PHASES[sum(self.kills.values()) % len(PHASES)]
            if phase != "full" and self._is_full:
                self._let_through()
            self.kills[phase] += self._disturbed(phase)
        self._let_through()

    def check(self):
        """Assert that nothing is lost and little was done twice; a line about what was done is returned."""
        app = self.household.app()
        try:
            catalog, indexer = app.assembly.catalog, app.assembly.indexer()
            assert app.assembly.problems() == {}
            assert differences(catalog, self.simulator.world) == []
            state = inspect(indexer, "jama:2")
            assert state.problems == []
            assert all(indexer.is_level(index) for index in indexer.indexes)
            assert {job.kind for job in app.jobs.history()} == {"full", "sync"}
            entries = {index.name: _entries(index, catalog.database, state.documents) for index in indexer.indexes}
            chunks = catalog.database.query("SELECT count(*) FROM chunk GROUP BY document_id, chunking")
            texts, batch = counted(self.household.texts), LEVEL_BATCH * max(row[0] for row in chunks)
            kills = sum(self.kills.values())
            assert len(texts) <= texts.total() <= len(texts) + kills * batch, (texts.total(), len(texts))
            return (
                f"{kills} kills {self.kills}, {self.finished} syncs through; {state.documents} documents,"
                f" {entries} entries; {len(texts)} texts, {texts.total() - len(texts)} embedded again"
                f" (allowed {kills * batch})"
            )
        finally:
            app.close()

    def _let_through(self):
        with self._syncing() as child:
            self._end(child)
        self._is_full = False

    def _disturbed(self, phase):
        """Change the world, sync, kill; whether there was still something to kill."""
        self._is_full = phase == "full"
        if phase != "full":
            self.editor.incremental()
            getattr(self.editor, phase)()
        seen = len(self.simulator.requests)
        with self._syncing(*(["--full"] if phase == "full" else [])) as child:
            until(lambda: len(self.simulator.requests) > seen or child.poll() is not None)
            began = time.monotonic()
            try:
                child.wait(self.random.uniform(0, self._spans[phase]))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                return True
            self._spans[phase] = time.monotonic() - began
            self._end(child)
            return False

    @contextmanager
    def _syncing(self, *arguments):
        command = self.household.command("sync", "TNY", *arguments)
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, env=self.household.settings, stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
        ) as child:
            try:
                yield child
            finally:
                if child.poll() is None:
                    child.kill()

    def _end(self, child):
        out, err = child.communicate(timeout=PATIENCE)
        assert child.returncode == 0, out + err
        self.finished += 1


def until(condition):
    """Wait until it holds. Raises AssertionError after a minute."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def _entries(index, database, documents):
    """Count an index's entries: each chunk stands in it once, and every document has one."""
    with database.reading() as reader:
        held = list(index.recaller.inventory(reader))
    assert len(held) == len({chunk for chunk, _ in held}), f"{index.name} holds a chunk twice"
    assert len({document for _, document in held}) == documents
    return len(held)


@contextmanager
def crash_test(folder, seed):
    """Serve a tiny project and prepare to sync it."""
    with JamaSimulator(project=tiny_project(requirements=REQUIREMENTS)) as simulator:
        yield CrashTest(simulator, folder, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, crash_test(Path(folder), arguments.seed) as test:
        test.run(arguments.kills)
        sys.stdout.write(f"{test.check()}; {time.monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main()
