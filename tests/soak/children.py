"""The processes of the crash test: started, listened to, woken, and waited for."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

from tests.soak.doomed import FROZEN

PATIENCE = 60.0


@contextmanager
def syncing(household, end, number, *, is_full=False):
    """Sync the project in a process that meets its end there; it does not outlive this block."""
    arguments = [end, str(number), "sync", "TNY", *(["--full"] if is_full else [])]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "tests.soak.doomed", *arguments],
        env=household.settings,
        stdout=pipe,
        stderr=pipe,
        text=True,
        encoding="utf-8",
    ) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


def commits_at_end(child):
    """Wait until a process has ended well, and return the number of its commits; 0 when it was killed."""
    out, err = child.communicate(timeout=PATIENCE)
    if child.returncode == -signal.SIGKILL:
        return 0
    assert child.returncode == 0, out + err
    return int(err.split()[-1])


def is_frozen(child):
    """Wait until a process is frozen; False when it ends before."""
    # It speaks just before it stops: who is woken too early sleeps on.
    return has_said(child, FROZEN) and os.WIFSTOPPED(os.waitpid(child.pid, os.WUNTRACED)[1])


def has_said(child, line):
    """Wait until a process says this; False when it ends without."""
    limit = threading.Timer(PATIENCE, child.kill)
    limit.start()
    try:
        return line in iter(child.stdout.readline, "")
    finally:
        limit.cancel()


def thaw(child):
    """Let a frozen process go on."""
    child.send_signal(signal.SIGCONT)
