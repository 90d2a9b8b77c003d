"""Who holds a lease: a process, told apart from a later one that was given the same process id."""

import json
import os
import socket
from pathlib import Path
from typing import Any

LEASE_SECONDS = 60.0
"""How long a lease lives without a heartbeat, where the owner's process cannot be looked at."""


def this_process() -> str:
    """Name this process, as a lease stores its owner."""
    pid = os.getpid()
    return json.dumps({"host": socket.gethostname(), "pid": pid, "start": _process_start(pid)})


def is_alive(owner: str, seconds_since_heartbeat: float) -> bool:
    """Tell whether a lease's owner still works: its heartbeat is young, and on this host its process exists.

    The heartbeat counts here too: a process may outlive its job's thread. No owner is not alive.
    """
    if not owner or seconds_since_heartbeat >= LEASE_SECONDS:
        return False
    named: dict[str, Any] = json.loads(owner)
    if named["host"] != socket.gethostname() or named["start"] is None:
        return True
    return bool(_process_start(named["pid"]) == named["start"])


def _process_start(pid: int) -> str | None:
    """Return the process's start time where /proc tells it: a reused process id is another process.

    A dead process that its parent has not waited for has none (proc_pid_stat(5), fields 3 and 22).
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]
