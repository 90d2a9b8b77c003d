"""A sync outlives what Jama does to it: its job says what it waits for, ends DONE, and nothing is lost."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from reqall import SourceUnavailableError
from reqall.plugins.sources.jama.http.patience import SHORT_PATIENCE
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from tests.soak.outages import OUTAGE, Household, Outage
from tests.soak.truth import differences, held_links, true_links

REQUIREMENTS = 24
PATIENCE = 20.0


@pytest.fixture
def household(tmp_path):
    """Build a household; it is taken down after the test."""
    built = []
    with JamaSimulator(project=tiny_project(REQUIREMENTS)) as simulator:

        def build(**options):
            built.append(Household(simulator, tmp_path, **options))
            return built[-1]

        yield build
        for each in built:
            each.close()


@pytest.mark.parametrize("parallel_pages", [1, 4])
@pytest.mark.parametrize("kind", [503, "reset", "refused"])
def test_ten_minutes_without_jama_are_waited_out(household, kind, parallel_pages):
    here = household(parallel_pages=parallel_pages)
    jobs = []
    for _ in ("full", "incremental"):
        outage = Outage(here, kind, "/abstractitems")
        jobs.append(here.done())
        assert outage.is_over
        here.edit()
    for job in jobs:
        took = datetime.fromisoformat(job.finished) - datetime.fromisoformat(job.started)
        assert took >= timedelta(seconds=OUTAGE)
    waiting = [message for message in here.said if message.startswith("waiting ") and " s for Jama: " in message]
    # Of several threads one may wait already while the pages before are still written.
    assert len(waiting) >= len(here.said) * (1.0 if parallel_pages == 1 else 0.9), here.said


@pytest.mark.parametrize("retry_after", [None, "seconds"])
def test_storms_of_429s_are_waited_out(household, retry_after):
    here = household()
    here.faults.retry_after, here.faults.retry_after_seconds = retry_after, 30
    for paths in (
        ["/oauth/token", "/itemtypes", "/abstractitems", "/relationships"],
        ["/oauth/token", "/abstractitems", "/activities", "streamrelationships"],
    ):
        here.faults.revoke_tokens()
        for path in paths:
            here.faults.fail(*[429] * 7, path=path)
        here.done()
        assert here.faults.fail_next == []
        here.edit()
    assert len(here.said) >= 8 * 7
    assert all(message.startswith("waiting ") and "HTTP 429" in message for message in here.said), here.said


def test_a_token_that_expires_in_the_middle_of_a_walk_is_renewed(household):
    here = household()
    pages = iter(range(100))

    def age(_world, path, _start):
        if "/abstractitems" in path and next(pages) == 3:
            here.time.now += 3600.0

    here.faults.before_page = age
    here.done()
    assert here.tokens_asked_for() == 2


@pytest.mark.parametrize("parallel_pages", [1, 4])
def test_tokens_that_are_refused_before_their_time_are_replaced(household, parallel_pages):
    here = household(parallel_pages=parallel_pages)
    moments = iter([("/abstractitems", 8), ("/relationships", 4)])
    upcoming = [next(moments)]

    def revoke(_world, path, start):
        if upcoming and upcoming[0][0] in path and start >= upcoming[0][1]:
            upcoming[:] = [*moments][:1]
            here.faults.revoke_tokens()

    here.faults.before_page = revoke
    here.done()
    assert here.tokens_asked_for() == 3
    here.faults.fail(401, path="/abstractitems")
    here.done(full=True)
    assert here.tokens_asked_for() == 4


def test_a_cursor_goes_on_after_an_outage_and_between_changes(household):
    """Relationships come by `lastId`: those that were there all the time all come, and none is asked for twice."""
    here = household()
    Outage(here, "refused", "/relationships", page=3)
    outage, asked, before = here.faults.before_page, [], true_links(here.world)

    def change(world, path, last):
        outage(world, path, last)
        if path.endswith("/relationships"):
            asked.append(last)
            if asked == [0]:
                world.unrelate(2)
                world.unrelate(20)
            if len(asked) == 2:
                world.unrelate(1)
                world.relate(1001, 1002)

    here.faults.before_page = change
    job = here.sync()
    assert (job.status, job.error) == ("DONE", "")
    assert asked == sorted(asked)
    lasting = before.keys() & true_links(here.world).keys()
    assert len(lasting) == REQUIREMENTS - 3
    assert lasting | {("jama:1001", "jama:1002", "Related to")} <= held_links(here.assembly.catalog).keys()
    here.faults.before_page = None
    here.done()


def test_pages_that_shift_during_an_outage_lose_nothing(household):
    here = household()
    outage = Outage(here, 503, "/abstractitems", page=4)

    def shift():
        if len(here.said) == 5:
            here.world.delete(1002)
            here.world.delete(1020)
            here.world.add({"itemType": 24, "parent": {"item": 102}, "fields": {"name": "Added in the outage"}})
            here.world.edit(1003, name="Edited in the outage")

    here.when_slept.append(shift)
    job = here.sync()
    assert (job.status, job.error, outage.is_over) == ("DONE", "", True)
    here.done()


@pytest.mark.parametrize("path", ["/oauth/token", "/itemtypes"])
def test_a_tool_does_not_wait_for_a_sync_that_waits(household, path):
    """Sync and tool want the same token, or the same item types: who may wait does not keep the other waiting."""
    here = household()
    here.faults.fail(*[503] * 5000, path=path)
    go_on, waits = threading.Event(), threading.Event()
    told_by_tool, slept_by_tool = [], []

    def hold():
        if threading.current_thread().name.startswith("tool"):
            told_by_tool.append(here.said[-1])
        else:
            waits.set()
            assert go_on.wait(PATIENCE)

    here.when_slept.append(hold)
    job = here.sync(background=True)
    assert waits.wait(PATIENCE)
    message = here.jobs.get(job.job_id).message
    with ThreadPoolExecutor(1, "tool") as tools:
        before = here.time.now
        tool = tools.submit(here.source.master.item_types)
        with pytest.raises(SourceUnavailableError, match="503"):
            tool.result(PATIENCE)
        slept_by_tool.append(here.time.now - before)
    assert slept_by_tool[0] <= SHORT_PATIENCE
    assert set(told_by_tool) == {message}, "what a tool waits for is not the job's business"
    here.faults.fail_next.clear()
    go_on.set()
    assert here.jobs.wait(PATIENCE)
    assert here.jobs.get(job.job_id).status == "DONE"
    assert differences(here.assembly.catalog, here.world) == []


def test_a_job_that_is_cancelled_stops_to_wait(household):
    here = household(parallel_pages=4)
    outage = Outage(here, 503, "/abstractitems", seconds=10_000)
    lock = threading.Lock()

    def cancel():
        with lock:
            job = here.jobs.latest("jama:2")
            if here.time.now >= 20 and not job.ended:
                here.jobs.cancel(job.job_id)

    here.when_slept.append(cancel)
    job = here.sync()
    assert job.status == "CANCELLED"
    assert here.time.now < 30
    here.when_slept.remove(cancel)
    outage.end()
    here.done()


def test_patience_ends_and_the_next_sync_goes_on(household):
    here = household(patience=120)
    outage = Outage(here, 503, "/abstractitems", seconds=10_000)
    job = here.sync()
    assert job.status == "ERROR"
    assert "Jama failed at GET /abstractitems: HTTP 503" in job.error
    assert 60 <= here.time.now <= 120
    outage.end()
    here.done()


def test_threads_that_want_a_token_wait_for_it_together(household):
    """And not one after the other, each as long as a sync may wait."""
    here = household(parallel_pages=4, patience=120)

    def fail(_world, path, start):
        if "/abstractitems" in path and start == 9 and not here.faults.fail_next:
            here.time.now += 4000.0
            here.faults.fail(*[503] * 5000, path="/oauth/token")

    here.faults.before_page = fail
    job = here.sync()
    assert job.status == "ERROR"
    assert "Jama failed at the token request: HTTP 503" in job.error
    tries_of_one = 7
    assert here.tokens_asked_for() == 1 + tries_of_one
    here.faults.before_page = None
    here.faults.fail_next.clear()
    here.done()
