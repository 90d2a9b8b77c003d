"""The catalog's file: what cannot be used is explained, transactions are whole, threads do not meet."""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import apsw
import pytest

from reqall.core.database import APPLICATION_ID, SCHEMA_VERSION, Database
from reqall.core.errors import CatalogError

OPEN = """
import os, sys
from pathlib import Path
from reqall.core.database import Database
from reqall.core.errors import CatalogError
if os.getuid() == 0:
    os.setuid(65534)
try:
    database = Database(Path(sys.argv[1]))
    with database.writing() as tx:
        tx.execute("UPDATE meta SET value = 7 WHERE key = 'seq'")
except CatalogError as error:
    print(error.message, "|", error.remedy)
else:
    print("opened")
"""


@pytest.fixture
def database(tmp_path):
    opened = Database(tmp_path / "catalog.db")
    yield opened
    opened.close()


@pytest.fixture
def public_folder():
    """A folder that any user may enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


def as_nobody(path):
    """Open and write as a user who is not root: root may write everywhere."""
    done = subprocess.run([sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.strip()


def refused(path):
    with pytest.raises(CatalogError) as caught:
        Database(path, busy_timeout_ms=50)
    assert str(path) in caught.value.message
    assert caught.value.remedy
    return caught.value.message


def test_a_file_is_made_with_its_folders_and_found_again(tmp_path):
    path = tmp_path / "deep" / "er" / "catalog.db"
    first = Database(path)
    identity = first.query("SELECT value FROM meta WHERE key = 'catalog_id'")
    first.close()
    again = Database(path)
    assert again.query("SELECT value FROM meta WHERE key = 'catalog_id'") == identity
    assert again.query("PRAGMA journal_mode") == [("wal",)]
    again.close()


def test_two_new_files_are_two_catalogs(tmp_path):
    identities = set()
    for name in ("a.db", "b.db"):
        opened = Database(tmp_path / name)
        identities.update(opened.query("SELECT value FROM meta WHERE key = 'catalog_id'"))
        opened.close()
    assert len(identities) == 2


def test_processes_that_create_the_file_at_once_agree(tmp_path):
    code = (
        "import sys; from pathlib import Path; from reqall.core.database import Database; sys.stdin.read();"
        "print(Database(Path(sys.argv[1])).query(\"SELECT value FROM meta WHERE key = 'catalog_id'\")[0][0])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "catalog.db")]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(4)]
    for process in started:
        process.stdin.close()
        process.stdin = None
    told = [process.communicate(timeout=60) for process in started]
    assert [error for _, error in told] == [""] * 4
    assert len({output for output, _ in told}) == 1


def test_a_folder_that_cannot_be_written(public_folder):
    told = as_nobody(public_folder / "catalog.db")
    assert "cannot be opened for writing" in told
    assert "JAMA_MCP_DB_PATH" in told


def test_a_folder_that_cannot_be_made(public_folder):
    assert "cannot be opened for writing (Permission denied)" in as_nobody(public_folder / "new" / "catalog.db")


def test_a_file_that_only_its_owner_may_write(public_folder):
    path = public_folder / "catalog.db"
    Database(path).close()
    path.chmod(0o444)
    assert "cannot be opened for writing" in as_nobody(path)


def test_the_same_in_a_folder_of_ones_own_works(public_folder):
    public_folder.chmod(0o777)
    assert as_nobody(public_folder / "catalog.db") == "opened"


def test_a_path_below_a_file(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "cannot be opened for writing" in refused(tmp_path / "file" / "catalog.db")


def test_a_path_that_is_a_folder(tmp_path):
    assert "cannot be opened for writing" in refused(tmp_path)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, yet long enough to be read as one\n" * 50, encoding="utf-8")
    before = path.read_bytes()
    assert "is not a reqall database" in refused(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION, SCHEMA_VERSION + 1])
def test_another_programs_database_is_left_as_it_is(tmp_path, version):
    path = tmp_path / "other.db"
    other = apsw.Connection(str(path))
    other.execute(f"CREATE TABLE bookmark(url TEXT); PRAGMA user_version = {version}").fetchall()
    other.close()
    before = path.read_bytes()
    assert "is not a reqall database" in refused(path)
    assert path.read_bytes() == before


def test_a_newer_schema(tmp_path):
    path = tmp_path / "catalog.db"
    opened = Database(path)
    opened.reader().pragma("user_version", SCHEMA_VERSION + 1)
    opened.close()
    assert f"newer reqall (schema {SCHEMA_VERSION + 1}" in refused(path)


def test_an_empty_file_becomes_a_catalog(tmp_path):
    path = tmp_path / "catalog.db"
    path.touch()
    opened = Database(path)
    assert opened.reader().pragma("application_id") == APPLICATION_ID
    opened.close()


@pytest.mark.parametrize("locked", ["new", "existing"])
def test_a_file_that_another_process_has_locked(tmp_path, locked):
    path = tmp_path / "catalog.db"
    if locked == "existing":
        Database(path).close()
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    assert "locked by another process" in refused(path)
    assert time.monotonic() - started < 10  # the time to wait was given
    holder.execute("ROLLBACK")
    Database(path, busy_timeout_ms=50).close()
    holder.close()


def test_a_lock_that_comes_later_is_explained_too(tmp_path):
    database = Database(tmp_path / "catalog.db", busy_timeout_ms=50)
    holder = apsw.Connection(str(database.path))
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(CatalogError, match="locked by another process"), database.writing():
        pytest.fail("the transaction was opened beside another")
    assert database.query("SELECT count(*) FROM document") == [(0,)]  # WAL: reading goes on
    holder.execute("ROLLBACK")
    with database.writing() as tx:
        tx.execute("UPDATE meta SET value = 1 WHERE key = 'seq'")
    holder.close()
    database.close()


def filled(path):
    database = Database(path)
    with database.writing() as tx:
        rows = ((str(number), number) for number in range(2000))
        tx.executemany("INSERT INTO change VALUES (?, ?, 0)", rows)
    database.query("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def test_damaged_pages_are_explained_when_they_are_read(tmp_path):
    path = tmp_path / "catalog.db"
    filled(path)
    content = bytearray(path.read_bytes())
    content[8 * 4096 :] = b"\xa5" * (len(content) - 8 * 4096)
    path.write_bytes(content)
    damaged = Database(path)
    with pytest.raises(CatalogError, match="is damaged") as caught:
        damaged.query("SELECT * FROM change ORDER BY seq")
    damaged.close()
    assert "sync again" in caught.value.remedy


def test_a_file_that_was_cut_off(tmp_path):
    path = tmp_path / "catalog.db"
    filled(path)
    path.write_bytes(path.read_bytes()[: 5 * 4096])
    with pytest.raises(CatalogError, match=r"damaged|could not be read"):
        Database(path).query("SELECT * FROM change ORDER BY seq")


def test_a_full_disk_rolls_back_and_the_database_stays_usable(database):
    pages = database.reader().pragma("page_count")
    database.reader().pragma("max_page_count", pages + 4)
    with pytest.raises(CatalogError, match="full") as caught, database.writing() as tx:
        tx.executemany("INSERT INTO meta VALUES (?, ?)", ((str(n), "x" * 4000) for n in range(50)))
    assert "free space" in caught.value.remedy
    assert database.query("SELECT count(*) FROM meta") == [(3,)]
    with database.writing() as tx:
        tx.execute("UPDATE meta SET value = 5 WHERE key = 'seq'")
    assert database.query("SELECT value FROM meta WHERE key = 'seq'") == [(5,)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_rolls_back_and_is_not_renamed(database, error):
    def write_and_fail():
        with database.writing() as tx:
            tx.execute("UPDATE meta SET value = 9 WHERE key = 'seq'")
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert database.query("SELECT value FROM meta WHERE key = 'seq'") == [(0,)]


def test_a_transaction_inside_another_is_refused(database):
    with pytest.raises(CatalogError, match="inside another"), database.writing(), database.writing():
        pytest.fail("a second transaction was opened")
    with database.writing():
        assert database.reader().in_transaction


def test_reading_keeps_one_snapshot(database):
    with database.reading():
        before = database.query("SELECT value FROM meta WHERE key = 'seq'")

        def write():
            with database.writing() as tx:
                tx.execute("UPDATE meta SET value = 3 WHERE key = 'seq'")

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        assert database.query("SELECT value FROM meta WHERE key = 'seq'") == before
    assert database.query("SELECT value FROM meta WHERE key = 'seq'") == [(3,)]


def test_reading_inside_writing_sees_what_was_written(database):
    with database.writing() as tx:
        tx.execute("UPDATE meta SET value = 4 WHERE key = 'seq'")
        with database.reading():
            assert database.query("SELECT value FROM meta WHERE key = 'seq'") == [(4,)]
        assert database.reader().in_transaction


def test_writers_of_many_threads_take_turns(database):
    def count():
        for _ in range(25):
            with database.writing() as tx:
                ((value,),) = tx.execute("SELECT value FROM meta WHERE key = 'seq'")
                tx.execute("UPDATE meta SET value = ? WHERE key = 'seq'", (value + 1,))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert database.query("SELECT value FROM meta WHERE key = 'seq'") == [(100,)]


def test_an_extension_reaches_each_connection_once(database):
    reached = []
    database.reader()
    database.extend(reached.append)
    database.query("SELECT 1")
    database.query("SELECT 1")
    thread = threading.Thread(target=lambda: database.query("SELECT 1"))
    thread.start()
    thread.join()
    assert len(reached) == 2
    assert reached[0] is not reached[1]


def test_closing_closes_the_connections_of_every_thread(database):
    ready, done = threading.Event(), threading.Event()
    held = []

    def read():
        held.append(database.reader())
        ready.set()
        done.wait(10)

    thread = threading.Thread(target=read)
    thread.start()
    ready.wait(10)
    database.close()
    with pytest.raises(apsw.ConnectionClosedError):
        held[0].execute("SELECT 1")
    done.set()
    thread.join()
