"""The catalog's SQLite file: connections, transactions, and bringing an older file level.

apsw rather than the standard library's sqlite3: many Pythons are built without loadable
extensions. WAL lets searches read while a sync writes; one connection per thread.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import apsw

from reqall.core.drives import require_local
from reqall.core.errors import CatalogError
from reqall.core.file_errors import closed_file, foreign_file, newer_file, unusable_file
from reqall.core.migrations import STEPS, Step, migrate

APPLICATION_ID = 0x7265716C
"""Marks the file as ours (https://sqlite.org/pragma.html#pragma_application_id): "reql"."""

SCHEMA_VERSION = len(STEPS)
BUSY_TIMEOUT_MS = 15_000

PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "temp_store=MEMORY", "cache_size=-32000", "mmap_size=268435456")


class Database:
    """One SQLite file; each thread has its own connection, writers take turns."""

    def __init__(
        self,
        path: Path,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
        *,
        steps: Sequence[Step] = STEPS,
        mounts: str | None = None,
    ) -> None:
        """Open or create the file; a lock of another process is waited for so long. Raises CatalogError.

        A file of an older version is copied, then brought level by `steps`. `mounts` is the table of
        mounted file systems, as `require_local` takes it; None reads the system's.
        """
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._steps = steps
        self._local = threading.local()
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        self._extensions: list[Callable[[Any], None]] = []
        self._writing = threading.RLock()
        self._is_closed = False
        try:
            require_local(path, mounts)
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_file(self.path, error.strerror or type(error).__name__) from error
        self._bring_level()

    def reader(self) -> apsw.Connection:
        """Return this thread's connection; inside `writing` it sees the open transaction."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None or connection not in self._connections:
            with self.explained():
                connection = self._local.connection = self._connect()
            self._local.extended = 0
        while self._local.extended < len(self._extensions):
            self._extensions[self._local.extended](connection)
            self._local.extended += 1
        return connection

    def query(self, statement: str, bindings: Any = ()) -> list[Any]:
        """Read all rows at once: no open cursor holds an old snapshot. Raises CatalogError."""
        with self.explained():
            return list(self.reader().execute(statement, bindings))

    def extend(self, callback: Callable[[Any], None]) -> None:
        """Call `callback` on every connection, present and future, before its next use."""
        self._extensions.append(callback)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Run one write transaction: committed at the end, rolled back on an error."""
        with self._writing, self.explained(), self._ending(self._begin(self._busy_timeout_ms)) as connection:
            version = connection.pragma("user_version")
            if version != len(self._steps):  # another process has migrated the file under our feet
                raise newer_file(self.path, version, len(self._steps))
            yield connection

    @contextmanager
    def writing_if_idle(self) -> Iterator[apsw.Connection | None]:
        """Run one write transaction, or yield None at once when another is open, here or in another process."""
        if not self._writing.acquire(blocking=False):
            yield None
            return
        try:
            with self.explained(), ExitStack() as stack:
                connection = None
                if not self.reader().in_transaction:
                    with suppress(apsw.BusyError):
                        connection = stack.enter_context(self._ending(self._begin(0)))
                yield connection
        finally:
            self._writing.release()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Run several reads on one snapshot."""
        connection = self.reader()
        if connection.in_transaction:
            yield connection
            return
        with self.explained():
            connection.execute("BEGIN")
            with self._ending(connection):
                yield connection

    def close(self) -> None:
        """Close all connections, also those that another thread is busy with; none is opened afterwards."""
        self._is_closed = True
        for connection in list(self._connections):
            self.cut(connection)
        self._local = threading.local()

    def cut(self, connection: apsw.Connection) -> None:
        """End what a thread does on its connection, and close it; it gets a new one when it asks again."""
        self._connections.discard(connection)
        for _ in range(100):
            with suppress(apsw.ThreadingViolationError):
                connection.close()
                return
            # Only when it is busy: an interrupted connection does not bring the log into the file when it is closed.
            connection.interrupt()
            time.sleep(0.01)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the engine's errors into ours, with the file and what to do."""
        try:
            yield
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
            raise unusable_file(self.path, str(error)) from error
        except (apsw.InterruptError, apsw.ConnectionClosedError) as error:
            raise closed_file(self.path) from error
        except apsw.NotADBError as error:
            raise foreign_file(self.path) from error
        except (apsw.BusyError, apsw.LockedError) as error:
            message = f"the database {self.path} is locked by another process"
            raise CatalogError(message, "wait until its sync has finished, then try again") from error
        except (apsw.FullError, apsw.IOError) as error:
            message = f"{self.path} could not be read or written ({error})"
            raise CatalogError(message, "check the disk and its free space; nothing committed is lost") from error
        except apsw.CorruptError as error:
            message = f"the database {self.path} is damaged"
            raise CatalogError(message, "move it away and sync again; the source is untouched") from error

    def vacuum(self) -> None:
        """Rewrite the file without its free pages; it needs as much disk again while it runs. Raises CatalogError."""
        with self._writing, self.explained():
            list(self.reader().execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"))

    def _begin(self, busy_timeout_ms: int) -> apsw.Connection:
        connection = self.reader()
        if connection.in_transaction:
            raise CatalogError("a write transaction was opened inside another", "this is a defect of reqall")
        connection.set_busy_timeout(busy_timeout_ms)
        try:
            connection.execute("BEGIN IMMEDIATE")
        finally:
            connection.set_busy_timeout(self._busy_timeout_ms)
        return connection

    @contextmanager
    def _ending(self, connection: apsw.Connection) -> Iterator[apsw.Connection]:
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            # After some failures, as on a full disk, SQLite has rolled back by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _connect(self) -> apsw.Connection:
        if self._is_closed:
            raise closed_file(self.path)
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(self._busy_timeout_ms)
            self._check(connection)
            for pragma in PRAGMAS:
                # apsw runs a statement only as far as its rows are read: list() drains it.
                list(connection.execute(f"PRAGMA {pragma}"))
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
            raise foreign_file(self.path)
        if version > len(self._steps):
            raise newer_file(self.path, version, len(self._steps))

    def _bring_level(self) -> None:
        """Create or migrate the file; of several processes the first does, the others wait and find it done."""
        with self._writing, self.explained(), self._ending(self._begin(self._busy_timeout_ms)) as tx:
            version = tx.pragma("user_version")
            if version >= len(self._steps):
                return
            if version:
                self._keep_copy()
            try:
                migrate(tx, version, self._steps)
            except (apsw.SQLError, apsw.ConstraintError) as error:
                message = f"{self.path} could not be brought from schema {version} to {len(self._steps)} ({error})"
                raise CatalogError(message, "nothing was changed; use the reqall that wrote it, and tell us") from error
            tx.pragma("application_id", APPLICATION_ID)
            tx.pragma("user_version", len(self._steps))

    def _keep_copy(self) -> None:
        """Copy the file as it is before a migration, whole or not at all; the caller holds the write lock."""
        target = self.path.with_name(f"{self.path.name}.before-{len(self._steps)}")
        partial = target.with_name(f"{target.name}.part")
        partial.unlink(missing_ok=True)
        # A second connection: the one that holds the lock cannot be copied from.
        source, copy = apsw.Connection(str(self.path)), apsw.Connection(str(partial))
        try:
            with copy.backup("main", source, "main") as backup:
                backup.step()
            copy.close()
            shutil.copymode(self.path, partial)
            partial.replace(target)
        except (apsw.Error, OSError) as error:
            message = f"{self.path} was to be migrated, but its copy {target} could not be written ({error})"
            raise CatalogError(message, "make room beside it; nothing was changed") from error
        finally:
            source.close()
            copy.close()
            partial.unlink(missing_ok=True)
