"""Syncs from the command line: followed, taken over, cancelled; what is told of jobs and projects."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

PROJECT = next(p for p in tiny_project()["projects"] if not p.get("isFolder"))["projectKey"]


class HeldJama:
    """A small Jama whose first page of items waits until `go`."""

    def __init__(self):
        self.reached, self.go = threading.Event(), threading.Event()
        self.simulator = JamaSimulator(project=tiny_project(requirements=7), before_page=self._hold)

    def _hold(self, _world, path, start):
        if "items" in path and start == 0:
            self.reached.set()
            self.go.wait(60)


@pytest.fixture
def held():
    jama = HeldJama()
    with jama.simulator:
        yield jama
        jama.go.set()


@pytest.fixture
def settings(held, empty_home):
    simulator = held.simulator
    return empty_home | {
        "JAMA_URL": simulator.url,
        "JAMA_CLIENT_ID": simulator.client_id,
        "JAMA_CLIENT_SECRET": simulator.client_secret,
    }


@pytest.fixture
def start(settings):
    """Start commands and leave them running."""
    started = []

    def run(*arguments):
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "reqall", *arguments]
        started.append(subprocess.Popen(command, env=settings, stdout=pipe, stderr=pipe, text=True, encoding="utf-8"))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def run(reqall, settings):
    """Run a command to its end; stdout as JSON."""

    def run(*arguments):
        process = reqall(*arguments, "--json", settings=settings)
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)

    return run


def ended(process, code=0):
    out, err = process.communicate(timeout=90)
    assert process.returncode == code, out + err
    assert "Traceback" not in err
    return out, err


def until(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert condition()


def test_a_sync_that_runs_elsewhere_is_followed_to_its_end(held, start, run):
    first = start("sync", PROJECT, "--json")
    assert held.reached.wait(60)
    second = start("sync", PROJECT, "--json")
    assert "following it" in second.stderr.readline()
    held.go.set()
    one, two = json.loads(ended(first)[0]), json.loads(ended(second)[0])
    assert one == two
    assert one["status"] == "DONE"
    assert [job["job_id"] for job in run("jobs")] == [one["job_id"]]


def test_who_follows_takes_over_when_the_owner_is_killed(held, start, run):
    first = start("sync", PROJECT)
    assert held.reached.wait(60)
    second = start("sync", PROJECT, "--json")
    assert "following it" in second.stderr.readline()
    first.kill()
    first.wait()
    held.go.set()
    job = json.loads(ended(second)[0])
    assert job["status"] == "DONE"
    assert "taken over" in job["message"]
    assert [listed["job_id"] for listed in run("jobs")] == [job["job_id"]]


def test_a_full_read_follows_another_sync_and_then_reads_all(held, start, run):
    first = start("sync", PROJECT)
    assert held.reached.wait(60)
    second = start("sync", PROJECT, "--full", "--json")
    assert "following it" in second.stderr.readline()
    held.go.set()
    ended(first)
    job = json.loads(ended(second)[0])
    assert (job["kind"], job["embedded"]) == ("full", 0)
    assert [listed["kind"] for listed in run("jobs")] == ["full", "sync"]


def test_ctrl_c_cancels_the_sync_that_the_command_began(held, start, run):
    process = start("sync", PROJECT)
    assert held.reached.wait(60)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    held.go.set()
    out, err = ended(process, 130)
    assert out == ""
    (job,) = run("jobs")
    assert f"job {job['job_id']} cancelled" in err
    assert (job["status"], job["error"]) == ("CANCELLED", "")
    assert run("sync", PROJECT)["status"] == "DONE"
    assert [listed["status"] for listed in run("jobs")] == ["DONE", "CANCELLED"]


def test_ctrl_c_leaves_a_followed_sync_alone(held, start):
    first = start("sync", PROJECT, "--json")
    assert held.reached.wait(60)
    second = start("sync", PROJECT)
    assert "following it" in second.stderr.readline()
    second.send_signal(signal.SIGINT)
    assert "goes on" in ended(second, 130)[1]
    held.go.set()
    assert json.loads(ended(first)[0])["status"] == "DONE"


def test_a_job_is_cancelled_from_another_process(held, start, run, reqall, settings):
    process = start("sync", PROJECT)
    assert held.reached.wait(60)
    (running,) = run("jobs")
    assert running["status"] == "RUNNING"
    (cancelled,) = run("jobs", "--cancel", running["job_id"])
    assert cancelled["status"] == "CANCELLED"
    held.go.set()
    assert "ended with CANCELLED" in ended(process, 1)[1]
    again = reqall("jobs", "--cancel", running["job_id"], settings=settings)
    assert again.returncode == 1
    assert "ended already" in again.stderr
    unknown = reqall("jobs", "--cancel", "nonsense", settings=settings)
    assert unknown.returncode == 1
    assert "'nonsense'" in unknown.stderr


def test_jobs_and_status_of_nothing(reqall, run, settings):
    assert run("jobs") == []
    assert run("status")["projects"] == []
    assert "no jobs yet" in reqall("jobs", settings=settings).stdout
    assert "reqall sync" in reqall("status", settings=settings).stdout


def test_status_of_a_first_sync_shows_its_job_and_what_lags(held, start, run, reqall, settings):
    def hold_after_the_first_page(_world, path, start):
        if "relationships" in path and start == 0:
            held.reached.set()
            held.go.wait(60)

    held.simulator.faults.before_page = hold_after_the_first_page
    process = start("sync", PROJECT)
    assert held.reached.wait(60)
    until(lambda: run("status")["projects"])
    (project,) = run("status", PROJECT)["projects"]
    assert project["last_synced"] == ""
    assert project["freshness"] == "never fully synced; a sync is running"
    assert project["documents"] >= 7
    (job,) = project["job"]
    assert (job["status"], job["phase"]) == ("RUNNING", "links")
    behind = {index["index"]: index["documents_behind"] for index in project["indexes"]}
    assert behind["words"] == 0
    assert 0 <= behind["meaning"] <= project["documents"]  # it is embedded while the links come
    told = reqall("status", settings=settings).stdout
    assert "index words: 0 documents behind" in told
    assert "index meaning: " in told
    assert f"job {job['job_id']} RUNNING" in told
    process.kill()
    process.wait()
    (project,) = run("status")["projects"]
    assert "interrupted" in project["freshness"]
    assert project["job"][0]["status"] == "QUEUED"


def test_people_read_status_and_jobs(reqall):
    status = reqall("status", "AIP")
    assert status.returncode == 0, status.stderr
    assert "51 AIP" in status.stdout
    assert "232 documents, synced" in status.stdout
    assert "index meaning: 0 documents behind" in status.stdout
    assert "every 2 hours" in status.stdout
    assert "ADS" not in status.stdout
    jobs = reqall("jobs").stdout.splitlines()
    assert jobs[0].split()[:3] == ["job", "project", "kind"]
    assert all("DONE" in line for line in jobs[1:])
    unknown = reqall("status", "NOPE")
    assert unknown.returncode == 1
    assert "'NOPE'" in unknown.stderr


def test_a_wrong_interval_is_told(reqall):
    process = reqall("status", SYNC_INTERVAL_HOURS="-2")
    assert process.returncode == 1
    assert "error: SYNC_INTERVAL_HOURS is '-2'" in process.stderr


def test_status_tells_why_the_last_sync_failed(held, run, reqall, settings):
    held.go.set()
    run("sync", PROJECT)
    held.simulator.faults.forbidden_paths.append("abstractitems|items")
    process = reqall("sync", PROJECT, settings=settings)
    assert process.returncode == 1
    (project,) = run("status")["projects"]
    assert project["last_error"]
    assert project["last_synced"]
    assert project["last_error"].splitlines()[0] in reqall("status", settings=settings).stdout


def test_an_app_that_is_closed_lets_its_sync_go(held, settings, run):
    app = App(Overrides(), Environment(settings, Path(settings["REQALL_HOME"]) / ".env"))
    job = app.sync(PROJECT, background=True)
    assert held.reached.wait(60)
    threading.Timer(0.2, held.go.set).start()
    app.close()
    taken = run("sync", PROJECT)
    assert (taken["job_id"], taken["status"]) == (job.job_id, "DONE")
    assert "taken over" in taken["message"]
