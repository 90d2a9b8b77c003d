"""Jobs that end before they are done: cancelled by somebody, or let go by a process that ends."""

import logging
import threading

import pytest

from reqall.core.database import Database
from reqall.core.errors import InputError, JobError, NotFoundError
from reqall.core.jobs import CANCELLED, WAITING, Jobs


@pytest.fixture
def open_jobs(tmp_path):
    """Open the jobs of one file, as several processes do."""
    opened = []

    def open_them():
        opened.append(Jobs(Database(tmp_path / "catalog.db"), heartbeat_seconds=0.02))
        return opened[-1]

    yield open_them
    for jobs in opened:
        jobs.database.close()


@pytest.fixture
def jobs(open_jobs):
    return open_jobs()


def batch(jobs, lease, done):
    """Write one batch: a change of the catalog, and progress."""
    with jobs.database.writing() as tx:
        tx.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
        lease.advance(tx, done=done, total=9)


def batches(jobs):
    return jobs.database.query("SELECT value FROM meta WHERE key = 'seq'")[0][0]


class Work:
    """Writes one batch, says so, waits to be told, and writes the next."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.begun, self.go = threading.Event(), threading.Event()
        self.error = None

    def __call__(self, lease):
        batch(self.jobs, lease, 1)
        self.begun.set()
        self.go.wait(10)
        try:
            batch(self.jobs, lease, 2)
        except JobError as error:
            self.error = error
            raise
        return "all done"


def started(jobs):
    """A job in the background that has written its first batch."""
    work = Work(jobs)
    job, lease = jobs.claim("sync", "s:p")
    jobs.start(lease, work)
    assert work.begun.wait(10)
    return job.job_id, work


def test_a_cancelled_job_stops_before_its_next_batch(jobs, open_jobs, caplog):
    job_id, work = started(jobs)
    cancelled = open_jobs().cancel(job_id)
    assert (cancelled.status, cancelled.message, cancelled.error, cancelled.done) == ("CANCELLED", CANCELLED, "", 1)
    assert cancelled.finished is not None
    with caplog.at_level(logging.WARNING, "reqall.jobs"):
        work.go.set()
        assert jobs.wait(10)
    assert isinstance(work.error, JobError)
    assert "was cancelled" in str(work.error)
    assert batches(jobs) == 1
    assert jobs.get(job_id) == cancelled
    assert caplog.text == ""


def test_a_cancelled_job_makes_room_at_once(jobs):
    """Its owner may be busy for long; what it writes late is refused."""
    job_id, work = started(jobs)
    jobs.cancel(job_id)
    later, lease = jobs.claim("sync", "s:p")
    assert later.job_id != job_id
    batch(jobs, lease, 5)
    work.go.set()
    assert jobs.wait(10)
    assert batches(jobs) == 2
    assert jobs.get(later.job_id).done == 5


def test_a_job_that_nobody_runs_can_be_cancelled(jobs):
    job, _ = jobs.claim("sync", "s:p")
    with jobs.database.writing() as tx:
        tx.execute("UPDATE job SET heartbeat = 0")
    assert jobs.get(job.job_id).status == "QUEUED"
    assert jobs.cancel(job.job_id).status == "CANCELLED"
    assert jobs.open() == []
    assert jobs.claim("sync", "s:p")[0].job_id != job.job_id


def test_a_job_that_has_ended_cannot_be_cancelled(jobs):
    job, lease = jobs.claim("sync", "s:p")
    ended = jobs.run(lease, lambda _lease: "done")
    with pytest.raises(InputError, match="ended already"):
        jobs.cancel(job.job_id)
    assert jobs.get(job.job_id) == ended
    with pytest.raises(NotFoundError, match="nonsense"):
        jobs.cancel("nonsense")


def test_a_process_that_ends_lets_its_jobs_go_for_the_next(jobs, open_jobs):
    job_id, work = started(jobs)
    threading.Timer(0.05, work.go.set).start()
    jobs.close(10)
    assert not jobs.runs_here(job_id)
    assert batches(jobs) == 1
    left = jobs.get(job_id)
    assert (left.status, left.message, left.done, left.finished) == ("QUEUED", WAITING, 1, None)
    successor = open_jobs()
    job, lease = successor.claim("sync", "s:p")
    assert (job.job_id, job.status, job.done) == (job_id, "RUNNING", 1)
    batch(successor, lease, 2)
    assert successor.run(lease, lambda _lease: "finished").status == "DONE"


def test_the_end_of_a_process_does_not_wait_for_ever(jobs):
    job_id, work = started(jobs)
    jobs.close(0.05)
    assert jobs.runs_here(job_id)
    assert jobs.get(job_id).status == "RUNNING"
    work.go.set()
    assert jobs.wait(10)
    assert jobs.get(job_id).status == "QUEUED"
