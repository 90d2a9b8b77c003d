"""What nothing uses goes, what anything uses stays; a forgotten project leaves nothing behind."""

import dataclasses
import json
import threading
from datetime import UTC, datetime
from types import SimpleNamespace

import apsw
import pytest

from reqall import CatalogError, EmbedderError, InputError, JobError, Link, Registration
from reqall.core.assemble import Assembly
from reqall.core.config import ConfigFile
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.forget import forget
from reqall.core.host import PluginHost
from reqall.core.integrity import inspect
from reqall.core.jobs import KEPT_PER_PROJECT, Jobs
from reqall.core.sync import Sync
from reqall.core.unused import KEPT_SECONDS
from reqall.core.upkeep import collect
from reqall.core.usage import EVERY_SECONDS, Usage, Use
from reqall.plugins.chunkers import register_chunkers
from reqall.plugins.fusers import register_fusers
from reqall.plugins.recallers import register_recallers
from reqall.plugins.rerankers import register_rerankers
from reqall.testing.fakes import HashingEmbedder, ListSource, MemoryRecaller

NOW = datetime(2024, 6, 1, tzinfo=UTC)
DAY = 86400.0

WORDS = {"use": "sqlite_fts5"}
STEMLESS = {"use": "sqlite_fts5", "with": {"language": []}}
MEANING = {"use": "sqlite_vec", "with": {"embedder": "e"}}
CUT = {"use": "sqlite_fts5", "chunk": {"use": "sentences", "with": {"size": 20, "overlap": 0}}}
MEMORY = {"use": "rank_bm25"}
FAR = {"use": "far"}
ABSENT = {"use": "sqlite_fts5", "with": {"language": "${NOWHERE}"}}


class World:
    """One database file, one source, and configurations that come and go."""

    def __init__(self, folder):
        self.path = folder / "catalog.db"
        self.folder = folder
        self.time = 1_700_000_000.0
        self.embedder = HashingEmbedder()
        self.far = MemoryRecaller("external")
        self.source = ListSource()
        self.opened = []
        for number in range(1, 9):
            self.source.put(str(number), f"Text {number} of a pump. {' '.join(['It is long enough to be cut.'] * 6)}")

    def open(self, origin="/etc/one.yaml", **indexes):
        """Assemble a configuration of these indexes, each in a pipeline of its own."""
        config = ConfigFile.model_validate(
            {
                "version": 1,
                "embedders": {"e": {"use": "hashing"}},
                "indexes": indexes,
                "pipelines": {name: {"recall": [{"index": name}]} for name in indexes},
            }
        )
        database = Database(self.path)
        environment = Environment({}, self.folder / ".env")
        assembly = Assembly(config, self.host(), environment, database, self.folder, origin=origin)
        assembly.usage.clock = lambda: self.time
        self.opened.append(assembly)
        return assembly

    def host(self):
        listed = {
            "recaller": [*register_recallers(), Registration("far", "", lambda _options, _services: self.far)],
            "chunker": register_chunkers(),
            "fuser": register_fusers(),
            "reranker": register_rerankers(),
            "embedder": [Registration("hashing", "", lambda _options, _services: self.embedder)],
        }
        found = {(kind, each.name): each for kind, offered in listed.items() for each in offered}
        host = PluginHost()
        host.find = lambda kind, name: found[kind, name]
        return host

    def sync(self, assembly):
        jobs = Jobs(assembly.database)
        project = self.source.project
        _, lease = jobs.claim("sync", project.id)
        indexer = assembly.indexer()

        def work(held):
            return Sync(self.source, assembly.catalog, indexer, project, held, lambda: NOW).run(full=True)

        job = jobs.run(lease, work)
        assert job.status == "DONE", job.error
        return assembly

    def run(self, **indexes):
        """Assemble and sync."""
        return self.sync(self.open(**indexes))


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    for assembly in made.opened:
        assembly.database.close()


def tables(assembly):
    rows = assembly.database.query("SELECT name FROM sqlite_master WHERE name LIKE 'ix!_%' ESCAPE '!'")
    return sorted(name for (name,) in rows)


def prefixes(assembly):
    return {name[:15] for name in tables(assembly)}


def prefix(assembly, name):
    assembly.indexer()
    return next(use.prefix for use in assembly.uses() if use.index == name)


def count(assembly, table):
    return assembly.database.query(f"SELECT count(*) FROM {table}")[0][0]


def fates(done):
    return {(verdict.index, verdict.is_dropped) for verdict in done.indexes}


def test_nothing_is_removed_while_all_is_named(world):
    assembly = world.run(words=WORDS, meaning=MEANING)
    before = tables(assembly), count(assembly, "chunk")
    done = collect(assembly)
    assert (done.indexes, done.chunks, done.tombstones, done.jobs, done.notes) == ([], 0, 0, 0, [])
    assert (tables(assembly), count(assembly, "chunk")) == before


def test_an_index_that_its_file_no_longer_names_goes_at_once(world):
    old = world.run(words=WORDS, meaning=MEANING)
    gone = prefix(old, "meaning")
    assembly = world.open(words=WORDS)
    done = collect(assembly)
    assert fates(done) == {("meaning", True)}
    assert "no pipeline names it" in done.indexes[0].reason
    assert done.indexes[0].bytes > 10_000
    assert prefixes(assembly) == {prefix(assembly, "words")}
    assert gone not in str(assembly.usage.all())
    assert inspect(assembly.indexer(), "list:1").problems == []


def test_vectors_are_dropped_although_nothing_else_loads_their_extension(world):
    """vec0's tables cannot be dropped on a connection without the extension."""
    world.run(words=WORDS, meaning=MEANING).database.close()
    bare = apsw.Connection(str(world.path))
    assert not list(bare.execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'"))
    bare.close()
    assembly = world.open(words=WORDS)
    collect(assembly)
    assert len(prefixes(assembly)) == 1


@pytest.mark.parametrize("days", [0, 13.9])
def test_an_index_of_another_file_stays_for_two_weeks(world, days):
    world.run(origin="/etc/two.yaml", meaning=MEANING)
    world.time += days * DAY
    assembly = world.run(words=WORDS)
    before = prefixes(assembly)
    done = collect(assembly)
    assert fates(done) == {("meaning", False)}
    assert "ago by /etc/two.yaml" in done.indexes[0].reason
    assert prefixes(assembly) == before


def test_and_goes_thereafter(world):
    world.run(origin="/etc/two.yaml", meaning=MEANING)
    world.time += KEPT_SECONDS + 1
    assembly = world.run(words=WORDS)
    assert fates(collect(assembly)) == {("meaning", True)}
    assert len(prefixes(assembly)) == 1


def test_a_use_by_another_file_protects_what_ones_own_has_dropped(world):
    world.run(meaning=MEANING)
    world.run(origin="/etc/two.yaml", meaning=MEANING)
    assembly = world.run(words=WORDS)
    assert fates(collect(assembly)) == {("meaning", False)}


def test_every_use_is_noted_anew(world):
    other = world.run(origin="/etc/two.yaml", meaning=MEANING)
    assembly = world.run(words=WORDS)
    for _ in range(3):
        world.time += 10 * DAY
        other.pipeline("meaning")
        assert fates(collect(assembly)) == {("meaning", False)}


def test_an_unnamed_configuration_protects_too(world):
    world.run(origin="", meaning=MEANING)
    assembly = world.run(origin="", words=WORDS)
    assert fates(collect(assembly)) == {("meaning", False)}
    world.time += KEPT_SECONDS + 1
    assert fates(collect(assembly)) == {("meaning", True)}


def test_an_index_whose_use_is_not_known_stays_two_weeks_from_now(world):
    world.run(words=WORDS, other=STEMLESS)
    assembly = world.open(words=WORDS)
    with assembly.database.writing() as tx:
        tx.execute("DELETE FROM meta WHERE key LIKE 'used:%'")
    for days in (0, 13):
        world.time += days * DAY
        done = collect(assembly)
        assert fates(done) == {("unknown", False)}
        assert len(done.notes) == 2  # neither its chunks nor its tombstones can be told
    world.time += 2 * DAY
    assert fates(collect(assembly)) == {("unknown", True)}
    assert len(prefixes(assembly)) == 1


def test_an_index_that_cannot_be_built_here_stays(world):
    other = {"use": "sqlite_fts5", "with": {"language": []}}
    world.run(words=WORDS, other=other)
    world.time += 100 * DAY
    assembly = world.open(words=WORDS, other=ABSENT)
    done = collect(assembly)
    assert fates(done) == {("other", False)}
    assert "cannot be built here" in done.indexes[0].reason
    assert len(prefixes(assembly)) == 2


def test_an_index_that_cannot_be_dropped_here_stays(world):
    world.run(words=WORDS, meaning=MEANING).database.close()
    assembly = world.open(words=WORDS)
    with assembly.database.writing() as tx:
        rows = tx.execute("SELECT key, value FROM meta WHERE key LIKE 'used:%'")
        for key, value in list(rows):
            tx.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(json.loads(value) | {"config": {}}), key))
    done = collect(assembly)
    assert fates(done) == {("meaning", False)}
    assert "cannot be loaded here" in done.indexes[0].reason
    assert len(prefixes(assembly)) == 2


def test_an_index_elsewhere_is_dropped_there(world):
    world.run(words=WORDS, far=FAR)
    (use,) = (use for use in world.opened[-1].uses() if use.index == "far")
    folder = world.folder / "indexes" / use.fingerprint
    folder.mkdir(parents=True)
    (folder / "segment").write_bytes(b"x" * 1000)
    assert len(world.far.held) == 8
    assembly = world.open(words=WORDS)
    trial = collect(assembly, is_trial=True)
    assert (fates(trial), trial.folder_bytes, folder.exists(), len(world.far.held)) == ({("far", True)}, 1000, True, 8)
    done = collect(assembly)
    assert (done.folder_bytes, folder.exists(), len(world.far.held)) == (1000, False, 0)
    assert collect(assembly).indexes == []


def test_chunks_go_with_the_last_index_that_cuts_so(world):
    world.run(words=WORDS, other=STEMLESS, cut=CUT)
    assembly = world.open(words=WORDS, other=STEMLESS)
    whole = assembly.database.query("SELECT count(DISTINCT document_id) FROM chunk")[0][0]
    total = count(assembly, "chunk")
    trial = collect(assembly, is_trial=True)
    assert trial.chunks > 8
    assert count(assembly, "chunk") == total
    assert collect(assembly).chunks == trial.chunks
    assert count(assembly, "chunk") == whole == 8
    # `words` and `other` share theirs: they stay while one is left.
    assembly = world.open(words=WORDS)
    done = collect(assembly)
    assert (fates(done), done.chunks) == ({("other", True)}, 0)


def test_chunks_of_another_files_memory_stay_while_it_is_used(world):
    memory = world.run(origin="/etc/two.yaml", memory=MEMORY | {"chunk": CUT["chunk"]})
    memory.indexer().level(memory.index("memory"), lambda _tx, _done: None)
    assembly = world.run(words=WORDS)
    assert collect(assembly).chunks == 0
    world.time += KEPT_SECONDS + 1
    assert collect(assembly).chunks > 8
    assert {use.index for use in assembly.usage.all()} == {"words"}


def test_a_trial_changes_nothing_and_tells_what_the_run_does(world):
    world.run(words=WORDS, meaning=MEANING, cut=CUT)
    world.source.remove("3")
    assembly = world.sync(world.open(words=WORDS))
    before = assembly.database.query("SELECT * FROM meta"), tables(assembly), count(assembly, "change")
    trial = collect(assembly, is_trial=True)
    assert (assembly.database.query("SELECT * FROM meta"), tables(assembly), count(assembly, "change")) == before
    done = collect(assembly)
    assert (trial.indexes, trial.chunks, trial.tombstones) == (done.indexes, done.chunks, done.tombstones)
    assert done.tombstones == 1


def test_tombstones_go_when_every_index_has_passed_them(world):
    other = world.run(origin="/etc/two.yaml", meaning=MEANING)
    assembly = world.run(words=WORDS)
    world.source.remove("3")
    world.source.remove("4")
    world.sync(assembly)
    # The other file's vectors still hold both: its index is behind.
    assert collect(assembly).tombstones == 0
    other.indexer().level(other.index("meaning"), lambda _tx, _done: None)
    assert collect(assembly).tombstones == 2
    assert count(assembly, "change") == count(assembly, "document") == 6
    for each in (assembly, other):
        assert inspect(each.indexer(), "list:1").problems == []
        assert all(each.indexer().is_level(index) for index in each.indexer().indexes)


def test_a_document_that_comes_back_after_its_tombstone_went(world):
    assembly = world.run(words=WORDS, meaning=MEANING)
    world.source.remove("3")
    world.sync(assembly)
    collect(assembly)
    world.source.put("3", "Back again")
    world.sync(assembly)
    assert count(assembly, "document") == 8
    assert inspect(assembly.indexer(), "list:1").findings == []


def test_old_jobs_go(world):
    assembly = world.run(words=WORDS)
    with assembly.database.writing() as tx:
        for project, number, finished in [
            ("list:1", KEPT_PER_PROJECT + 5, "2024"),
            ("gone:1", 3, "2020"),
            ("new:1", 2, "2099"),
        ]:
            for each in range(number):
                row = (f"{project}/{each}", project, f"{finished}-01-01T00:00:00+00:00")
                tx.execute(
                    "INSERT INTO job(id, kind, project_id, status, owner, state, finished)"
                    " VALUES (?, 'sync', ?, 'DONE', '', '{}', ?)",
                    row,
                )
    assert collect(assembly).jobs == 6 + 3
    left = dict(assembly.database.query("SELECT project_id, count(*) FROM job GROUP BY project_id"))
    assert left == {"list:1": KEPT_PER_PROJECT, "new:1": 2}


def test_vacuum_gives_the_disk_back_and_hurts_no_vector(world):
    world.run(words=WORDS, meaning=MEANING, cut=CUT)
    for number in range(1, 7):
        world.source.remove(str(number))
    assembly = world.sync(world.open(meaning=MEANING))
    before = assembly.index("meaning").recaller.recall(["Text 7 of a pump"], 5, SimpleNamespace(**NO_FILTERS))
    kept = collect(assembly)
    assert kept.free_bytes > 0
    done = collect(assembly, vacuum=True)
    assert done.free_bytes == 0
    assert done.bytes_after < kept.bytes_before
    assert world.path.stat().st_size == done.bytes_after
    after = assembly.index("meaning").recaller.recall(["Text 7 of a pump"], 5, SimpleNamespace(**NO_FILTERS))
    assert [list(ranking) for ranking in after] == [list(ranking) for ranking in before]
    assert inspect(assembly.indexer(), "list:1").problems == []


NO_FILTERS = {"project_ids": (), "type_ids": (), "statuses": (), "modified_after": None, "modified_before": None}


def test_forget_leaves_nothing_of_a_project(world):
    world.source.link("1", "2")
    assembly = world.run(words=WORDS, meaning=MEANING, far=FAR)
    done = forget(assembly, Jobs(assembly.database), "list:1")
    assert (done.documents, done.links, done.behind) == (8, 1, ())
    for table in ("project", "document", "link", "chunk", "job"):
        assert count(assembly, table) == 0
    for name in ("words", "meaning"):
        assert count(assembly, f"{prefix(assembly, name)}_entry") == 0
    assert world.far.held == {}
    assert all(assembly.indexer().is_level(index) for index in assembly.indexer().indexes)
    assert assembly.database.query("SELECT sum(deleted), count(*) FROM change") == [(8, 8)]


def test_what_is_forgotten_may_be_synced_again(world):
    assembly = world.run(words=WORDS, meaning=MEANING)
    forget(assembly, Jobs(assembly.database), "list:1")
    world.sync(assembly)
    assert count(assembly, "document") == 8
    assert inspect(assembly.indexer(), "list:1").findings == []


def test_other_projects_stay_whole(world):
    assembly = world.run(words=WORDS, meaning=MEANING)
    first = world.source.project
    world.source.project = dataclasses.replace(first, id="list:2", key="Q")
    world.source.held = {}
    world.source.put("20", "Another pump")
    world.source.put("21", "Yet another")
    world.source.link("20", "1")
    world.sync(assembly)
    forget(assembly, Jobs(assembly.database), first.id)
    assert [state.project.id for state in assembly.catalog.projects()] == ["list:2"]
    assert assembly.catalog.links("list:2") == [Link("list:20", "list:1", "verifies")]  # as its source has it
    assert (count(assembly, "document"), count(assembly, "chunk")) == (2, 4)  # cut for each of the indexes
    assert {job.project_id for job in Jobs(assembly.database).history()} == {"list:2"}
    assert inspect(assembly.indexer(), "list:2").problems == []


def test_forget_is_refused_while_a_job_runs(world):
    assembly = world.run(words=WORDS)
    jobs = Jobs(assembly.database)
    job, lease = jobs.claim("sync", "list:1")
    assert lease is not None
    with pytest.raises(InputError, match=f"job {job.job_id} \\(sync\\) of it is running") as caught:
        forget(assembly, jobs, "list:1")
    assert f"--cancel {job.job_id}" in caught.value.remedy
    assert count(assembly, "document") == 8
    jobs.cancel(job.job_id)
    assert forget(assembly, jobs, "list:1").documents == 8


def test_a_forget_that_fails_removes_nothing(world):
    assembly = world.run(words=WORDS, meaning=MEANING)
    with assembly.database.writing() as tx:
        tx.execute("CREATE TRIGGER stop BEFORE DELETE ON project BEGIN SELECT RAISE(ABORT, 'no'); END")
    before = count(assembly, "document"), count(assembly, "chunk"), count(assembly, "change")
    with pytest.raises(JobError, match="was not forgotten"):
        forget(assembly, Jobs(assembly.database), "list:1")
    assert (count(assembly, "document"), count(assembly, "chunk"), count(assembly, "change")) == before
    assert Jobs(assembly.database).latest("list:1").status == "ERROR"
    assert inspect(assembly.indexer(), "list:1").problems == []
    with assembly.database.writing() as tx:
        tx.execute("DROP TRIGGER stop")
    assert forget(assembly, Jobs(assembly.database), "list:1").documents == 8


def test_tables_that_come_later_are_forgotten_too(world):
    assembly = world.run(words=WORDS)
    with assembly.database.writing() as tx:
        list(
            tx.execute("CREATE TABLE later(project_id TEXT, x); INSERT INTO later VALUES ('list:1', 1), ('list:2', 2)")
        )
    forget(assembly, Jobs(assembly.database), "list:1")
    assert assembly.database.query("SELECT x FROM later") == [(2,)]


def test_an_engine_that_cannot_be_reached_is_told(world):
    assembly = world.run(words=WORDS, far=FAR)

    def refuse(_entries):
        raise EmbedderError("away")

    world.far.prepare = refuse
    done = forget(assembly, Jobs(assembly.database), "list:1")
    assert (done.documents, done.behind) == (8, ("far",))
    del world.far.prepare
    assembly.indexer().level(assembly.index("far"), lambda _tx, _done: None)
    assert world.far.held == {}


# Usage notes


@pytest.fixture
def database(tmp_path):
    opened = Database(tmp_path / "notes.db")
    yield opened
    opened.close()


def use(name="a", origin="o"):
    return Use(f"ix_{name}", origin, name, "f", "c", "catalog", {"use": "x"})


def test_a_use_is_noted_once_an_hour(database):
    clock = [1000.0]
    usage = Usage(database, lambda: clock[0])
    usage.note([use()])
    for later, expected in ((10, 1000), (EVERY_SECONDS - 1, 1000), (EVERY_SECONDS, 1000 + EVERY_SECONDS)):
        clock[0] = 1000 + later
        usage.note([use()])
        Usage(database, lambda: clock[0]).note([use()])  # another process
        assert [each.time for each in usage.all()] == [expected]


def test_uses_are_kept_apart_by_index_and_file(database):
    usage = Usage(database, lambda: 5.0)
    usage.note([use("a"), use("b"), use("a", "other")])
    assert {(each.index, each.origin, each.time) for each in usage.all()} == {
        ("a", "o", 5),
        ("b", "o", 5),
        ("a", "other", 5),
    }
    assert usage.all()[0].config == {"use": "x"}


def test_a_note_never_waits_for_a_writer(database):
    usage = Usage(database, lambda: 5.0)
    holder = apsw.Connection(str(database.path))
    holder.execute("BEGIN IMMEDIATE")
    usage.note([use()])
    assert usage.all() == []
    holder.execute("ROLLBACK")
    usage.note([use()])
    assert len(usage.all()) == 1
    holder.close()


def test_a_note_never_waits_for_a_thread(database):
    usage = Usage(database, lambda: 5.0)
    with database.writing():
        thread = threading.Thread(target=usage.note, args=([use()],))
        thread.start()
        thread.join(5)
        assert not thread.is_alive()
        usage.note([use()])  # nor for its own transaction
    assert usage.all() == []


def test_a_note_on_a_full_disk_is_let_go(database):
    database.reader().pragma("max_page_count", database.reader().pragma("page_count"))
    usage = Usage(database, lambda: 5.0)
    usage.note([dataclasses.replace(use(), config={"x": "y" * 10_000})])
    assert usage.all() == []
    with pytest.raises(CatalogError, match="full"), database.writing() as tx:
        tx.execute("INSERT INTO meta VALUES ('x', ?)", ("y" * 10_000,))
