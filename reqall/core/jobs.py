"""Background jobs as leased rows: one project is never synced twice at once, in whatever process.

A lease holds its owner (host, process id, process start) and a fencing token. Every batch of a job
checks the token inside its own transaction, so a paused owner never overwrites its successor. A
dead owner on this host is replaced at once; one elsewhere when its heartbeat is old.
"""

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from reqall.core.database import Database
from reqall.core.errors import JobError, NotFoundError, ReqallError
from reqall.core.protocols import SqlConnection

Status: TypeAlias = Literal["QUEUED", "RUNNING", "DONE", "ERROR", "CANCELLED"]

HEARTBEAT_SECONDS = 5.0
LEASE_SECONDS = 60.0
KEPT_PER_PROJECT = 50

_log = logging.getLogger("reqall.jobs")


@dataclass(frozen=True, slots=True)
class Job:
    """A job as every face shows it; counts are documents, `embedded` texts, `requests` HTTP requests."""

    job_id: str
    project_id: str
    kind: str
    status: Status = "QUEUED"
    phase: str = "queued"
    done: int = 0
    total: int = 0
    embedded: int = 0
    deleted: int = 0
    requests: int = 0
    message: str = ""
    error: str = ""
    started: str | None = None
    finished: str | None = None

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will happen."""
        return self.status in ("DONE", "ERROR", "CANCELLED")


@dataclass
class Lease:
    """A running job in its owner's hands: progress is written inside the batches' transactions."""

    jobs: "Jobs"
    job: Job
    token: int

    def advance(self, tx: SqlConnection, **changes: Any) -> None:
        """Check the lease and write progress, in the batch's own transaction. Raises JobError."""
        job = replace(self.job, **changes)
        tx.execute(
            "UPDATE job SET state = ?, heartbeat = ? WHERE id = ? AND token = ? AND status = 'RUNNING'",
            (json.dumps(asdict(job)), time.time(), job.job_id, self.token),
        )
        if next(tx.execute("SELECT changes()"))[0] != 1:
            raise JobError(
                f"job {job.job_id} lost its lease",
                "another process goes on with it, or it was cancelled; see its status",
            )
        self.job = job

    def report(self, **changes: Any) -> None:
        """Write progress in a transaction of its own."""
        with self.jobs.database.writing() as tx:
            self.advance(tx, **changes)


class Jobs:
    """The jobs in one database file, and the threads of this process that run them."""

    def __init__(self, database: Database, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        """Work on an opened database; a running job shows so often that it lives."""
        self.database = database
        self._heartbeat_seconds = heartbeat_seconds
        self._threads: list[threading.Thread] = []

    def claim(self, kind: str, project_id: str) -> tuple[Job, Lease | None]:
        """Take the project's lease for a new job; when another job runs, return that and no lease."""
        with self.database.writing() as tx:
            row = next(
                tx.execute(
                    "SELECT id, owner, heartbeat, state FROM job WHERE project_id = ? AND status = 'RUNNING'",
                    (project_id,),
                ),
                None,
            )
            if row is not None:
                if _alive(json.loads(row[1]), row[2]):
                    return _job(row[3]), None
                self._end(tx, replace(_job(row[3]), status="ERROR", error="its process ended; a new job goes on"))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            job = Job(uuid.uuid4().hex[:12], project_id, kind, "RUNNING", "starting", started=now)
            tx.execute(
                "INSERT INTO job(id, kind, project_id, status, owner, heartbeat, state, started)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (job.job_id, kind, project_id, job.status, _owner(), time.time(), json.dumps(asdict(job)), now),
            )
            token = int(next(tx.execute("SELECT number FROM job WHERE id = ?", (job.job_id,)))[0])
            tx.execute("UPDATE job SET token = ? WHERE id = ?", (token, job.job_id))
            self._forget_old(tx, project_id)
        return job, Lease(self, job, token)

    def run(self, lease: Lease, work: Callable[[Lease], str]) -> Job:
        """Run `work` under the lease, with a heartbeat; the ended job is returned, never raised."""
        stop = threading.Event()
        beat = threading.Thread(
            target=self._beat, args=(lease, stop), name=f"heartbeat-{lease.job.job_id}", daemon=True
        )
        beat.start()
        outcome: dict[str, Any] = {"status": "ERROR"}
        try:
            outcome = {"message": work(lease), "status": "DONE", "phase": "done"}
        except ReqallError as error:
            outcome["error"] = str(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - its text may hold item text: only its kind is shown
            _log.exception("job %s failed", lease.job.job_id)
            outcome["error"] = f"unexpected {type(error).__name__}; the log has the details"
        finally:
            stop.set()
            beat.join()
        with self.database.writing() as tx:
            mine = "SELECT state FROM job WHERE id = ? AND token = ? AND status = 'RUNNING'"
            row = next(tx.execute(mine, (lease.job.job_id, lease.token)), None)
            # As stored: what a batch that was rolled back reported does not count.
            return self._end(tx, replace(_job(row[0]), **outcome)) if row else self.get(lease.job.job_id)

    def start(self, lease: Lease, work: Callable[[Lease], str]) -> None:
        """Run `work` in a thread of its own; a daemon, so that it never keeps a process alive."""
        thread = threading.Thread(target=self.run, args=(lease, work), name=f"job-{lease.job.job_id}", daemon=True)
        self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the threads that `start` made."""
        for thread in self._threads:
            thread.join(timeout)

    def get(self, job_id: str) -> Job:
        """Return a job; a running one whose process died reads as ERROR. Raises NotFoundError."""
        rows = self.database.query("SELECT state, owner, heartbeat FROM job WHERE id = ?", (job_id,))
        if not rows:
            raise NotFoundError(f"no job {job_id!r}", "jobs are named by the answer that started them")
        row = rows[0]
        job = _job(row[0])
        if job.status == "RUNNING" and not _alive(json.loads(row[1]), row[2]):
            return replace(job, status="ERROR", error="its process ended before it was done; start it again to go on")
        return job

    def latest(self, project_id: str) -> Job | None:
        """Return the newest job of a project."""
        rows = self.database.query(
            "SELECT id FROM job WHERE project_id = ? ORDER BY number DESC LIMIT 1", (project_id,)
        )
        return self.get(rows[0][0]) if rows else None

    def _end(self, tx: SqlConnection, job: Job) -> Job:
        ended = replace(job, finished=datetime.now(UTC).isoformat(timespec="seconds"))
        tx.execute(
            "UPDATE job SET status = ?, state = ?, finished = ? WHERE id = ?",
            (ended.status, json.dumps(asdict(ended)), ended.finished, ended.job_id),
        )
        return ended

    def _forget_old(self, tx: SqlConnection, project_id: str) -> None:
        tx.execute(
            "DELETE FROM job WHERE project_id = ? AND status <> 'RUNNING' AND number NOT IN"
            " (SELECT number FROM job WHERE project_id = ? ORDER BY number DESC LIMIT ?)",
            (project_id, project_id, KEPT_PER_PROJECT),
        )

    def _beat(self, lease: Lease, stop: threading.Event) -> None:
        while not stop.wait(self._heartbeat_seconds):
            # A beat that finds the file locked is tried again; a lost lease shows at the next batch.
            with suppress(ReqallError), self.database.writing() as tx:
                tx.execute(
                    "UPDATE job SET heartbeat = ? WHERE id = ? AND token = ?",
                    (time.time(), lease.job.job_id, lease.token),
                )


def _job(state: str) -> Job:
    return Job(**json.loads(state))


def _owner() -> str:
    return json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "start": _process_start(os.getpid())})


def _alive(owner: dict[str, Any], heartbeat: float) -> bool:
    """Tell whether a lease's owner still works: its heartbeat is young, and on this host its process exists.

    The heartbeat counts here too: a process may outlive its job's thread.
    """
    if time.time() - heartbeat >= LEASE_SECONDS:
        return False
    if owner["host"] != socket.gethostname() or owner["start"] is None:
        return True
    return bool(_process_start(owner["pid"]) == owner["start"])


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
