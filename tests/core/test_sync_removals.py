"""A sync asks before it removes what looks like a lost permission or an outage."""

from datetime import UTC, datetime

import pytest

from reqall import Link, Page
from reqall.core.jobs import Jobs
from reqall.core.sync import Sync
from reqall.testing.fakes import ListSource

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TOO_MANY = "are no longer shown by list: this is what a lost permission or an outage looks like"


class CountingSource(ListSource):
    def count(self, _project):
        return len(self.held)


class LookingUp(CountingSource):
    """Tells what was deleted, and looks documents up."""

    told = ()

    def deleted(self, _project, _since):
        yield Page(self.told, requests=1)

    def present(self, _project, document_ids):
        self.calls["present"] += 1
        return Page([each for each in document_ids if each in self.held], requests=len(document_ids))


def filled(source, count):
    for number in range(count):
        source.put(str(number), f"text{number}")
    return source


@pytest.fixture
def sync(bench):
    """Sync a source as the App does; the ended job."""
    jobs = Jobs(bench.database)

    def run(source, *, full=False, allow_removals=False):
        source.calls.clear()
        _, lease = jobs.claim("sync", source.project.id, allow_removals=allow_removals)
        return jobs.run(
            lease,
            lambda held: Sync(source, bench.catalog, bench.indexer, source.project, held, lambda: NOW).run(full=full),
        )

    return run


def ids(bench):
    return set(bench.catalog.document_ids("list:1"))


@pytest.mark.parametrize("full", [False, True])
def test_too_many_removals_are_withheld_and_all_else_is_done(bench, sync, full):
    source = filled(CountingSource(), 104)
    source.link("1", "103")
    source.link("102", "103")
    assert sync(source).status == "DONE"
    before, watermark = ids(bench), bench.catalog.project("list:1").watermark
    kept = dict(source.held)
    for number in range(21):
        source.remove(str(number))
    source.put("103", "edited")
    source.link("103", "102")
    job = sync(source, full=full)
    assert job.status == "ERROR"
    assert f"21 of 104 documents of P {TOO_MANY}" in job.error
    assert "reqall sync P --allow-removals" in job.error
    assert job.deleted == 0
    assert ids(bench) == before
    assert bench.find(bench.words, "edited") == ["list:103"]
    # A link of what is not shown stays as it was.
    assert {(link.from_id, link.to_id) for link in bench.catalog.links("list:1")} == {
        ("list:1", "list:103"),
        ("list:102", "list:103"),
        ("list:103", "list:102"),
    }
    assert bench.held(bench.meaning) == bench.chunks()
    # What changes while it is not shown must not lie behind the watermark when it is shown again.
    assert bench.catalog.project("list:1").watermark == watermark
    source.held = kept | source.held
    source.linked.append(Link("list:1", "list:103", "verifies"))
    assert sync(source).status == "DONE"
    assert ids(bench) == before


def test_an_item_edited_while_it_was_not_shown_is_read_when_it_is_shown_again(bench, sync):
    source = filled(CountingSource(), 100)
    sync(source)
    hidden = {key: source.held.pop(key) for key in list(source.held)[:50]}
    at = source.tick()
    source.put("99", "later than what nobody sees")
    assert sync(source).status == "ERROR"
    source.held |= hidden
    source.put("0", "edited unseen", modified=at)
    assert sync(source).status == "DONE"
    assert bench.find(bench.words, "unseen") == ["list:0"]


@pytest.mark.parametrize("full", [False, True])
def test_the_flag_removes_them(bench, sync, full):
    source = filled(CountingSource(), 30)
    sync(source)
    source.held.clear()
    assert sync(source, full=full).status == "ERROR"
    assert len(ids(bench)) == 30
    job = sync(source, full=full, allow_removals=True)
    assert (job.status, job.deleted) == ("DONE", 30)
    assert ids(bench) == set()


@pytest.mark.parametrize(("held", "removed"), [(20, 20), (105, 21), (1000, 200)])
def test_few_removals_and_a_fifth_need_no_flag(bench, sync, held, removed):
    source = filled(CountingSource(), held)
    sync(source)
    for number in range(removed):
        source.remove(str(number))
    job = sync(source)
    assert (job.status, job.deleted) == ("DONE", removed)
    assert len(ids(bench)) == held - removed


def test_a_few_told_deletions_are_looked_up_without_a_sweep(bench, sync):
    source = filled(LookingUp(), 7)
    sync(source)
    source.told = [source.remove("2"), "list:3", "list:never"]
    job = sync(source)
    assert (job.status, job.deleted) == ("DONE", 1)
    assert ids(bench) == set(source.held)
    assert (source.calls["present"], source.calls["document_ids"]) == (1, 0)


def test_what_is_not_told_besides_is_found_by_the_count(bench, sync):
    source = filled(LookingUp(), 7)
    sync(source)
    source.told = [source.remove("2")]
    source.remove("4")
    assert sync(source).deleted == 2
    assert ids(bench) == set(source.held)
    assert source.calls["document_ids"] == 1


def test_many_told_deletions_are_swept_and_guarded(bench, sync):
    source = filled(LookingUp(), 50)
    sync(source)
    source.told = [source.remove(str(number)) for number in range(21)]
    job = sync(source)
    assert (job.status, job.deleted) == ("ERROR", 0)
    assert (source.calls["present"], source.calls["document_ids"]) == (0, 1)
    source.told = []
    assert sync(source).status == "ERROR"  # as long as they are not shown
    assert sync(source, allow_removals=True).deleted == 21
    assert ids(bench) == set(source.held)
