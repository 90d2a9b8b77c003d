"""Migrations: every released version becomes the newest one, once, whole or not at all, with a copy of what was."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from reqall.core.database import SCHEMA_VERSION, Database
from reqall.core.errors import CatalogError
from reqall.core.migrations import STEPS, VERSION_1

RELEASED = sorted((Path(__file__).parent / "schemas").glob("*.sql"), key=lambda file: int(file.stem))
ADD_COLUMN = "ALTER TABLE project ADD COLUMN note TEXT; UPDATE project SET note = upper(key);"


def add_line(tx):
    tx.execute("INSERT INTO meta VALUES ('steps', 'two')")


TWO_MORE = (*STEPS, ADD_COLUMN, add_line)
"""A later program's steps: SQL and a function."""


def released(file, path):
    """Make a file as a released version made it, with a project in it."""
    connection = apsw.Connection(str(path))
    list(connection.execute(file.read_text(encoding="utf-8")))
    connection.execute("INSERT INTO project(id, source, key, name) VALUES ('s:1', 's', 'p', 'One')")
    list(connection.execute("PRAGMA journal_mode = wal"))
    connection.close()
    return path


def schema(path):
    connection = apsw.Connection(str(path))
    found = sorted(
        (name, "".join((sql or "").split()).replace('"', ""))
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master")
    )
    version = connection.pragma("user_version")
    connection.close()
    return version, found


def keys(path):
    connection = apsw.Connection(str(path))
    found = dict(connection.execute("SELECT key, value FROM meta"))
    connection.close()
    return found


@pytest.fixture
def old(tmp_path):
    return released(RELEASED[-1], tmp_path / "catalog.db")


def copies(path):
    return sorted(file.name for file in path.parent.iterdir() if ".before-" in file.name)


def test_every_version_has_its_fixture():
    assert [int(file.stem) for file in RELEASED] == list(range(1, SCHEMA_VERSION + 1))


@pytest.mark.parametrize("file", RELEASED, ids=lambda file: file.stem)
def test_a_released_file_becomes_as_a_new_one(file, tmp_path):
    path = released(file, tmp_path / "old.db")
    Database(path).close()
    Database(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")
    kept = Database(path)
    assert kept.query("SELECT id, key FROM project") == [("s:1", "p")]
    kept.close()


@pytest.mark.parametrize("steps", [(), (ADD_COLUMN,), (ADD_COLUMN, add_line)])
def test_later_steps_lead_from_every_version_to_the_same(steps, tmp_path):
    steps = (*STEPS, *steps)
    Database(tmp_path / "new.db", steps=steps).close()
    for file in RELEASED:
        path = released(file, tmp_path / f"{file.stem}.db")
        Database(path, steps=steps).close()
        assert schema(path) == schema(tmp_path / "new.db")
        assert schema(path)[0] == len(steps)


def test_steps_change_rows_and_the_identity_stays(old):
    before = keys(old)
    database = Database(old, steps=TWO_MORE)
    assert database.query("SELECT id, note FROM project") == [("s:1", "P")]
    database.close()
    assert keys(old) == before | {"steps": "two"}


def test_a_step_at_a_time_is_the_same_as_all_at_once(old, tmp_path):
    other = released(RELEASED[-1], tmp_path / "other.db")
    Database(old, steps=TWO_MORE).close()
    for count in range(len(STEPS), len(TWO_MORE) + 1):
        Database(other, steps=TWO_MORE[:count]).close()
    assert schema(old) == schema(other)
    assert copies(other) == ["catalog.db.before-4", "other.db.before-3", "other.db.before-4"]


def test_the_copy_is_the_file_as_it_was(old):
    before = schema(old)
    Database(old, steps=TWO_MORE).close()
    assert copies(old) == ["catalog.db.before-4"]
    copy = old.with_name("catalog.db.before-4")
    assert schema(copy) == before
    assert copy.stat().st_mode == old.stat().st_mode
    # The remedy after a migration that was not wanted: put the copy in its place.
    restored = Database(copy)
    assert restored.query("SELECT name FROM project") == [("One",)]
    restored.close()


def test_what_only_the_log_holds_is_in_the_copy(old):
    writer = Database(old)
    with writer.writing() as tx:
        tx.execute("UPDATE project SET name = 'Two'")
    assert old.with_name("catalog.db-wal").stat().st_size > 0
    Database(old, steps=TWO_MORE).close()
    writer.close()
    copy = Database(old.with_name("catalog.db.before-4"))
    assert copy.query("SELECT name FROM project") == [("Two",)]
    copy.close()


def test_a_file_that_is_level_is_not_copied(old):
    Database(old).close()
    Database(old, steps=TWO_MORE).close()
    stamp = old.with_name("catalog.db.before-4").stat().st_mtime_ns
    Database(old, steps=TWO_MORE).close()
    assert old.with_name("catalog.db.before-4").stat().st_mtime_ns == stamp
    assert len(copies(old)) == 1


def test_a_new_file_is_not_copied(tmp_path):
    Database(tmp_path / "catalog.db", steps=TWO_MORE).close()
    assert copies(tmp_path / "catalog.db") == []


def fail(tx):
    tx.execute("INSERT INTO meta VALUES ('half', 1)")
    raise KeyError


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("CREATE TABLE half(x); SELECT * FROM nowhere;", CatalogError),
        ("CREATE TABLE half(x); INSERT INTO project SELECT * FROM project;", CatalogError),
        (fail, KeyError),
    ],
)
def test_a_step_that_fails_leaves_the_file_as_it_was(old, step, error):
    before = schema(old), keys(old)
    with pytest.raises(error) as caught:
        Database(old, steps=(*STEPS, ADD_COLUMN, step))
    assert (schema(old), keys(old)) == before
    if error is CatalogError:
        assert "from schema 2 to 4" in caught.value.message
        assert "nothing was changed" in caught.value.remedy
    usable = Database(old)
    usable.close()


def test_a_copy_that_cannot_be_written_stops_the_migration(old):
    before = schema(old)
    blocked = old.with_name("catalog.db.before-4")
    blocked.mkdir()
    (blocked / "file").touch()
    with pytest.raises(CatalogError, match="copy") as caught:
        Database(old, steps=TWO_MORE)
    assert "make room" in caught.value.remedy
    assert schema(old) == before
    assert copies(old) == ["catalog.db.before-4"]


def test_a_newer_file_is_refused_and_left_alone(old):
    Database(old, steps=TWO_MORE).close()
    content = old.read_bytes()
    with pytest.raises(CatalogError, match=r"newer reqall \(schema 4, this one knows 2\)") as caught:
        Database(old)
    assert "upgrade reqall" in caught.value.remedy
    assert old.read_bytes() == content


def test_a_program_that_is_still_open_does_not_write_into_a_newer_file(old):
    open_before = Database(old)
    Database(old, steps=TWO_MORE).close()
    with pytest.raises(CatalogError, match="newer reqall"), open_before.writing():
        pytest.fail("an older program was let write")
    assert open_before.query("SELECT name FROM project") == [("One",)]
    open_before.close()


RACE = """
import sys
from pathlib import Path
from reqall.core.database import Database
from reqall.core.migrations import STEPS
def count(tx):
    tx.execute("INSERT INTO meta VALUES ('migrated', 0) ON CONFLICT DO UPDATE SET value = value + 1")
    tx.execute("UPDATE meta SET value = value + 1 WHERE key = 'migrated'")
sys.stdin.read()
database = Database(Path(sys.argv[1]), steps=(*STEPS, count))
print(database.query("SELECT value FROM meta WHERE key = 'migrated'")[0][0])
"""


def test_processes_that_open_an_old_file_at_once_migrate_it_once(old):
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", RACE, str(old)]
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]
    for process in started:
        process.stdin.close()
        process.stdin = None
    told = [process.communicate(timeout=60) for process in started]
    assert [error for _, error in told] == [""] * 3
    assert [output.strip() for output, _ in told] == ["1"] * 3
    assert copies(old) == ["catalog.db.before-3"]


def test_the_first_version_is_frozen():
    """Files out there were made by it: its text in the program and its fixture are one."""
    fixture = RELEASED[0].read_text(encoding="utf-8")
    tables = VERSION_1[: VERSION_1.index("INSERT INTO meta")].strip()
    assert tables in fixture
