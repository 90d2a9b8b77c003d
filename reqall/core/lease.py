"""A running job in its owner's hands: progress is written inside the batches' transactions."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from reqall.core.database import Database
from reqall.core.errors import JobError
from reqall.core.job import Job
from reqall.core.pace import Pace
from reqall.core.protocols import SqlConnection


class CancelledJobError(JobError):
    """The job was cancelled: its owner stops at the next batch, which is not written."""


class ReleasedJobError(JobError):
    """This process is about to end: the job stops at its next batch and waits for another owner."""


@dataclass
class Lease:
    """The right to work at a job, as long as its row has this token.

    `closing` is set when the process is about to end. `note` goes with every message, so that none
    hides where the job came from.
    """

    database: Database
    job: Job
    token: int
    clock: Callable[[], datetime]
    closing: threading.Event
    note: str = ""
    pace: Pace = field(default_factory=Pace)

    def advance(self, tx: SqlConnection, **changes: Any) -> None:
        """Check the lease and write progress, in the batch's own transaction. Raises JobError."""
        if self.closing.is_set():
            raise ReleasedJobError(f"job {self.job.job_id} was let go: its process is about to end")
        if "message" in changes:
            changes["message"] = self.noted(changes["message"])
        job = replace(self.job, **changes)
        now = self.clock().timestamp()
        self.pace.observe(job.phase, job.done, now)
        job = replace(job, rate=round(self.pace.rate, 2), eta_seconds=self.pace.eta_seconds(job.total))
        tx.execute(
            "UPDATE job SET state = ?, heartbeat = ? WHERE id = ? AND token = ? AND status = 'RUNNING'",
            (job.stored(), now, job.job_id, self.token),
        )
        if next(tx.execute("SELECT changes()"))[0] != 1:
            raise self._lost(tx)
        self.job = job

    def report(self, **changes: Any) -> None:
        """Write progress in a transaction of its own."""
        with self.database.writing() as tx:
            self.advance(tx, **changes)

    def noted(self, message: str) -> str:
        """Add the note to a message."""
        return "; ".join(filter(None, (message, self.note)))

    def _lost(self, tx: SqlConnection) -> JobError:
        job_id = self.job.job_id
        if ("CANCELLED",) in tx.execute("SELECT status FROM job WHERE id = ?", (job_id,)):
            return CancelledJobError(f"job {job_id} was cancelled")
        return JobError(f"job {job_id} lost its lease", "another process goes on with it; see its status")
