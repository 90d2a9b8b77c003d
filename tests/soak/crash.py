"""Kill a sync again and again: at any instant the file is sound, in the end it is as the source, and nothing was lost.

`python -m tests.soak.crash --kills 50`, from the folder of the checkout.

The syncs die at a commit, so that every state between two commits comes up; `audit` says what must hold
in each of them. Beside the kills, one process is overtaken by another and then woken, and one comes
through undisturbed. Each of these defects of the core was put in and found, by the five kills of
the quick test too:
- the change log, the chunks, the progress or the index entries are written in another transaction than
  their documents, before or after them, with or without the index's position
- the position of an index is written before its entries, or is one change too far
- the watermark is stored at the beginning, with each page, before the deletions or before the links
- deletions do not reach the indexes; links are not replaced, or are called level too early
- a job that is taken over begins anew, embeds again, or forgets what it did; a dead owner counts as alive
- a vector that is stored is not found again by its text; all is embedded in one step
- who was overtaken is not fenced off, or has its successor's token
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from reqall.core.database import Database
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from tests.soak.audit import Audit
from tests.soak.children import PATIENCE, commits_at_end, has_said, is_frozen, syncing, thaw
from tests.soak.doomed import COMMIT, FREEZE, NEVER, TRIED, VECTORS, WATCH, kept_beside
from tests.soak.editing import Editor
from tests.soak.household import Household

REQUIREMENTS = 100
REQUIREMENT = 24
ROUND = ("first", "resumed", "incremental", "incremental", "full")
"""Syncs that are killed, in turn; each round begins with an empty catalog."""

INSTANTS = (COMMIT, VECTORS, COMMIT, NEVER)
"""When they are killed, in turn: at any commit, at one that would store vectors, at any time (from outside)."""

COMMITS = {"first": 31, "resumed": 25, "incremental": 16, "full": 18, "overtaken": 18}
"""Roughly how many such a sync makes; learned anew from those that are through before they are killed."""

PREPARING = 2
"""Commits that come before a job is noted: there is nothing to be lost."""

MOST_CALLS = 2
"""Calls of the embedder after which one is killed."""

GOLDEN_SECTION = (5**0.5 - 1) / 2


class CrashTest:
    """Syncs in child processes that are killed; the world changes between two runs.

    The commits at which they die are spread evenly, as multiples of the golden section are.
    """

    def __init__(self, simulator, folder, seed):
        self.simulator, self.folder = simulator, folder
        self.random = random.Random(seed)
        self.editor = Editor(simulator.world, self.random)
        self.kills = dict.fromkeys(ROUND, 0)
        self.overtaken = self.finished = 0
        self.audits = []
        self._commits = dict(COMMITS)
        self._place = {phase: self.random.random() for phase in COMMITS}
        self._span = 0.5

    @property
    def audit(self):
        """The audit of the present catalog."""
        return self.audits[-1]

    def run(self, kills):
        """Kill that often, in rounds."""
        self._deadline = time.monotonic() + 10 * kills + 2 * PATIENCE
        for begun in range(0, kills, len(ROUND)):
            self._begin()
            for phase in ROUND[: kills - begun]:
                self._kill(phase)
            self._overtake()
            self.editor.incremental()
            self.editor.relate()
            self._let_through()

    def told(self):
        """Say what was done."""
        lost = [number for audit in self.audits for number in audit.lost]
        allowed = sum(len(audit.lost) * audit.largest_call for audit in self.audits)
        return (
            f"{sum(self.kills.values())} kills {self.kills}, {self.overtaken} overtaken, {self.finished} through,"
            f" {sum(audit.looked_at for audit in self.audits)} states looked at; {self.audit.documents} documents;"
            f" {sum(audit.again for audit in self.audits)} texts embedded again: {sum(lost)} were lost by"
            f" {sum(map(bool, lost))} processes (allowed {allowed})"
        )

    def _begin(self):
        self.household = Household(self.simulator, self.folder / str(len(self.audits)))
        self.audits.append(Audit(self.household, self.simulator.world))

    def _kill(self, phase):
        """Kill a sync of this kind, and look at what it left."""
        while not self._killed(phase):
            self._in_time()
            self.audit.done()
            if phase in ("first", "resumed"):
                self._begin()
        self.kills[phase] += 1
        self.audit.broken_off()

    def _killed(self, phase):
        """Change the world, sync, kill; whether there was still something to kill."""
        if phase not in ("first", "resumed"):
            if not self.audit.is_synced:
                self._let_through()
            self._edit()
        instant = INSTANTS[sum(self.kills.values()) % len(INSTANTS)]
        numbers = {COMMIT: self._chosen(phase), VECTORS: self.random.randint(1, MOST_CALLS), NEVER: 0}
        seen = len(self.simulator.requests)
        with self._syncing(instant, numbers[instant], is_full=phase == "full") as child:
            if instant == NEVER:
                self._strike(child, seen)
            self._commits[phase] = self._ended(child) or self._commits[phase]
        return child.returncode == -signal.SIGKILL

    def _strike(self, child, seen):
        """Kill at a random time after the first request."""
        while len(self.simulator.requests) == seen and child.poll() is None:
            self._in_time()
            time.sleep(0.002)
        began = time.monotonic()
        try:
            child.wait(self.random.uniform(0, self._span))
            self._span = time.monotonic() - began
        except subprocess.TimeoutExpired:
            child.kill()

    def _let_through(self):
        with self._syncing(WATCH, 0) as child:
            self._ended(child)
        self.audit.done()

    def _overtake(self):
        """Freeze a sync for so long that another one takes over, and thaw it: it must not write any more."""
        is_overtaken = False
        while not is_overtaken:
            self._in_time()
            self._edit()
            with self._syncing(FREEZE, self._chosen("overtaken"), is_full=True) as frozen:
                if is_overtaken := is_frozen(frozen):
                    self.audit.broken_off()
                    self._edit()
                    self._thaw_beside_successor(frozen)
                self._ended(frozen)
            self.audit.done(was_overtaken=is_overtaken)
        self.overtaken += 1

    def _thaw_beside_successor(self, frozen):
        """The successor is frozen too, so that all that is written meanwhile is the other's."""
        database = Database(self.household.catalog)
        with database.writing() as tx:  # as if the job had not shown for long that it lives
            tx.execute("UPDATE job SET heartbeat = 0 WHERE status = 'RUNNING'")
            tx.execute("DELETE FROM meta WHERE key GLOB 'turn:*'")
        with self._syncing(FREEZE, self._chosen("overtaken")) as successor:
            is_frozen(successor)
            written = "SELECT (SELECT value FROM meta WHERE key = 'seq'), group_concat(state) FROM job"
            before = database.query(written)
            thaw(frozen)
            has_said(frozen, TRIED)
            assert database.query(written) == before, "one that was overtaken still writes"
            thaw(successor)
            self._ended(successor)
        database.close()

    def _edit(self):
        self.editor.incremental()
        if self.random.random() < 0.7:
            self.editor.deletion()

    def _chosen(self, phase):
        """Choose a commit."""
        self._place[phase] = (self._place[phase] + GOLDEN_SECTION) % 1
        return PREPARING + 1 + int(self._place[phase] * (self._commits[phase] - PREPARING + 1))

    @contextmanager
    def _syncing(self, end, number, *, is_full=False):
        self.audit.look()
        shutil.rmtree(kept_beside(self.household.catalog), ignore_errors=True)
        with syncing(self.household, end, number, is_full=is_full) as child:
            yield child

    def _ended(self, child):
        """Wait for its end; how often it committed, 0 when it was killed."""
        commits = commits_at_end(child)
        self.finished += bool(commits)
        return commits

    def _in_time(self):
        assert time.monotonic() < self._deadline, (self.kills, self.overtaken, self.finished, self._commits)


def project():
    """Return a tiny project whose requirements have up to three sentences: each is a chunk."""
    content = tiny_project(requirements=REQUIREMENTS)
    for item in content["items"]:
        if item["itemType"] == REQUIREMENT:
            sentences = (f"Sentence {n} of {item['id']} says how loud it is." for n in range(item["id"] % 3 + 1))
            item["fields"]["description"] = f"<p>{' '.join(sentences)}</p>"
    return content


@contextmanager
def crash_test(folder, seed):
    """Serve a tiny project and prepare to sync it."""
    with JamaSimulator(project=project()) as simulator:
        yield CrashTest(simulator, folder, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, crash_test(Path(folder), arguments.seed) as test:
        test.run(arguments.kills)
        sys.stdout.write(f"{test.told()}; {time.monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main()
