"""Jobs: one lease per project in whatever process, fencing, and what remains when an owner dies."""

import json
import logging
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from reqall.core.database import Database
from reqall.core.errors import JobError, NotFoundError, SourceError
from reqall.core.jobs import KEPT_PER_PROJECT, TAKEN_OVER, WAITING, Jobs, is_enough
from reqall.core.owner import LEASE_SECONDS

OWNER = """
import sys
from pathlib import Path
from reqall.core.database import Database
from reqall.core.jobs import Jobs
jobs = Jobs(Database(Path(sys.argv[1])))
print("ready", flush=True)
sys.stdin.readline()
job, lease = jobs.claim("sync", "s:p")
print(job.job_id, lease is not None, flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def jobs(tmp_path):
    opened = Jobs(Database(tmp_path / "catalog.db"), heartbeat_seconds=0.02)
    yield opened
    opened.database.close()


@pytest.fixture
def owner(jobs):
    """Start processes that claim when they are told to, and then live on."""
    started = []

    def start():
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", OWNER, str(jobs.database.path)]
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def claim_in(*processes):
    """Let all claim at once; (job id, whether the lease was given) of each."""
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
    answers = [process.stdout.readline().split() for process in processes]
    return [(job_id, given == "True") for job_id, given in answers]


def change(jobs, **columns):
    """Rewrite columns of all jobs, as another host's process would have left them."""
    with jobs.database.writing() as tx:
        for name, value in columns.items():
            tx.execute(f"UPDATE job SET {name} = ?", (value,))


def column(jobs, job_id, name):
    ((value,),) = jobs.database.query(f"SELECT {name} FROM job WHERE id = ?", (job_id,))
    return value


def test_who_claims_twice_is_given_the_same_job_and_no_second_lease(jobs):
    job, lease = jobs.claim("sync", "s:p")
    assert lease is not None
    assert (job.status, job.kind, job.project_id) == ("RUNNING", "sync", "s:p")
    lease.report(done=3, total=9)
    again, second = jobs.claim("full", "s:p")
    assert second is None
    assert again == replace(job, done=3, total=9)
    _, elsewhere = jobs.claim("sync", "s:q")
    assert elsewhere is not None


def test_a_job_that_ended_makes_room_for_the_next(jobs):
    job, lease = jobs.claim("sync", "s:p")
    ended = jobs.run(lease, lambda held: held.report(done=2, total=2, phase="documents") or "2 changed")
    assert (ended.status, ended.phase, ended.message, ended.done, ended.error) == ("DONE", "done", "2 changed", 2, "")
    assert ended.started <= ended.finished
    assert ended.ended
    assert jobs.get(job.job_id) == ended
    later, lease = jobs.claim("sync", "s:p")
    assert lease is not None
    assert later.job_id != job.job_id
    assert later.message == ""
    assert jobs.latest("s:p").job_id == later.job_id
    assert jobs.latest("s:never") is None


def test_of_processes_that_claim_at_once_one_gets_the_lease(jobs, owner):
    answers = claim_in(*[owner() for _ in range(3)])
    assert sorted(given for _, given in answers) == [False, False, True]
    assert len({job_id for job_id, _ in answers}) == 1


@pytest.mark.parametrize("waited_for", [False, True])
def test_the_job_of_a_killed_process_is_taken_over_at_once(jobs, owner, waited_for):
    """Also when its parent has not waited for it: a zombie keeps its entry in /proc."""
    process = owner()
    ((job_id, given),) = claim_in(process)
    assert given
    assert jobs.claim("sync", "s:p")[1] is None
    process.kill()
    if waited_for:
        process.wait()
    deadline = time.monotonic() + 10
    while jobs.get(job_id).status == "RUNNING" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (jobs.get(job_id).status, jobs.get(job_id).message) == ("QUEUED", WAITING)
    assert [(job.job_id, job.status) for job in jobs.open()] == [(job_id, "QUEUED")]
    job, lease = jobs.claim("sync", "s:p")
    assert lease is not None
    assert (job.job_id, job.status, job.message) == (job_id, "RUNNING", TAKEN_OVER)
    assert jobs.get(job_id) == job
    assert [job.status for job in jobs.open()] == ["RUNNING"]
    ended = jobs.run(lease, lambda held: held.report(message="incremental") or "3 changed")
    assert (ended.job_id, ended.status, ended.message) == (job_id, "DONE", f"3 changed; {TAKEN_OVER}")


def test_a_job_taken_over_keeps_its_counters_and_says_so_in_every_message(jobs):
    job, lease = jobs.claim("sync", "s:p")
    lease.report(done=3, total=9, embedded=5, deleted=1, requests=7, phase="documents")
    change(jobs, heartbeat=0)
    taken, lease = jobs.claim("sync", "s:p")
    assert taken == replace(jobs.get(job.job_id), message=TAKEN_OVER)
    assert (taken.done, taken.total, taken.embedded, taken.deleted, taken.requests) == (3, 9, 5, 1, 7)
    assert taken.started == job.started
    lease.report(message="full", done=4)
    assert jobs.get(job.job_id).message == f"full; {TAKEN_OVER}"
    lease.report(embedded=lease.job.embedded + 2)
    assert jobs.get(job.job_id).embedded == 7


@pytest.mark.parametrize(
    ("begun", "asked", "goes_on"), [("sync", "sync", "sync"), ("full", "sync", "full"), ("sync", "full", "full")]
)
def test_who_takes_over_does_no_less_than_was_asked_for(jobs, begun, asked, goes_on):
    jobs.claim(begun, "s:p")
    change(jobs, heartbeat=0)
    job, lease = jobs.claim(asked, "s:p")
    assert job.kind == lease.job.kind == jobs.get(job.job_id).kind == goes_on


@pytest.mark.parametrize(("begun", "asked"), [("repair", "sync"), ("sync", "repair"), ("repair", "repair")])
def test_only_a_sync_takes_over_and_only_a_sync(jobs, begun, asked):
    first, _ = jobs.claim(begun, "s:p")
    change(jobs, heartbeat=0)
    second, lease = jobs.claim(asked, "s:p")
    assert lease is not None
    assert second.job_id != first.job_id
    assert (second.kind, second.message) == (asked, "")
    left = jobs.get(first.job_id)
    assert (left.status, left.error) == ("ERROR", "its process ended before it was done")


def test_a_claim_that_rests_on_an_older_look_gets_nothing(jobs):
    first, lease = jobs.claim("sync", "s:p", seen="")
    assert jobs.claim("sync", "s:p", seen="") == (first, None)
    ended = jobs.run(lease, lambda _lease: "done")
    assert jobs.claim("sync", "s:p", seen="") == (ended, None)
    second, lease = jobs.claim("sync", "s:p", seen=first.job_id)
    assert lease is not None
    change(jobs, heartbeat=0)
    assert jobs.claim("sync", "s:p", seen=second.job_id)[1] is not None


@pytest.mark.parametrize(
    ("kind", "wanted", "enough"),
    [
        ("sync", "sync", True),
        ("full", "sync", True),
        ("sync", "full", False),
        ("repair", "sync", False),
        ("full", "repair", False),
        ("repair", "repair", True),
    ],
)
def test_what_one_kind_does_of_another(kind, wanted, enough):
    assert is_enough(kind, wanted) is enough


def test_of_processes_that_take_over_at_once_one_does(jobs, owner):
    first, _ = jobs.claim("sync", "s:p")
    change(jobs, heartbeat=0)
    answers = claim_in(*[owner() for _ in range(3)])
    assert sorted(given for _, given in answers) == [False, False, True]
    assert {job_id for job_id, _ in answers} == {first.job_id}


def test_a_process_id_that_is_used_again_is_another_process(jobs):
    first, _ = jobs.claim("sync", "s:p")
    own = json.loads(column(jobs, first.job_id, "owner"))
    change(jobs, owner=json.dumps({**own, "start": "1"}))
    assert jobs.get(first.job_id).status == "QUEUED"
    assert jobs.claim("sync", "s:p")[1] is not None


@pytest.mark.parametrize("start", ["12345", None])
def test_an_owner_elsewhere_lives_as_long_as_its_heartbeat(jobs, start):
    jobs.claim("sync", "s:p")
    change(jobs, owner=json.dumps({"host": "elsewhere", "pid": 1, "start": start}))
    assert jobs.claim("sync", "s:p")[1] is None
    change(jobs, heartbeat=time.time() - LEASE_SECONDS - 1)
    assert jobs.latest("s:p").status == "QUEUED"
    assert jobs.claim("sync", "s:p")[1] is not None


def test_a_live_process_whose_job_stopped_beating_is_replaced(jobs):
    """A thread may end without a word while its process lives on."""
    jobs.claim("sync", "s:p")
    change(jobs, heartbeat=time.time() - LEASE_SECONDS - 1)
    assert jobs.claim("sync", "s:p")[1] is not None


def overtaken(jobs):
    """A lease, and the one of the successor that took over while it was paused."""
    _, old = jobs.claim("sync", "s:p")
    change(jobs, heartbeat=0)
    _, new = jobs.claim("sync", "s:p")
    return old, new


def test_a_paused_owner_cannot_write_after_its_successor_took_over(jobs):
    old, new = overtaken(jobs)

    def write(lease):
        with jobs.database.writing() as tx:
            tx.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
            lease.advance(tx, done=1)

    with pytest.raises(JobError, match="lost its lease") as caught:
        write(old)
    assert caught.value.remedy
    assert jobs.database.query("SELECT value FROM meta WHERE key = 'seq'") == [(0,)]
    write(new)
    assert jobs.database.query("SELECT value FROM meta WHERE key = 'seq'") == [(1,)]
    assert jobs.get(new.job.job_id).done == 1


def test_a_paused_owner_ends_without_touching_its_successor(jobs):
    old, new = overtaken(jobs)
    new.report(done=1)
    ended = jobs.run(old, lambda held: held.report(done=5) or "never")
    assert ended == jobs.get(new.job.job_id)
    assert (ended.status, ended.done, ended.error) == ("RUNNING", 1, "")
    new.report(done=2)


def test_our_own_error_is_told_in_full(jobs):
    def work(_lease):
        raise SourceError("the source said no", "ask again")

    job, lease = jobs.claim("sync", "s:p")
    ended = jobs.run(lease, work)
    assert (ended.status, ended.error) == ("ERROR", "the source said no\nask again")
    assert ended.message == ""
    assert jobs.get(job.job_id) == ended
    assert jobs.claim("sync", "s:p")[1] is not None


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_of_any_other_error_only_the_kind_is_told(jobs, error, caplog):
    def work(_lease):
        raise error("text of an item")

    _, lease = jobs.claim("sync", "s:p")
    with caplog.at_level(logging.ERROR, "reqall.jobs"):
        ended = jobs.run(lease, work)
    assert ended.status == "ERROR"
    assert ended.error == f"unexpected {error.__name__}; the log has the details"
    assert "text of an item" in caplog.text


def test_progress_of_a_transaction_that_failed_does_not_count(jobs):
    def work(lease):
        lease.report(done=1, total=9)
        with jobs.database.writing() as tx:
            lease.advance(tx, done=8)
            raise SourceError("stopped")

    _, lease = jobs.claim("sync", "s:p")
    ended = jobs.run(lease, work)
    assert (ended.status, ended.done, ended.total) == ("ERROR", 1, 9)


def test_a_running_job_beats(jobs):
    job, lease = jobs.claim("sync", "s:p")
    change(jobs, heartbeat=time.time() - LEASE_SECONDS / 2)
    before = column(jobs, job.job_id, "heartbeat")
    deadline = time.monotonic() + 4

    def work(_lease):
        while column(jobs, job.job_id, "heartbeat") == before and time.monotonic() < deadline:
            time.sleep(0.01)
        return "beaten"

    assert jobs.run(lease, work).status == "DONE"
    assert column(jobs, job.job_id, "heartbeat") > time.time() - 15
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("heartbeat")]


def test_a_job_in_the_background_can_be_watched(jobs):
    go = threading.Event()

    def work(lease):
        lease.report(phase="documents", done=1, total=2)
        go.wait(10)
        return "finished"

    job, lease = jobs.claim("sync", "s:p")
    jobs.start(lease, work)
    deadline = time.monotonic() + 10
    while jobs.get(job.job_id).phase != "documents" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert jobs.get(job.job_id).status == "RUNNING"
    assert jobs.runs_here(job.job_id)
    assert not jobs.wait(0.01)
    go.set()
    assert jobs.wait(10)
    assert not jobs.runs_here(job.job_id)
    assert jobs.get(job.job_id).status == "DONE"


def test_only_the_newest_jobs_of_a_project_are_kept(jobs):
    ids = []
    _, other = jobs.claim("sync", "s:q")
    for _ in range(KEPT_PER_PROJECT + 5):
        job, lease = jobs.claim("sync", "s:p")
        ids.append(job.job_id)
        jobs.run(lease, lambda _lease: "")
    assert jobs.database.query("SELECT count(*) FROM job WHERE project_id = 's:p'") == [(KEPT_PER_PROJECT,)]
    assert jobs.get(ids[-1]).status == "DONE"
    assert [job.job_id for job in jobs.history(3)] == ids[:-4:-1]
    with pytest.raises(NotFoundError, match=ids[0]):
        jobs.get(ids[0])
    other.report(done=1)


def test_a_job_that_never_was_is_not_found(jobs):
    with pytest.raises(NotFoundError, match="no job 'nonsense'"):
        jobs.get("nonsense")
