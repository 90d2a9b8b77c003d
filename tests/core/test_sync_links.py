"""An incremental sync replaces the links around what changed, and walks all where that may not be enough."""

from datetime import UTC, datetime

import pytest

from reqall import Link, Page, SourceUnavailableError
from reqall.core.jobs import Jobs
from reqall.core.sync import Sync
from reqall.testing.fakes import ListSource

NOW = datetime(2024, 6, 1, tzinfo=UTC)


class Telling(ListSource):
    """Tells which links changed: `touched` are documents whose links did; None cannot tell."""

    def __init__(self):
        super().__init__()
        self.touched = []
        self.asked = []
        self.shown = {}
        self.broken = False

    def count(self, _project):
        return len(self.held)

    def changed_links(self, _project, since, changed, shown):
        assert since
        assert not set(changed) & set(shown)
        self.asked.append(list(changed))
        self.shown = dict(shown)
        if self.broken:
            raise SourceUnavailableError("down")
        if self.touched is None:
            return None
        ends = [*changed, *self.touched]
        return Page([(end, [link for link in self.linked if end in (link.from_id, link.to_id)]) for end in ends])


@pytest.fixture
def source():
    made = Telling()
    for number in range(1, 8):
        made.put(str(number), f"text{number}")
    for number in range(1, 7):
        made.link(str(number), str(number + 1))
    return made


@pytest.fixture
def sync(bench, source):
    """Sync as the App does; the ended job."""
    jobs = Jobs(bench.database)

    def run(*, full=False):
        source.calls.clear()
        source.asked.clear()
        _, lease = jobs.claim("sync", source.project.id)
        return jobs.run(
            lease,
            lambda held: Sync(source, bench.catalog, bench.indexer, source.project, held, lambda: NOW).run(full=full),
        )

    assert run().status == "DONE"
    return run


def links(bench):
    return set(bench.catalog.links("list:1"))


def test_a_first_and_a_full_sync_walk_all_links(bench, source, sync):
    assert (source.calls["links"], source.asked) == (1, [])
    sync(full=True)
    assert (source.calls["links"], source.asked) == (1, [])
    assert links(bench) == set(source.linked)


def test_links_around_what_changed_are_replaced(bench, source, sync):
    source.put("2", "other")
    source.linked[1] = Link("list:2", "list:3", "verifies", suspect=True)  # an end changed
    del source.linked[4]  # 5 -> 6, which an activity names
    source.link("7", "1")
    source.touched = ["list:5", "list:7"]
    assert sync().status == "DONE"
    assert (source.calls["links"], source.asked) == (0, [["list:2"]])
    assert links(bench) == set(source.linked)


def test_unchanged_documents_are_not_asked_about(bench, source, sync):
    sync()
    assert (source.calls["links"], source.asked) == (0, [[]])
    assert source.shown == {"list:7": ["list:6"]}  # at the watermark
    assert links(bench) == set(source.linked)


@pytest.mark.parametrize("reason", ["cannot tell", "miscounted"])
def test_where_it_may_not_be_enough_all_links_are_walked(bench, source, sync, reason):
    if reason == "cannot tell":
        source.touched = None
    else:
        source.remove("3")
    sync()
    assert source.calls["links"] == 1
    assert links(bench) == set(source.linked)


def test_after_a_sync_that_broke_off_before_the_links_all_are_walked(bench, source, sync):
    source.put("2", "other")
    source.linked[1] = Link("list:2", "list:3", "verifies", suspect=True)
    source.broken = True
    assert sync().status == "ERROR"
    source.broken = False
    assert sync().status == "DONE"  # it finds document 2 as it is stored
    assert (source.calls["links"], source.asked) == (1, [])
    assert links(bench) == set(source.linked)
    sync()
    assert source.calls["links"] == 0


def test_after_links_that_broke_off_with_no_document_changed_all_are_walked(source, sync):
    source.broken = True
    assert sync().status == "ERROR"
    source.broken = False
    assert sync().status == "DONE"
    assert (source.calls["links"], source.asked) == (1, [])


def test_links_of_an_item_that_left_the_project_are_not_taken_along(bench, source, sync):
    source.linked.append(Link("list:away", "list:elsewhere", "verifies"))
    source.touched = ["list:away"]
    sync()
    assert links(bench) == set(source.linked[:-1])


def test_of_a_document_linked_with_another_project_the_ends_are_not_told(source, sync):
    """A change of that link may be told in the other project alone, so nothing here explains it."""
    source.linked.append(Link("list:7", "other:9", "verifies"))
    sync(full=True)
    source.touched = []
    sync()
    assert source.shown == {"list:7": None}
    source.linked.pop()
    sync(full=True)
    sync()
    assert source.shown == {"list:7": ["list:6"]}
