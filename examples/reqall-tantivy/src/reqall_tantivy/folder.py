"""An index on disk: its newest commit for searches, one writer at a time, and its removal."""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reqall_tantivy.analysis import Analysis
from reqall_tantivy.engine_errors import DamagedIndexError, explained, locked
from reqall_tantivy.schema import ANALYSER, schema

if TYPE_CHECKING:
    import tantivy

LOCK = "reqall.lock"
META = "meta.json"
"""The engine's list of what belongs to the last commit; it is replaced as a whole."""


@dataclass(frozen=True, slots=True)
class _Opened:
    index: "tantivy.Index"
    meta: bytes


@dataclass(frozen=True, slots=True)
class Writing:
    """A writer, alone on the index, and what is committed before it."""

    searcher: "tantivy.Searcher"
    writer: "tantivy.IndexWriter"


class Folder:
    """The folder of one index; thread-safe, and safe between processes."""

    def __init__(self, path: Path, analysis: Analysis, memory_mb: int, lock_seconds: float) -> None:
        """Touch nothing yet: the folder appears with the first write."""
        self.path = path
        self._analysis = analysis
        self._memory = memory_mb * 1_000_000
        self._lock_seconds = lock_seconds
        self._opened: _Opened | None = None
        self._opening = threading.Lock()

    def searcher(self) -> "tantivy.Searcher | None":
        """Return the newest commit, whichever process made it; None where there is none. Raises CatalogError.

        The list of the commit's files is read each time: it costs microseconds, and the engine's own
        watch would look only every half second.
        """
        with self._opening:
            while True:
                meta = self._meta()
                try:
                    return self._searcher(meta)
                except DamagedIndexError:
                    self._opened = None
                    if self._meta() == meta:  # else it was dropped or built anew meanwhile
                        raise

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Write alone, to an index that is made if there is none; what is not committed is forgotten.

        The index is opened anew each time: the engine keeps in memory which files it may remove, and
        another process may have written since. Raises CatalogError.
        """
        with explained(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with self._alone():
            with explained(self.path):
                index = self._open() if self._meta() is not None else self._create()
            with explained(self.path, is_written=True):
                self._remove_stray_deletes()
                writer = index.writer(self._memory, 1)
                try:
                    yield Writing(index.searcher(), writer)
                finally:
                    # Lets the engine's own lock go, after the merges that a commit has begun.
                    writer.wait_merging_threads()

    def clear(self) -> None:
        """Remove all files; the folder itself stays. Raises CatalogError."""
        if not self.path.is_dir():
            return
        with self._alone(), explained(self.path):
            self._opened = None
            # Without this one the others are nothing, should the removal be cut short.
            (self.path / META).unlink(missing_ok=True)
            for file in self.path.iterdir():
                if file.is_dir():
                    shutil.rmtree(file)
                elif file.name != LOCK:
                    file.unlink(missing_ok=True)

    def _searcher(self, meta: bytes | None) -> "tantivy.Searcher | None":
        if meta is None:
            self._opened = None
            return None
        with explained(self.path):
            if self._opened is None:
                index = self._open()
                index.config_reader("manual")
                self._opened = _Opened(index, meta)
            elif self._opened.meta != meta:
                self._opened.index.reload()
                self._opened = _Opened(self._opened.index, meta)
            return self._opened.index.searcher()

    def _meta(self) -> bytes | None:
        with explained(self.path):
            try:
                return (self.path / META).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def _remove_stray_deletes(self) -> None:
        """Remove the lists of deleted documents of a commit that a process did not live to end.

        The engine names such a list by its segment and the number of the operation, which counts from the
        last commit: the next writer comes to the same name, and refuses to write over it.
        """
        meta = self._meta()
        segments = json.loads(meta)["segments"] if meta else []
        living = {
            f"{each['segment_id'].replace('-', '')}.{each['deletes']['opstamp']}.del"
            for each in segments
            if each["deletes"]
        }
        for file in self.path.glob("*.del"):
            if file.name not in living:
                file.unlink(missing_ok=True)

    def _open(self) -> "tantivy.Index":
        import tantivy

        index = tantivy.Index.open(str(self.path))
        if index.schema != schema():
            raise ValueError("its columns are others")
        index.register_tokenizer(ANALYSER, self._analysis.terms)
        return index

    def _create(self) -> "tantivy.Index":
        import tantivy

        index = tantivy.Index(schema(), str(self.path))
        index.register_tokenizer(ANALYSER, self._analysis.terms)
        return index

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder's lock; it is the system's, so a process that dies lets it go.

        The engine's own lock guards a writer, not the making and removing of an index.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK)
        with explained(self.path):
            try:
                lock.acquire(timeout=self._lock_seconds)
            except Timeout as error:
                raise locked(self.path, self._lock_seconds) from error
        try:
            yield
        finally:
            lock.release()
