"""Sync: what the source holds is in the catalog, whatever happens on the way, and no more is asked than needed."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reqall import EmbedderError, Link, Page, SourceUnavailableError
from reqall.core.jobs import Jobs
from reqall.core.sync import Sync
from reqall.testing.fakes import HashingEmbedder, ListSource, MemoryRecaller

NOW = datetime(2024, 6, 1, tzinfo=UTC)


class CountingSource(ListSource):
    """Counts its documents."""

    def count(self, project):
        self.calls["count"] += 1
        return len(self.held)


class TellingSource(CountingSource):
    """Tells what was deleted, and may tell too much."""

    def __init__(self):
        super().__init__()
        self.told = []

    def deleted(self, project, since):
        self.calls["deleted"] += 1
        yield Page(self.told, requests=1)


class Desk:
    """Runs syncs of one source into one bench."""

    def __init__(self, bench, source):
        self.bench, self.source = bench, source
        self.jobs = Jobs(bench.database)
        self.now = NOW

    def run(self, *, full=False):
        """Sync as the App does; the ended job."""
        job, lease = self.jobs.claim("sync", self.source.project.id)
        assert lease is not None, job

        def work(held):
            bench = self.bench
            return Sync(self.source, bench.catalog, bench.indexer, self.source.project, held, lambda: self.now).run(
                full=full
            )

        self.source.calls.clear()
        return self.jobs.run(lease, work)

    def state(self):
        return self.bench.catalog.project(self.source.project.id)

    def texts(self):
        """What the catalog holds, as the source has it: id -> description."""
        return {found.id: found.sections.get("description") for found in self.bench.catalog.walk("list:1")}

    def expected(self):
        return {key: held.sections.get("description") for key, held in self.source.held.items()}


def filled(source, count=7):
    for number in range(1, count + 1):
        source.put(str(number), f"text{number}")
    return source


@pytest.fixture
def desk(bench):
    return Desk(bench, filled(ListSource()))


@pytest.fixture
def counting(bench):
    return Desk(bench, filled(CountingSource()))


@pytest.fixture
def telling(bench):
    return Desk(bench, filled(TellingSource()))


def done(job, message=None):
    assert (job.status, job.error) == ("DONE", "")
    if message is not None:
        assert job.message == message
    return job


def test_a_first_sync_brings_all_and_levels_every_index(desk):
    desk.source.link("1", "2")
    job = done(desk.run(), "7 changed, 0 deleted, 7 documents in all")
    assert desk.texts() == desk.expected()
    assert desk.bench.catalog.links("list:1") == [Link("list:1", "list:2", "verifies")]
    assert desk.bench.held(desk.bench.words) == desk.bench.held(desk.bench.meaning) == desk.bench.chunks()
    assert (job.embedded, job.done, job.total) == (7, 7, 7)
    assert job.requests == 3 + 1  # pages of three documents, one page of links
    assert desk.state().synced == NOW
    assert desk.state().watermark == desk.source.held["list:7"].modified.isoformat()


def test_a_first_sync_embeds_only_when_all_documents_are_in(desk):
    desk.bench.embedder.before = lambda _texts: counts.append(desk.bench.catalog.count("list:1"))
    counts = []
    done(desk.run())
    assert counts == [7]


def test_an_unchanged_source_costs_its_watermark_alone(desk):
    done(desk.run())
    before = desk.bench.log.seq()
    desk.bench.embedder.embedded.clear()
    job = done(desk.run(), "0 changed, 0 deleted, 7 documents in all")
    assert desk.bench.log.seq() == before
    assert desk.bench.embedder.embedded == []
    # The document at the watermark itself is read again: `since` is inclusive.
    assert job.requests == 1 + 1
    assert desk.source.calls == Counter(documents=1, links=1)


def test_an_incremental_sync_reads_what_changed_and_embeds_it_in_its_batch(desk):
    done(desk.run())
    desk.source.put("2", "siren")
    desk.source.put("8", "new")
    desk.bench.embedder.embedded.clear()
    counts = []
    desk.bench.embedder.before = lambda _texts: counts.append(desk.bench.catalog.count("list:1"))
    job = done(desk.run(), "2 changed, 0 deleted, 8 documents in all")
    assert counts == [7]  # before the batch is written
    assert desk.texts() == desk.expected()
    assert desk.bench.embedder.embedded == ["Name 2\nsiren", "Name 8\nnew"]
    assert job.embedded == 2
    assert job.phase == "done"
    assert desk.state().watermark == desk.source.held["list:8"].modified.isoformat()


def test_an_edit_at_the_very_watermark_is_not_missed(desk):
    done(desk.run())
    at = desk.source.held["list:7"].modified
    desk.source.put("8", "came in the same moment", modified=at)
    desk.source.put("7", "edited in the same moment", modified=at)
    done(desk.run(), "2 changed, 0 deleted, 8 documents in all")
    assert desk.texts() == desk.expected()


def test_pages_and_items_that_come_twice_cost_nothing(bench):
    class Repeating(ListSource):
        def documents(self, project, since):
            for page in super().documents(project, since):
                yield Page([*page.items, *page.items], page.watermark, page.total, 1)
                yield page

    desk = Desk(bench, filled(Repeating()))
    job = done(desk.run(), "7 changed, 0 deleted, 7 documents in all")
    assert bench.log.seq() == 7
    assert job.embedded == 7
    assert job.done == 7


def test_a_document_edited_during_the_walk_ends_in_its_newer_state(bench):
    class Shifting(ListSource):
        def documents(self, project, since):
            pages = list(super().documents(project, since))
            yield from pages
            yield Page([self.put("1", "newer")], self.held["list:1"].modified.isoformat(), requests=1)

    desk = Desk(bench, filled(Shifting()))
    done(desk.run())
    assert desk.texts()["list:1"] == "newer"
    assert bench.find(bench.words, "text1") == []


def test_a_full_sync_of_unchanged_text_embeds_nothing(desk):
    done(desk.run())
    desk.bench.embedder.embedded.clear()
    job = done(desk.run(full=True), "0 changed, 0 deleted, 7 documents in all")
    assert desk.bench.embedder.embedded == []
    assert job.embedded == 0
    assert desk.source.calls == Counter(documents=1, links=1)


def test_a_full_sync_removes_what_is_gone(desk):
    desk.source.link("1", "2")
    done(desk.run())
    desk.source.remove("2")
    job = done(desk.run(full=True), "0 changed, 1 deleted, 6 documents in all")
    assert job.deleted == 1
    assert desk.texts() == desk.expected()
    assert desk.bench.catalog.links("list:1") == []
    assert desk.bench.find(desk.bench.words, "text2") == []
    assert "list:2" not in dict(desk.bench.held(desk.bench.meaning))


def test_an_item_that_a_walk_left_out_stays_when_the_sweep_shows_it(desk):
    done(desk.run())
    desk.source.hidden = {"list:3"}
    desk.source.remove("2")
    done(desk.run(full=True), "0 changed, 1 deleted, 6 documents in all")
    assert "list:3" in desk.texts()
    assert desk.source.calls["document_ids"] == 1


def test_an_item_that_the_first_walk_missed_is_fetched(bench):
    class MissesOne(CountingSource):
        def documents(self, project, since):
            self.hidden = {"list:3"} if not self.calls["document_ids"] else set()
            yield from super().documents(project, since)

    desk = Desk(bench, filled(MissesOne()))
    done(desk.run(), "7 changed, 0 deleted, 7 documents in all")
    assert desk.texts() == desk.expected()
    assert desk.source.calls["documents"] <= 3


def test_an_item_that_the_source_counts_but_never_shows_ends_no_sync(counting):
    counting.source.hidden = {"list:3"}
    done(counting.run(), "6 changed, 0 deleted, 6 documents in all")
    assert counting.source.calls["documents"] == 3  # the walk, what came meanwhile, and all once more


def test_an_item_that_came_during_an_incremental_walk_costs_no_full_one(bench):
    class Busy(CountingSource):
        late = None

        def count(self, project):
            if self.late:
                self.put(self.late, "came after the walk")
            return super().count(project)

    source = filled(Busy())
    desk = Desk(bench, source)
    done(desk.run())
    source.late = "8"
    done(desk.run(), "1 changed, 0 deleted, 8 documents in all")
    assert desk.texts() == desk.expected()
    assert source.calls == Counter(documents=2, count=1, document_ids=1, links=1)


def test_a_count_that_differs_starts_the_sweep(counting):
    done(counting.run())
    assert counting.source.calls == Counter(documents=1, count=1, links=1)
    counting.source.remove("2")
    job = done(counting.run(), "0 changed, 1 deleted, 6 documents in all")
    assert counting.source.calls == Counter(documents=1, count=1, document_ids=1, links=1)
    assert job.deleted == 1
    assert counting.texts() == counting.expected()
    done(counting.run())
    assert counting.source.calls == Counter(documents=1, count=1, links=1)


def test_without_counts_and_events_a_deletion_waits_for_a_full_sync(desk):
    done(desk.run())
    desk.source.remove("2")
    done(desk.run(), "0 changed, 0 deleted, 7 documents in all")
    done(desk.run(full=True), "0 changed, 1 deleted, 6 documents in all")


def test_a_deletion_that_is_told_is_confirmed_by_the_sweep(telling):
    done(telling.run())
    telling.source.told = [telling.source.remove("2"), "list:3", "list:never"]
    job = done(telling.run(), "0 changed, 1 deleted, 6 documents in all")
    assert telling.source.calls == Counter(documents=1, deleted=1, document_ids=1, links=1)
    assert job.requests == 1 + 1 + 2 + 1
    assert telling.texts() == telling.expected()  # 3 was told, but is there


def test_deleted_and_added_at_once_is_noticed_where_it_is_told(telling):
    """The count alone would not show it."""
    done(telling.run())
    telling.source.told = [telling.source.remove("2")]
    telling.source.put("9", "new")
    done(telling.run(), "1 changed, 1 deleted, 7 documents in all")
    assert telling.texts() == telling.expected()


def test_a_document_that_was_deleted_after_the_walk_had_seen_it_is_removed(bench):
    class Hasty(TellingSource):
        def deleted(self, project, since):
            self.told = [self.remove("2")] if "list:2" in self.held else self.told
            yield from super().deleted(project, since)

    desk = Desk(bench, filled(Hasty()))
    done(desk.run())
    desk.source.put("2", "edited, then deleted")
    done(desk.run(), "1 changed, 1 deleted, 6 documents in all")
    assert desk.texts() == desk.expected()


def test_a_walk_without_a_watermark_keeps_the_last_one(bench):
    class Silent(ListSource):
        def documents(self, project, since):
            for page in super().documents(project, since):
                yield Page(page.items, None if since else page.watermark)

    desk = Desk(bench, filled(Silent()))
    done(desk.run())
    before = desk.state().watermark
    done(desk.run(), "0 changed, 0 deleted, 7 documents in all")
    assert before is not None
    assert desk.state().watermark == before


def test_a_source_that_is_emptied_empties_the_catalog(counting):
    done(counting.run())
    counting.source.held.clear()
    done(counting.run(), "0 changed, 7 deleted, 0 documents in all")
    assert counting.bench.chunks() == []


def test_a_source_that_fails_on_the_way_leaves_a_usable_catalog(desk):
    desk.source.failure = SourceUnavailableError("the source is down", "try later")
    desk.source.pages_before_failure = 2
    job = desk.run()
    assert (job.status, job.error, job.phase) == ("ERROR", "the source is down\ntry later", "documents")
    assert job.done == 6
    assert desk.state().watermark is None
    assert desk.state().synced is None
    assert len(desk.texts()) == 6
    assert desk.bench.find(desk.bench.words, "text6") == ["list:6"]

    desk.source.failure = None
    done(desk.run(), "1 changed, 0 deleted, 7 documents in all")
    assert desk.texts() == desk.expected()
    assert desk.bench.held(desk.bench.meaning) == desk.bench.chunks()


def test_an_incremental_sync_that_fails_is_walked_again_from_the_same_watermark(desk):
    done(desk.run())
    before = desk.state().watermark
    for number in range(1, 8):
        desk.source.put(str(number), f"other{number}")
    desk.source.failure, desk.source.pages_before_failure = SourceUnavailableError("down"), 1
    assert desk.run().status == "ERROR"
    assert desk.state().watermark == before
    desk.source.failure = None
    done(desk.run())
    assert desk.texts() == desk.expected()


@pytest.mark.parametrize("walk", ["links", "document_ids", "count"])
def test_the_watermark_is_stored_only_when_everything_was_walked(bench, walk):
    class Failing(CountingSource):
        def fail(self, *_):
            raise SourceUnavailableError(f"{walk} failed")

    source = filled(Failing())
    desk = Desk(bench, source)
    done(desk.run())
    before = desk.state().watermark
    source.put("9", "new")
    source.remove("2")
    source.remove("3")
    setattr(source, walk, source.fail)
    job = desk.run()
    assert (job.status, job.error) == ("ERROR", f"{walk} failed")
    assert desk.state().watermark == before
    delattr(source, walk)
    done(desk.run())
    assert desk.texts() == desk.expected()


def test_an_embedder_that_is_down_fails_the_job_after_everything_else(desk):
    external = MemoryRecaller("external")
    other = desk.bench.index("other", HashingEmbedder(16))
    desk.bench.indexer.indexes += [other, desk.bench.index("engine", recaller=external)]

    def unreachable(_texts):
        raise EmbedderError("the endpoint is down", "start it")

    desk.bench.embedder.before = unreachable
    job = desk.run()
    assert (job.status, job.phase, job.error) == ("ERROR", "embedding", "the endpoint is down\nstart it")
    assert len(external.held) == 7
    assert desk.bench.indexer.is_level(desk.bench.words)
    assert desk.bench.indexer.is_level(other)
    assert desk.state().watermark is not None
    job = done(desk.run(), "0 changed, 0 deleted, 7 documents in all")
    assert job.embedded == 7
    assert desk.bench.held(desk.bench.meaning) == desk.bench.chunks()


def test_a_sync_that_lost_its_lease_stops_and_writes_nothing_more(desk):
    def take_over(_texts):
        with desk.bench.database.writing() as tx:
            tx.execute("UPDATE job SET heartbeat = 0")
        assert desk.jobs.claim("sync", "list:1")[1] is not None

    desk.bench.embedder.before = take_over
    job = desk.run()
    assert job.status == "RUNNING"  # its successor's now
    assert desk.bench.held(desk.bench.meaning) == []


def test_an_index_in_memory_is_left_to_the_searches(desk):
    memory = MemoryRecaller("memory")
    desk.bench.indexer.indexes.append(desk.bench.index("memory", recaller=memory))
    done(desk.run())
    assert memory.applied == []


def test_ids_and_links_that_cannot_be_stored_are_still_told_apart_from_deleted_ones(bench):
    desk = Desk(bench, filled(CountingSource()))
    desk.source.put("half\ud800", "text")
    desk.source.link("half\ud800", "1", "odd\udfff")
    done(desk.run(), "8 changed, 0 deleted, 8 documents in all")
    done(desk.run(full=True), "0 changed, 0 deleted, 8 documents in all")
    assert desk.source.calls["document_ids"] == 0
    desk.source.remove("1")
    done(desk.run(), "0 changed, 1 deleted, 7 documents in all")


def test_a_project_that_is_renamed_in_its_source_is_renamed_here(desk):
    done(desk.run())
    desk.source.project = type(desk.source.project)("list:1", "list", "P2", "Renamed")
    done(desk.run())
    assert desk.state().project == desk.source.project


def test_a_week_after_the_last_sweep_all_ids_and_links_are_compared(bench):
    """What left in silence while as much came (no event, no date, the same count) is found then."""
    source = CountingSource()
    source.put("2", "leaves in silence")
    source.put("1", "stays")
    desk = Desk(bench, source)
    assert desk.run().status == "DONE"
    held = source.held.pop("list:2")
    source.held["list:3"] = replace(held, id="list:3")
    desk.now += timedelta(days=6)
    assert desk.run().deleted == 0
    assert source.calls["document_ids"] == 0
    desk.now += timedelta(days=1)
    assert desk.run().deleted == 1
    assert set(bench.catalog.document_ids("list:1")) == {"list:1", "list:3"}
    assert (source.calls["document_ids"], source.calls["links"]) == (1, 1)
    desk.now += timedelta(days=6)
    desk.run()
    assert source.calls["document_ids"] == 0


def test_counters_go_on_when_a_sync_is_taken_over(desk):
    desk.source.put("1", "one")
    job, lease = desk.jobs.claim("sync", "list:1", allow_removals=True)
    lease.report(changed=5)
    with desk.bench.database.writing() as tx:
        tx.execute("UPDATE job SET heartbeat = 0")
    ended = desk.run()
    assert (ended.job_id, ended.allow_removals) == (job.job_id, True)
    assert ended.changed == 5 + len(desk.source.held)
    assert ended.message.startswith(f"{ended.changed} changed")
