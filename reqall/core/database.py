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
    text_hash TEXT NOT NULL, facet_hash TEXT NOT NULL);
CREATE INDEX document_key ON document(project_id, key COLLATE NOCASE);
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


class Database:
    """One SQLite file; each thread has its own connection, writers take turns."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises CatalogError."""
        self.path = path
        self._local = threading.local()
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        self._extensions: list[Callable[[Any], None]] = []
        self._writing = threading.RLock()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._migrate()

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
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

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
                connection.execute("COMMIT")

    def close(self) -> None:
        """Close all connections; the object is not used afterwards."""
        for connection in list(self._connections):
            connection.close()
        self._local = threading.local()

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        # apsw runs a list of statements only as far as the rows are read: list() drains it.
        list(connection.execute("PRAGMA journal_mode=WAL"))
        list(connection.execute("PRAGMA synchronous=NORMAL"))
        list(connection.execute("PRAGMA temp_store=MEMORY"))
        list(connection.execute("PRAGMA cache_size=-32000"))
        list(connection.execute("PRAGMA mmap_size=268435456"))
        self._connections.add(connection)
        return connection

    def _migrate(self) -> None:
        connection = self._local.connection = self._connect()
        self._local.extended = 0
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.pragma("user_version")
            if version == 0:
                list(connection.execute(SCHEMA))
                connection.execute(
                    "INSERT INTO meta VALUES ('catalog_id', ?), ('seq', 0), ('chunk_id', 0)", [uuid.uuid4().hex]
                )
                connection.pragma("user_version", SCHEMA_VERSION)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if version > SCHEMA_VERSION:
            raise CatalogError(
                f"{self.path} was written by a newer reqall (schema {version}, this one knows {SCHEMA_VERSION})",
                "upgrade reqall, or point JAMA_MCP_DB_PATH to another file",
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the engine's errors into ours, with the file and what to do."""
        try:
            yield
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, OSError) as error:
            message = f"the database {self.path} cannot be opened for writing ({_reason(error)})"
            raise CatalogError(
                message, "make its folder writable, or set JAMA_MCP_DB_PATH to a file in one that is"
            ) from error
        except apsw.NotADBError as error:
            message = f"{self.path} is not a reqall database"
            raise CatalogError(message, "move it away, or set JAMA_MCP_DB_PATH to another file") from error
        except apsw.BusyError as error:
            message = f"the database {self.path} is locked by another process"
            raise CatalogError(message, "wait until its sync has finished, then try again") from error
        except apsw.FullError as error:
            raise CatalogError(
                f"no space left for {self.path}", "free disk space; nothing committed is lost"
            ) from error
        except apsw.CorruptError as error:
            message = f"the database {self.path} is damaged"
            raise CatalogError(message, "move it away and sync again; the source is untouched") from error


def _reason(error: Exception) -> str:
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error)
