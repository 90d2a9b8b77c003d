"""The schedule: what is due when, by a clock that the test sets."""

import logging
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from reqall import ConfigError, Project, SourceUnavailableError
from reqall.core.catalog import Catalog
from reqall.core.database import Database
from reqall.core.jobs import TAKEN_OVER, Jobs
from reqall.core.schedule import Schedule, interval_from

INTERVAL = timedelta(hours=2)


class Shop:
    """A process with a schedule, over a file; `synced` lists the projects that it synced."""

    def __init__(self, path, clock, **options):
        self.clock = clock
        self.jobs = Jobs(Database(path), clock=lambda: clock.now)
        self.catalog = Catalog(self.jobs.database)
        self.synced = []
        self.failure = None
        self.refusal = None
        self.schedule = Schedule(self.catalog, self.jobs, self.sync, INTERVAL, **options)

    def sync(self, project_id, newest=None, *, cancel=False):
        if self.refusal is not None:
            raise self.refusal
        job, lease = self.jobs.claim("sync", project_id, newest)
        if lease is None:
            return job

        def work(held):
            with self.jobs.database.writing() as tx:
                held.advance(tx)
                self.catalog.write_project(tx, Project(project_id, "s", "K", "Name"))
            if cancel:
                self.jobs.cancel(job.job_id)
                held.report()
            if self.failure is not None:
                raise self.failure
            with self.jobs.database.writing() as tx:
                held.advance(tx)
                self.catalog.write_synced(tx, project_id, None, self.clock.now)
            return "synced"

        self.synced.append(project_id)
        return self.jobs.run(lease, work)

    def run(self):
        """Sync what is due; the ids of these projects."""
        before = len(self.synced)
        self.schedule.run_due()
        return self.synced[before:]

    def close(self):
        self.schedule.stop()
        self.jobs.close()
        self.jobs.database.close()


class Clock:
    def __init__(self):
        self.now = datetime(2024, 6, 1, tzinfo=UTC)

    def wait(self, **time):
        self.now += timedelta(**time)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_shop(tmp_path, clock):
    """Start processes that share a file."""
    opened = []

    def start(**options):
        opened.append(Shop(tmp_path / "catalog.db", clock, **options))
        return opened[-1]

    yield start
    for shop in opened:
        shop.close()


@pytest.fixture
def shop(open_shop):
    return open_shop()


def test_only_what_is_initialised_is_synced(shop):
    assert shop.run() == []


def test_a_project_is_synced_when_its_last_sync_is_an_interval_old(shop, clock):
    shop.sync("s:1")
    clock.wait(minutes=30)
    shop.sync("s:2")
    assert shop.run() == []
    clock.wait(minutes=89)
    assert shop.run() == []
    clock.wait(minutes=1)
    assert shop.run() == ["s:1"]
    clock.wait(minutes=30)
    assert shop.run() == ["s:2"]
    assert shop.run() == []


def test_missed_runs_are_made_up_for_once_at_the_next_start(shop, open_shop, clock):
    shop.sync("s:1")
    clock.wait(days=9)
    later = open_shop()
    assert later.run() == ["s:1"]
    assert later.run() == []
    assert shop.run() == []


def test_of_processes_that_share_a_file_one_syncs(open_shop, clock):
    shops = [open_shop() for _ in range(3)]
    shops[0].sync("s:1")
    shops[0].synced.clear()
    clock.wait(hours=3)
    barrier = threading.Barrier(3)

    def race(shop):
        barrier.wait()
        shop.run()

    threads = [threading.Thread(target=race, args=(shop,)) for shop in shops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [project for shop in shops for project in shop.synced] == ["s:1"]


def test_a_project_that_another_process_syncs_is_left_to_it(shop, clock):
    shop.sync("s:1")
    clock.wait(hours=3)
    shop.jobs.claim("sync", "s:1")
    assert shop.schedule.due() == []


def test_a_job_whose_process_ended_is_taken_over_at_once(shop, open_shop):
    """Also of a project that the catalog does not know yet."""
    job, _ = shop.jobs.claim("sync", "s:1")
    with shop.jobs.database.writing() as tx:
        tx.execute("UPDATE job SET heartbeat = 0")
    later = open_shop()
    (ended,) = later.schedule.run_due()
    assert (ended.job_id, ended.status, ended.message) == (job.job_id, "DONE", f"synced; {TAKEN_OVER}")
    assert later.run() == []


def test_a_repair_is_no_sync(shop, clock):
    shop.sync("s:1")
    clock.wait(hours=3)
    _, lease = shop.jobs.claim("repair", "s:1")
    shop.jobs.run(lease, lambda _lease: "repaired")
    assert shop.run() == ["s:1"]


def test_a_first_sync_that_failed_is_tried_again_at_start_and_then_at_intervals(shop, open_shop, clock):
    shop.failure = SourceUnavailableError("down")
    shop.sync("s:1")
    assert shop.run() == []
    clock.wait(minutes=5)
    later = open_shop()
    later.failure = shop.failure
    assert later.run() == ["s:1"]
    assert later.run() == []
    clock.wait(hours=2)
    later.failure = None
    assert later.run() == ["s:1"]
    assert later.catalog.project("s:1").synced == clock.now


def test_a_later_sync_that_failed_waits_an_interval(shop, open_shop, clock):
    shop.sync("s:1")
    clock.wait(hours=3)
    shop.failure = SourceUnavailableError("down")
    assert shop.run() == ["s:1"]
    assert shop.run() == open_shop().run() == []
    clock.wait(hours=2)
    assert shop.run() == ["s:1"]


def test_a_first_sync_that_somebody_cancelled_stays_cancelled(shop, open_shop, clock):
    assert shop.sync("s:1", cancel=True).status == "CANCELLED"
    clock.wait(days=1)
    assert open_shop().run() == []
    shop.sync("s:1")
    clock.wait(hours=1)
    shop.sync("s:1", cancel=True)
    clock.wait(minutes=90)
    assert shop.run() == []
    clock.wait(minutes=30)
    assert shop.run() == ["s:1"]


def test_a_source_without_settings_is_told_once_and_does_not_stop_the_others(shop, clock, caplog):
    for project in ("a:1", "a:2", "s:3"):
        shop.sync(project)
    shop.synced.clear()
    sync = shop.schedule._sync

    def refuse(project_id, newest):
        if project_id.startswith("a:"):
            raise ConfigError("A_URL is not set", "set it")
        return sync(project_id, newest)

    shop.schedule._sync = refuse
    clock.wait(hours=3)
    with caplog.at_level(logging.WARNING, "reqall.schedule"):
        assert shop.run() == ["s:3"]
        clock.wait(hours=3)
        assert shop.run() == ["s:3"]
    assert [record.getMessage() for record in caplog.records] == ["no scheduled syncs of source a: A_URL is not set"]


def test_a_project_that_cannot_be_begun_is_tried_again_after_an_interval(shop, clock, caplog):
    shop.sync("s:1")
    clock.wait(hours=3)
    shop.refusal = SourceUnavailableError("no answer")
    for _ in range(3):
        assert shop.run() == []
    assert caplog.text.count("no answer") == 1
    shop.refusal = None
    assert shop.run() == []
    clock.wait(hours=2)
    assert shop.run() == ["s:1"]


def test_a_clock_of_another_host_that_is_ahead_makes_nothing_due(shop, clock):
    clock.wait(minutes=3)
    shop.sync("s:1")
    clock.wait(minutes=-3)
    assert shop.run() == []


def until(condition):
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_a_started_schedule_looks_again_and_again_until_it_is_stopped(open_shop, clock):
    shop = open_shop(look_seconds=0.05)
    shop.sync("s:1")
    clock.wait(hours=3)
    shop.schedule.start()
    until(lambda: len(shop.synced) == 2 and shop.jobs.latest("s:1").ended)
    clock.wait(hours=3)
    until(lambda: len(shop.synced) == 3 and shop.jobs.latest("s:1").ended)
    shop.schedule.stop()
    clock.wait(hours=3)
    time.sleep(0.2)
    assert len(shop.synced) == 3
    until(lambda: not [t for t in threading.enumerate() if "APScheduler" in t.name or t.name == "schedule"])


def test_a_defect_in_one_look_does_not_end_the_schedule(open_shop, clock, caplog):
    shop = open_shop(look_seconds=0.05)
    shop.sync("s:1")
    clock.wait(hours=3)
    shop.refusal = ZeroDivisionError()
    shop.schedule.start()
    until(lambda: "ZeroDivisionError" in caplog.text)
    shop.refusal = None
    until(lambda: len(shop.synced) == 2)


def test_a_schedule_that_never_started_can_be_stopped(shop, clock):
    shop.sync("s:1")
    clock.wait(hours=3)
    shop.schedule.stop()
    assert shop.run() == []


@pytest.mark.parametrize(
    ("text", "hours"), [("2", 2), ("0.5", 0.5), (" 12 ", 12), ("0", None), ("0.0", None), (None, 2)]
)
def test_the_interval_is_read_in_hours(text, hours):
    expected = None if hours is None else timedelta(hours=hours)
    assert interval_from({} if text is None else {"SYNC_INTERVAL_HOURS": text}) == expected


@pytest.mark.parametrize("text", ["two", "-1", "nan", "inf", "1e300", "2h"])
def test_a_wrong_interval_is_named(text):
    with pytest.raises(ConfigError, match="SYNC_INTERVAL_HOURS") as caught:
        interval_from({"SYNC_INTERVAL_HOURS": text})
    assert text in caught.value.message
    assert caught.value.remedy


def test_its_library_is_loaded_only_by_the_start():
    script = "import sys, reqall.core.schedule; print('apscheduler' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
