"""Background jobs as leased rows: one project is never synced twice at once, in whatever process.

A lease holds its owner and a fencing token. Every batch of a job checks the token inside its own
transaction, so a paused owner never overwrites its successor. When an owner is dead (at once on this
host, elsewhere when its heartbeat is old) or has let go, its job waits, QUEUED, until somebody who
wants the same project takes it over under the same id: who polls it sees it go on.
"""

import logging
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reqall.core.database import Database
from reqall.core.errors import InputError, NotFoundError, ReqallError
from reqall.core.job import Job
from reqall.core.lease import Lease, ReleasedJobError
from reqall.core.owner import is_alive, this_process
from reqall.core.protocols import SqlConnection

__all__ = ["Job", "Jobs", "Lease"]

HEARTBEAT_SECONDS = 5.0
CLOSE_SECONDS = 1.0
"""How long the end of a process waits for its jobs: hosts of servers kill those that take longer."""

KEPT_PER_PROJECT = 50
KINDS = ("sync", "full")
"""Of syncs, from less to more work: who takes one over does no less than was asked for."""

BACKFILL = "backfill"
"""Of the job that levels the indexes of all projects from the catalog; it belongs to no project (project id "")."""

TAKEN_OVER = "taken over from a process that ended"
WAITING = "its process ended; the next sync of the project, or the schedule, takes it over"
CANCELLED = "cancelled; what was committed stays, and the next sync goes on from there"

_OPEN = "status IN ('RUNNING', 'QUEUED')"

_log = logging.getLogger("reqall.jobs")


class Jobs:
    """The jobs in one database file, and those of them that this process runs."""

    def __init__(
        self,
        database: Database,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Work on an opened database; a running job shows so often that it lives."""
        self.database = database
        self.clock = clock
        self._closing = threading.Event()
        self._heartbeat_seconds = heartbeat_seconds
        self._running: set[tuple[str, int]] = set()
        self._changed = threading.Condition()

    def claim(
        self, kind: str, project_id: str, seen: str | None = None, *, allow_removals: bool = False
    ) -> tuple[Job, Lease | None]:
        """Take the project's lease: for a new job, or for a sync or backfill whose owner is gone.

        When a job of the project runs already, that one is returned, and no lease; likewise when
        `seen` is given (the id of the newest job that the caller knows, "" for none) and there is a newer one.
        """
        with self.database.writing() as tx:
            newest = self.latest(project_id)
            if newest is None or newest.ended:
                if newest is not None and seen not in (None, newest.job_id):
                    return newest, None
                return self._begin(tx, kind, project_id, allow_removals=allow_removals)
            if newest.status == "RUNNING":
                return newest, None
            if {kind, newest.kind} <= {*KINDS} or kind == newest.kind == BACKFILL:
                newest = replace(newest, allow_removals=newest.allow_removals or allow_removals)
                return self._take_over(tx, newest, kind)
            self._write(tx, replace(newest, status="ERROR", error="its process ended before it was done"))
            return self._begin(tx, kind, project_id, allow_removals=allow_removals)

    def run(self, lease: Lease, work: Callable[[Lease], str]) -> Job:
        """Run `work` under the lease, with a heartbeat; how it ended is returned, never raised.

        A job that was lost to another owner is returned as that one has it.
        """
        job_id = lease.job.job_id
        self._note(lease)
        stop = threading.Event()
        beat = threading.Thread(target=self._beat, args=(lease, stop), name=f"heartbeat-{job_id}", daemon=True)
        beat.start()
        try:
            outcome = _outcome(lease, work)
            with self.database.writing() as tx:
                mine = "SELECT state FROM job WHERE id = ? AND token = ? AND status = 'RUNNING'"
                row = next(tx.execute(mine, (job_id, lease.token)), None)
                # As stored: what a batch that was rolled back reported does not count.
                return self._write(tx, replace(Job.read(row[0]), **outcome)) if row else self.get(job_id)
        finally:
            stop.set()
            beat.join()
            with self._changed:
                self._running.discard((job_id, lease.token))
                self._changed.notify_all()

    def start(self, lease: Lease, work: Callable[[Lease], str]) -> None:
        """Run `work` in a thread of its own; a daemon, so that it never keeps a process alive."""

        def run() -> None:
            try:
                self.run(lease, work)
            except ReqallError:
                _log.exception("how job %s ended could not be written", lease.job.job_id)

        self._note(lease)
        threading.Thread(target=run, name=f"job-{lease.job.job_id}", daemon=True).start()

    def runs_here(self, job_id: str) -> bool:
        """Tell whether this process runs a job."""
        return any(running == job_id for running, _ in list(self._running))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until this process runs no job; False when the time was over before."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Let this process's jobs go at their next batch: they wait for another owner.

        One that comes to no batch in time is left to its thread, and counts as dead with this process.
        """
        self._closing.set()
        self.wait(timeout)

    def cancel(self, job_id: str) -> Job:
        """End a job: its owner's next batch is not written. Raises NotFoundError, InputError when it has ended."""
        with self.database.writing() as tx:
            job = self.get(job_id)
            if job.ended:
                raise InputError(
                    f"job {job_id} has ended already ({job.status})", "only a running job can be cancelled"
                )
            return self._write(tx, replace(job, status="CANCELLED", message=CANCELLED))

    def get(self, job_id: str) -> Job:
        """Return a job; one whose owner is gone is QUEUED. Raises NotFoundError."""
        for job in self._read("id = ?", job_id):
            return job
        raise NotFoundError(f"no job {job_id!r}", "jobs are named by the answer that started them")

    def latest(self, project_id: str) -> Job | None:
        """Return the newest job of a project."""
        return next(iter(self._read("project_id = ? ORDER BY number DESC LIMIT 1", project_id)), None)

    def history(self, limit: int = KEPT_PER_PROJECT) -> list[Job]:
        """List the jobs of all projects, the newest first."""
        return self._read("true ORDER BY number DESC LIMIT ?", limit)

    def open(self) -> list[Job]:
        """List the jobs that have not ended; those whose owner is gone are QUEUED."""
        return self._read(_OPEN)

    def _read(self, condition: str, *bindings: Any) -> list[Job]:
        rows = self.database.query(f"SELECT state, owner, heartbeat FROM job WHERE {condition}", bindings)
        return [self._as_it_is(Job.read(state), owner, heartbeat) for state, owner, heartbeat in rows]

    def _as_it_is(self, job: Job, owner: str, heartbeat: float) -> Job:
        if job.ended or self._is_held(owner, heartbeat):
            return job
        return replace(job, status="QUEUED", message=WAITING, rate=0.0, eta_seconds=0)

    def _is_held(self, owner: str, heartbeat: float) -> bool:
        return is_alive(owner, self.clock().timestamp() - heartbeat)

    def _begin(self, tx: SqlConnection, kind: str, project_id: str, *, allow_removals: bool) -> tuple[Job, Lease]:
        now = self.clock()
        started = now.isoformat(timespec="seconds")
        name = uuid.uuid4().hex[:12]
        job = Job(name, project_id, kind, "RUNNING", "starting", started=started, allow_removals=allow_removals)
        tx.execute(
            "INSERT INTO job(id, kind, project_id, status, owner, heartbeat, state, started)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (job.job_id, kind, project_id, job.status, this_process(), now.timestamp(), job.stored(), started),
        )
        token = int(next(tx.execute("SELECT number FROM job WHERE id = ?", (job.job_id,)))[0])
        tx.execute("UPDATE job SET token = ? WHERE id = ?", (token, job.job_id))
        tx.execute(
            f"DELETE FROM job WHERE project_id = ? AND NOT {_OPEN} AND number NOT IN"
            " (SELECT number FROM job WHERE project_id = ? ORDER BY number DESC LIMIT ?)",
            (project_id, project_id, KEPT_PER_PROJECT),
        )
        return job, self._lease(job, token)

    def _take_over(self, tx: SqlConnection, job: Job, kind: str) -> tuple[Job, Lease]:
        token = int(next(tx.execute("SELECT token FROM job WHERE id = ?", (job.job_id,)))[0]) + 1
        kind = job.kind if is_enough(job.kind, kind) else kind
        job = replace(job, kind=kind, status="RUNNING", message=TAKEN_OVER)
        tx.execute(
            "UPDATE job SET kind = ?, status = ?, owner = ?, token = ?, heartbeat = ?, state = ? WHERE id = ?",
            (kind, job.status, this_process(), token, self.clock().timestamp(), job.stored(), job.job_id),
        )
        return job, self._lease(job, token, TAKEN_OVER)

    def _write(self, tx: SqlConnection, job: Job) -> Job:
        """Write a job that nobody runs any more: it has ended, or waits for another owner."""
        finished = self.clock().isoformat(timespec="seconds") if job.ended else None
        job = replace(job, finished=finished, rate=0.0, eta_seconds=0)
        tx.execute(
            "UPDATE job SET status = ?, state = ?, finished = ?, owner = '' WHERE id = ?",
            (job.status, job.stored(), finished, job.job_id),
        )
        return job

    def _note(self, lease: Lease) -> None:
        with self._changed:
            self._running.add((lease.job.job_id, lease.token))

    def _lease(self, job: Job, token: int, note: str = "") -> Lease:
        return Lease(self.database, job, token, self.clock, self._closing, note)

    def _beat(self, lease: Lease, stop: threading.Event) -> None:
        while not stop.wait(self._heartbeat_seconds):
            # A beat that finds the file locked is tried again; a lost lease shows at the next batch.
            with suppress(ReqallError), self.database.writing() as tx:
                tx.execute(
                    "UPDATE job SET heartbeat = ? WHERE id = ? AND token = ?",
                    (self.clock().timestamp(), lease.job.job_id, lease.token),
                )


def is_enough(kind: str, wanted: str) -> bool:
    """Tell whether a job of one kind does all that one of another would."""
    return kind == wanted or (kind in KINDS and wanted in KINDS and KINDS.index(kind) >= KINDS.index(wanted))


def _outcome(lease: Lease, work: Callable[[Lease], str]) -> dict[str, Any]:
    """Do the work; what it makes of the job."""
    try:
        return {"message": lease.noted(work(lease)), "status": "DONE", "phase": "done"}
    except ReleasedJobError:
        return {"status": "QUEUED", "message": WAITING}
    except ReqallError as error:
        return {"status": "ERROR", "error": str(error)}
    except BaseException as error:  # its text may hold item text: only its kind is shown
        if isinstance(error, KeyboardInterrupt):
            raise
        _log.exception("job %s failed", lease.job.job_id)
        return {"status": "ERROR", "error": f"unexpected {type(error).__name__}; the log has the details"}
