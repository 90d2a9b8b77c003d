"""The catalog's SQLite file: connections, transactions and the schema.

apsw rather than the standard library's sqlite3: many Pythons are built without loadable
extensions. WAL lets searches read while a sync writes; one connection per thread.
"""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

import apsw

from reqall.core.errors import CatalogError

APPLICATION_ID = 0x7265716C
"""Marks the file as ours (https://sqlite.org/pragma.html#pragma_application_id): "reql"."""

SCHEMA_VERSION = 1
BUSY_TIMEOUT_MS = 15_000

SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE project(
    id TEXT PRIMARY KEY, source TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    watermark TEXT, synced TEXT) WITHOUT ROWID;
CREATE TABLE document(
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL, project_id TEXT NOT NULL,
    key TEXT NOT NULL, type_id TEXT NOT NULL, type_name TEXT NOT NULL, name TEXT NOT NULL, status TEXT,
    sections TEXT NOT NULL, fields TEXT NOT NULL, parent_id TEXT, url TEXT, created TEXT, modified TEXT,
    text_hash TEXT NOT NULL, facet_hash TEXT NOT NULL, folded_key TEXT NOT NULL);
CREATE INDEX document_key ON document(folded_key);
CREATE INDEX document_type ON document(project_id, type_id, status);
CREATE TABLE link(
    project_id TEXT NOT NULL, from_id TEXT NOT NULL, to_id TEXT NOT NULL, type TEXT NOT NULL, suspect INTEGER NOT NULL,
    PRIMARY KEY(project_id, from_id, to_id, type)) WITHOUT ROWID;
CREATE INDEX link_to ON link(to_id);
CREATE TABLE chunk(
    id INTEGER PRIMARY KEY, document_id TEXT NOT NULL, chunking TEXT NOT NULL, ordinal INTEGER NOT NULL,
    section TEXT NOT NULL, context TEXT NOT NULL, body TEXT NOT NULL);
CREATE UNIQUE INDEX chunk_document ON chunk(document_id, chunking, ordinal);
CREATE TABLE change(
    document_id TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, deleted INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE job(
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, project_id TEXT NOT NULL,
    status TEXT NOT NULL, owner TEXT NOT NULL, token INTEGER NOT NULL DEFAULT 0, heartbeat REAL NOT NULL DEFAULT 0,
    state TEXT NOT NULL, started TEXT, finished TEXT);
CREATE INDEX job_project ON job(project_id, status);
"""


PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-32000",
    "PRAGMA mmap_size=268435456",
)


class Database:
    """One SQLite file; each thread has its own connection, writers take turns."""

    def __init__(self, path: Path, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Open or create the file; a lock of another process is waited for so long. Raises CatalogError."""
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._local = threading.local()
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        self._extensions: list[Callable[[Any], None]] = []
        self._writing = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error
        self._create()

    def reader(self) -> apsw.Connection:
        """Return this thread's connection; inside `writing` it sees the open transaction."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with self._explained():
                connection = self._local.connection = self._connect()
            self._local.extended = 0
        while self._local.extended < len(self._extensions):
            self._extensions[self._local.extended](connection)
            self._local.extended += 1
        return connection

    def query(self, statement: str, bindings: Any = ()) -> list[Any]:
        """Read all rows at once: no open cursor holds an old snapshot. Raises CatalogError."""
        with self._explained():
            return list(self.reader().execute(statement, bindings))

    def extend(self, callback: Callable[[Any], None]) -> None:
        """Call `callback` on every connection, present and future, before its next use."""
        self._extensions.append(callback)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Run one write transaction: committed at the end, rolled back on an error."""
        with self._writing, self._explained():
            connection = self.reader()
            if connection.in_transaction:
                raise CatalogError("a write transaction was opened inside another", "this is a defect of reqall")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # After some failures, as on a full disk, SQLite has rolled back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Run several reads on one snapshot."""
        connection = self.reader()
        if connection.in_transaction:
            yield connection
            return
        with self._explained():
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    def close(self) -> None:
        """Close all connections; the object is not used afterwards."""
        for connection in list(self._connections):
            connection.close()
        self._local = threading.local()

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(self._busy_timeout_ms)
            self._check(connection)
            for pragma in PRAGMAS:
                # apsw runs a statement only as far as its rows are read: list() drains it.
                list(connection.execute(pragma))
        except BaseException:
            connection.close()
            raise
        self._connections.add(connection)
        return connection

    def _check(self, connection: apsw.Connection) -> None:
        """Refuse a file that is another program's or a newer reqall's, before anything is written to it."""
        connection.execute("BEGIN")
        try:
            (tables,) = next(connection.execute("SELECT count(*) FROM sqlite_master"))
            application, version = connection.pragma("application_id"), connection.pragma("user_version")
        finally:
            connection.execute("COMMIT")
        if (tables or application or version) and application != APPLICATION_ID:
            raise self._foreign()
        if version > SCHEMA_VERSION:
            raise CatalogError(
                f"{self.path} was written by a newer reqall (schema {version}, this one knows {SCHEMA_VERSION})",
                "upgrade reqall, or point JAMA_MCP_DB_PATH to another file",
            )

    def _create(self) -> None:
        with self.writing() as tx:
            if tx.pragma("user_version") == 0:
                list(tx.execute(SCHEMA))
                identity = [uuid.uuid4().hex]
                tx.execute("INSERT INTO meta VALUES ('catalog_id', ?), ('seq', 0), ('chunk_id', 0)", identity)
                tx.pragma("application_id", APPLICATION_ID)
                tx.pragma("user_version", SCHEMA_VERSION)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the engine's errors into ours, with the file and what to do."""
        try:
            yield
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
            raise self._unusable(str(error)) from error
        except apsw.NotADBError as error:
            raise self._foreign() from error
        except (apsw.BusyError, apsw.LockedError) as error:
            message = f"the database {self.path} is locked by another process"
            raise CatalogError(message, "wait until its sync has finished, then try again") from error
        except (apsw.FullError, apsw.IOError) as error:
            message = f"{self.path} could not be read or written ({error})"
            raise CatalogError(message, "check the disk and its free space; nothing committed is lost") from error
        except apsw.CorruptError as error:
            message = f"the database {self.path} is damaged"
            raise CatalogError(message, "move it away and sync again; the source is untouched") from error

    def _unusable(self, reason: str) -> CatalogError:
        message = f"the database {self.path} cannot be opened for writing ({reason})"
        return CatalogError(message, "make its folder writable, or set JAMA_MCP_DB_PATH to a file in one that is")

    def _foreign(self) -> CatalogError:
        return CatalogError(
            f"{self.path} is not a reqall database", "move it away, or set JAMA_MCP_DB_PATH to another file"
        )
