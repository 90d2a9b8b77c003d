"""A file that is full, read-only, locked or damaged: an ERROR that says why, nothing half, then DONE."""

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime

import apsw
import pytest

from reqall import CatalogError
from reqall.core.integrity import inspect
from reqall.core.jobs import Jobs
from reqall.core.sync import Sync
from reqall.testing.fakes import ListSource

NOW = datetime(2024, 6, 1, tzinfo=UTC)
PROJECT = "list:1"


class PausingSource(ListSource):
    """Calls `between` before its third page."""

    between = None

    def documents(self, project, since):
        for number, page in enumerate(super().documents(project, since)):
            if number == 2 and self.between is not None:
                self.between()
            yield page


@pytest.fixture
def source():
    made = PausingSource()
    for number in range(1, 13):
        made.put(str(number), f"text{number} " + "pump " * 200)
    return made


def run(bench, source):
    jobs = Jobs(bench.database)
    job, lease = jobs.claim("sync", PROJECT)
    assert lease is not None, job
    return jobs.run(
        lease,
        lambda held: Sync(source, bench.catalog, bench.indexer, source.project, held, lambda: NOW).run(full=True),
    )


def whole(bench, source):
    """Catalog and indexes hold the source, once."""
    assert inspect(bench.indexer, PROJECT).findings == []
    assert sorted(bench.catalog.document_ids(PROJECT)) == sorted(source.held)
    assert bench.held(bench.words) == bench.held(bench.meaning) == bench.chunks()
    return True


def test_a_disk_that_fills_up(bench, source):
    def fill():
        reader = bench.database.reader()
        reader.pragma("max_page_count", reader.pragma("page_count") + 1)

    source.between = fill
    job = run(bench, source)
    assert job.status == "ERROR"
    assert "database or disk is full" in job.error
    assert "free space" in job.error
    assert Jobs(bench.database).get(job.job_id).error == job.error
    assert bench.catalog.count(PROJECT) == 6  # the two pages that were committed
    assert inspect(bench.indexer, PROJECT).problems == []
    assert bench.catalog.project(PROJECT).watermark is None
    source.between = None
    bench.database.reader().pragma("max_page_count", 1_000_000)
    assert run(bench, source).status == "DONE"
    assert whole(bench, source)


def test_a_file_that_another_program_locks(make_bench, source):
    bench = make_bench()
    bench.database._busy_timeout_ms = 100
    bench.database.reader().set_busy_timeout(100)
    holder = apsw.Connection(str(bench.database.path))
    source.between = lambda: holder.execute("BEGIN IMMEDIATE")
    # It lets go once the batch has failed, so that the job's end can be written.
    original = bench.indexer.commit

    def commit(*arguments, **options):
        try:
            return original(*arguments, **options)
        except CatalogError:
            holder.execute("ROLLBACK")
            raise

    bench.indexer.commit = commit
    job = run(bench, source)
    assert job.status == "ERROR"
    assert "locked by another process" in job.error
    source.between = None
    assert run(bench, source).status == "DONE"
    assert whole(bench, source)
    holder.close()


def test_a_lock_that_outlasts_the_job_leaves_it_to_the_next_run(make_bench, source):
    bench = make_bench()
    bench.database._busy_timeout_ms = 50
    bench.database.reader().set_busy_timeout(50)
    holder = apsw.Connection(str(bench.database.path))
    source.between = lambda: holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(CatalogError, match="locked"):
        run(bench, source)
    holder.execute("ROLLBACK")
    holder.close()
    assert bench.catalog.count(PROJECT) == 6
    assert inspect(bench.indexer, PROJECT).problems == []


def test_damaged_pages(make_bench, source):
    bench = make_bench()
    assert run(bench, source).status == "DONE"
    pages = [row[0] for row in bench.database.query("SELECT pageno FROM dbstat WHERE name = 'document'")]
    size = bench.database.query("PRAGMA page_size")[0][0]
    bench.database.query("PRAGMA wal_checkpoint(TRUNCATE)")
    bench.database.close()
    path = bench.database.path
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * size : page * size] = b"\xa5" * size
    path.write_bytes(content)
    damaged = make_bench()
    job = run(damaged, source)
    assert job.status == "ERROR"
    assert "is damaged" in job.error
    assert "move it away and sync again" in job.error
    with pytest.raises(CatalogError, match="is damaged"):
        inspect(damaged.indexer, PROJECT)
    # As the remedy says:
    damaged.database.close()
    path.rename(path.with_name("damaged.db"))
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    fresh = make_bench()
    assert run(fresh, source).status == "DONE"
    assert whole(fresh, source)


CHILD = """
import os, sys
from pathlib import Path
from reqall.core.catalog import Catalog
from reqall.core.database import Database
from reqall.core.errors import CatalogError
database = Database(Path(sys.argv[1]))
database.close()
os.chmod(sys.argv[1], 0o444)
os.chmod(os.path.dirname(sys.argv[1]), 0o555)
if os.getuid() == 0:
    os.setuid(65534)
try:
    Database(Path(sys.argv[1]))
except CatalogError as error:
    print(error.message, "|", error.remedy)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users that may not write")
def test_a_file_that_became_read_only(tmp_path):
    folder = tmp_path / "sealed"
    folder.mkdir()
    for parent in (tmp_path, *tmp_path.parents):
        if os.access(parent, os.W_OK) and parent.stat().st_uid == os.getuid() and parent.name.startswith("pytest"):
            parent.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "catalog.db")], capture_output=True, text=True, timeout=60
    )
    folder.chmod(0o755)
    assert done.stderr == ""
    assert "cannot be opened for writing" in done.stdout
    assert "JAMA_MCP_DB_PATH" in done.stdout


def test_a_write_that_is_idle_only(database):
    with database.writing_if_idle() as tx:
        tx.execute("UPDATE meta SET value = 4 WHERE key = 'seq'")
    assert database.query("SELECT value FROM meta WHERE key = 'seq'") == [(4,)]
    found = []

    def look():
        with database.writing_if_idle() as tx:
            found.append(tx)

    with database.writing():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        look()
    assert found == [None, None]

    def write_and_fail():
        with database.writing_if_idle() as tx:
            tx.execute("UPDATE meta SET value = 5 WHERE key = 'seq'")
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    with database.writing() as tx:  # nothing is left open
        assert next(tx.execute("SELECT value FROM meta WHERE key = 'seq'")) == (4,)


@pytest.fixture
def database(bench):
    return bench.database
