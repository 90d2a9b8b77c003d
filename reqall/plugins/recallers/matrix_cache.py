"""When a vector index is searched in memory rather than by vec0: the one place that decides it."""

import threading

from reqall import SqlConnection
from reqall.plugins.recallers.matrix import Matrix
from reqall.plugins.recallers.vec0 import Vec0

_BYTES = 4
_MEGABYTE = 1_000_000


class MatrixCache:
    """Keeps the matrix of an index for this process.

    The first search after the index changed goes through vec0: loading costs as much as several
    scans, and a command that searches once shall not pay for it. The second one loads the matrix;
    it serves until the index changes again, here or in another process. An index whose vectors
    need more than `megabytes` always stays with vec0. Thread-safe: while one thread decides or
    loads, the others go on with vec0.
    """

    def __init__(self, tables: Vec0, megabytes: int) -> None:
        """Begin empty; with 0 `megabytes` it stays so."""
        self._tables = tables
        self._megabytes = megabytes
        self._matrix: Matrix | None = None
        self._searched: str | None = None
        self._deciding = threading.Lock()

    def matrix(self, reader: SqlConnection, dimensions: int) -> Matrix | None:
        """Return the matrix of the index as it is now, which is not empty; None where vec0 is to be used."""
        if not self._megabytes:
            return None
        revision = self._tables.revision(reader)
        matrix = self._matrix
        if matrix is not None and matrix.revision == revision:
            return matrix
        if not self._deciding.acquire(blocking=False):
            return None
        try:
            self._decide(reader, dimensions, revision)
            return self._matrix
        finally:
            self._deciding.release()

    def _decide(self, reader: SqlConnection, dimensions: int, revision: str) -> None:
        if self._matrix is not None and self._matrix.revision == revision:
            return
        # The old one goes first: there is never room for two.
        self._matrix = None
        if revision == self._searched and self._fits(reader, dimensions):
            self._matrix = Matrix.load(reader, self._tables, dimensions)
        self._searched = revision

    def _fits(self, reader: SqlConnection, dimensions: int) -> bool:
        return self._tables.count(reader) * dimensions * _BYTES <= self._megabytes * _MEGABYTE
