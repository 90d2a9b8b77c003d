"""Rate and time left: of a phase, over a window that slides."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.database import Database
from reqall.core.jobs import Jobs
from reqall.core.pace import WINDOW_SECONDS, Pace


def paced(*steps, phase="documents"):
    pace = Pace()
    for at, done in steps:
        pace.observe(phase, done, at)
    return pace


def test_nothing_is_known_of_one_moment():
    pace = paced((100.0, 7))
    assert (pace.rate, pace.eta_seconds(50)) == (0.0, 0)


def test_a_steady_job():
    pace = paced((100.0, 0), (102.0, 20), (104.0, 40))
    assert (pace.rate, pace.eta_seconds(65)) == (10.0, 3)
    assert pace.eta_seconds(40) == pace.eta_seconds(0) == 0


def test_a_job_that_becomes_slower_is_told_after_a_window():
    steps = [(float(at), 100 * at) for at in range(20)]
    steps += [(float(at), 1900 + at - 19) for at in range(20, 20 + int(WINDOW_SECONDS) + 1)]
    assert paced(*steps).rate == pytest.approx(1.0)


def test_a_long_wait_counts_until_work_goes_on():
    waited = [(0.0, 0), (1.0, 10), (601.0, 16)]
    assert paced(*waited).rate == pytest.approx(0.01)
    assert paced(*waited, (602.0, 26)).rate == pytest.approx(10.0)


def test_a_new_phase_or_a_count_that_goes_back_begins_anew():
    pace = paced((0.0, 0), (1.0, 100))
    pace.observe("embedding", 100, 2.0)
    assert pace.rate == 0.0
    pace.observe("embedding", 102, 3.0)
    assert pace.rate == 2.0
    pace.observe("embedding", 0, 4.0)
    assert pace.rate == 0.0
    pace.observe("embedding", 3, 3.5)  # the clock was set back
    assert pace.rate == 0.0


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 1000)), min_size=1), st.integers(0, 5000))
def test_neither_is_ever_negative(steps, total):
    at, pace = 0.0, Pace()
    for wait, done in steps:
        at += wait
        pace.observe("documents", done, at)
        assert pace.rate >= 0
        assert pace.eta_seconds(total) >= 0


def test_a_job_shows_them_until_it_ends(tmp_path):
    now = datetime(2024, 6, 1, tzinfo=UTC)
    jobs = Jobs(Database(tmp_path / "catalog.db"), clock=lambda: now)

    def work(lease):
        nonlocal now
        lease.report(phase="embedding", done=0, total=100)
        now += timedelta(seconds=4)
        lease.report(done=50)
        shown.append(jobs.get(lease.job.job_id))
        return "finished"

    shown = []
    job, lease = jobs.claim("sync", "s:p")
    ended = jobs.run(lease, work)
    assert [(job.rate, job.eta_seconds) for job in shown] == [(12.5, 4)]
    assert (ended.rate, ended.eta_seconds, ended.status) == (0.0, 0, "DONE")
    assert (job.started, ended.finished) == ("2024-06-01T00:00:00+00:00", "2024-06-01T00:00:04+00:00")
    jobs.database.close()
