"""Runs reqall in this process, and ends or freezes it at an exact instant.

`python -m tests.soak.doomed commit 17 sync TNY` dies while it commits for the 17th time: its first 16
commits are all that is left of it. With `vectors 2` it dies in the second commit that follows a call of
the embedder. With `freeze 17` it says so and stops before its 17th write begins; thawed, it says when
that write has ended. These leave copies of the file as it was before their last commits; with `watch 0`
nothing happens but copies of all; with `never 0` not even these. One that is through tells the number
of its commits as the last word of its errors.
"""

import shutil
import signal
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path

import apsw

from reqall.cli import main
from tests.soak.counting_embedder import CountingEmbedder

COMMIT, VECTORS, FREEZE, WATCH, NEVER = "commit", "vectors", "freeze", "watch", "never"
FROZEN, TRIED = "frozen\n", "tried\n"

KEPT = 5
"""Copies that one leaves which is ended: a step that is torn into several commits shows in one of them."""


class Fate:
    """Waits on every connection for the write whose turn it is."""

    def __init__(self, end, number):
        self.end, self.number = end, number
        self.begun, self.committed, self.calls = count(1), count(1), count(1)
        self.commits = 0
        self.has_vectors = False

    def follow(self, connection):
        if connection.filename:  # not one in memory
            connection.set_commit_hook(partial(self.commit, Path(connection.filename)))
            connection.set_exec_trace(self.begin)

    def embedded(self):
        self.has_vectors = True

    def commit(self, file):
        self.commits = next(self.committed)
        is_due = self.end == COMMIT and self.commits == self.number
        if self.has_vectors:
            self.has_vectors = False
            is_due |= self.end == VECTORS and next(self.calls) == self.number
        if is_due:
            signal.raise_signal(signal.SIGKILL)
        if self.end != NEVER:
            self.keep(file)
        return False

    def begin(self, cursor, statement, _bindings):
        # One that held the lock while it is frozen would only keep everyone waiting.
        if self.end == FREEZE and statement == "BEGIN IMMEDIATE" and next(self.begun) == self.number:
            self.end = NEVER
            cursor.connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self.finished)
            say(FROZEN)
            signal.raise_signal(signal.SIGSTOP)
        return True

    def finished(self, event):
        if event["sql"] in ("COMMIT", "ROLLBACK"):
            say(TRIED)

    def keep(self, file):
        kept = kept_beside(file)
        folder = kept / str(self.commits)
        folder.mkdir(parents=True)
        # By another process: who closes a file loses its locks on it (https://sqlite.org/howtocorrupt.html#_posix_).
        files = [each for each in file.parent.glob(f"{file.name}*") if each.suffix != ".db-shm"]
        subprocess.run(["cp", *files, folder], check=True)
        if self.end != WATCH:
            shutil.rmtree(kept / str(self.commits - KEPT), ignore_errors=True)


def say(line):
    """Tell it the parent at once."""
    sys.stdout.write(line)
    sys.stdout.flush()


def kept_beside(file):
    """Return the folder of the copies; each is in a folder that is named after its commit."""
    return file.parent / "kept"


if __name__ == "__main__":
    _, how, which, *arguments = sys.argv
    fate = Fate(how, int(which))
    apsw.connection_hooks.append(fate.follow)
    CountingEmbedder.on_call = staticmethod(fate.embedded)
    sys.argv[1:] = arguments
    try:
        main()
    finally:
        sys.stderr.write(f"\n{fate.commits}")
