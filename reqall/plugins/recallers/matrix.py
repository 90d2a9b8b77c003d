"""A vector index in memory: all vectors as one float32 matrix, searched exactly by a matrix product.

It finds what vec0 finds, with the same distances to the last bit: the product chooses candidates,
with a margin for rounding, and sqlite-vec's own distance ranks them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reqall import Filters, SqlConnection
from reqall.plugins.recallers.ordinals import Wanted
from reqall.plugins.recallers.vec0 import Neighbour, Scan, Vec0

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
    Integers: TypeAlias = npt.NDArray[np.int64]

MARGIN = 2e-3
"""Cosines this near may be in either order: vectors are of length 1 only nearly, and the product rounds."""

SPARSE = 10
"""Where fewer than one row of so many is wanted, copying those is cheaper than multiplying all."""

_SMALL = 8_000_000
_FEW = 3
_MIN_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Rows:
    """Neighbouring rows of the matrix, and which of them are wanted (numbers from 0); None is all."""

    start: int
    stop: int
    chosen: "Integers | None"


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """All vectors and facets of an index at one revision, never changed; rows sorted by project.

    `vectors` has shape (rows, dimensions), every other column (rows,). `document` counts in
    `document_ids`, which are sorted, so that it orders as they do; `known` numbers the facets.
    """

    revision: str
    vectors: "Floats"
    chunk: "Integers"
    document: "Integers"
    project: "Integers"
    type: "Integers"
    status: "Integers"
    modified: "Integers"
    document_ids: Sequence[str]
    known: Mapping[tuple[str, str], int]

    @classmethod
    def load(cls, reader: SqlConnection, tables: Vec0, dimensions: int) -> "Matrix":
        """Read the whole index, which is not empty, at one revision; about a second per 100,000 x 384."""
        import numpy as np

        with tables.snapshot(reader):
            chunk_ids, documents, *facets = zip(*tables.entries(reader), strict=True)
            chunk, project, type_, status, modified = (np.array(c, dtype=np.int64) for c in (chunk_ids, *facets))
            vectors = _filled(tables.vectors(reader), chunk, dimensions)
            known = tables.ordinals.known(reader)
            revision = tables.revision(reader)
        document_ids = sorted(set(documents))
        number = {document_id: position for position, document_id in enumerate(document_ids)}
        document = np.array([number[document_id] for document_id in documents], dtype=np.int64)
        return cls(revision, vectors, chunk, document, project, type_, status, modified, document_ids, known)

    def scan(self, filters: Filters) -> Scan | None:
        """Make ready to find the nearest chunks within filters; None where nothing can meet them."""
        wanted = Wanted.of(
            filters, lambda kind, values: [self.known[kind, v] for v in values if (kind, v) in self.known]
        )
        if wanted is None:
            return None
        parts = [self._rows(start, stop, wanted) for start, stop in self._ranges(wanted.project)]
        return lambda reader, vectors, limit: self._nearest(reader, vectors, limit, parts)

    def _ranges(self, projects: tuple[int, ...] | None) -> Iterator[tuple[int, int]]:
        """Find the first row of each project, and the row after its last."""
        import numpy as np

        if projects is None:
            yield 0, len(self.chunk)
            return
        for project in projects:
            start, stop = np.searchsorted(self.project, (project, project + 1)).tolist()
            yield start, stop

    def _rows(self, start: int, stop: int, wanted: Wanted) -> Rows:
        import numpy as np

        masks = [
            np.isin(column[start:stop], numbers)
            for column, numbers in ((self.type, wanted.type), (self.status, wanted.status))
            if numbers is not None
        ]
        if wanted.modified is not None:
            first, last = wanted.modified
            modified = self.modified[start:stop]
            masks.append((modified >= first) & (modified <= last))
        return Rows(start, stop, np.flatnonzero(np.logical_and.reduce(masks)) if masks else None)

    def _nearest(
        self, reader: SqlConnection, vectors: Sequence[bytes], limit: int, parts: Sequence[Rows]
    ) -> list[list[Neighbour]]:
        import numpy as np

        queries = np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(vectors), -1)
        products = [self._cosines(queries, part) for part in parts]
        cosines = products[0] if len(products) == 1 else np.concatenate(products, axis=1)
        return [
            self._ranked(reader, vector, self._candidates(row, parts, limit))
            for vector, row in zip(vectors, cosines, strict=True)
        ]

    def _cosines(self, queries: "Floats", rows: Rows) -> "Floats":
        """Multiply the queries with the wanted rows: (queries, wanted rows)."""
        block = self.vectors[rows.start : rows.stop]
        if rows.chosen is None:
            return _product(queries, block)
        if SPARSE * len(rows.chosen) < len(block):
            return _product(queries, block[rows.chosen])
        return _product(queries, block)[:, rows.chosen]

    def _candidates(self, cosines: "Floats", parts: Sequence[Rows], limit: int) -> "Integers":
        """Choose the rows that may be among the nearest chunks of `limit` documents."""
        import numpy as np

        size = max(2 * limit, _MIN_CANDIDATES)
        while size < len(cosines):
            top = np.argpartition(cosines, len(cosines) - size)[-size:]
            top = top[np.argsort(-cosines[top])]
            documents: set[int] = set()
            for position, document in zip(top, self.document[_numbers(parts, top)].tolist(), strict=True):
                documents.add(document)
                if len(documents) == limit:
                    bound = cosines[position] - MARGIN
                    holds_all = cosines[top[-1]] < bound
                    near = top[cosines[top] >= bound] if holds_all else np.flatnonzero(cosines >= bound)
                    return _numbers(parts, near)
            size *= 4
        return _numbers(parts, slice(None))

    def _ranked(self, reader: SqlConnection, vector: bytes, rows: "Integers") -> list[Neighbour]:
        """Measure the distances as vec0 does."""
        pairs = ((vector, self.vectors[row].tobytes()) for row in rows.tolist())
        distances = [distance for (distance,) in reader.executemany("select vec_distance_l2(?, ?)", pairs)]
        found = zip(distances, self.document[rows].tolist(), self.chunk[rows].tolist(), strict=True)
        return [(chunk, self.document_ids[document], distance) for distance, document, chunk in sorted(found)]


def _product(queries: "Floats", rows: "Floats") -> "Floats":
    """Return cosines of shape (queries, rows); which way is quickest was measured on two busy processors.

    BLAS waits for its threads, which costs a small product 7 to 14 ms; numpy's own loop, in this
    thread, takes 1.7 ms for 10,000 x 384. With 100,000 x 384, BLAS takes 32 ms for each vector alone,
    and 95 ms for two to five of them as a matrix.
    """
    import numpy as np

    is_small = rows.size <= _SMALL
    if len(queries) > _FEW and not is_small:
        return np.ascontiguousarray((rows @ queries.T).T)
    cosines = np.empty((len(queries), len(rows)), dtype=np.float32)
    for query, row in zip(queries, cosines, strict=True):
        if is_small:
            np.einsum("ij,j->i", rows, query, out=row)
        else:
            np.matmul(rows, query, out=row)
    return cosines


def _numbers(parts: Sequence[Rows], positions: "Integers | slice") -> "Integers":
    """Return the rows of the matrix that stand at these positions of the parts, laid end to end."""
    import numpy as np

    first = parts[0]
    if len(parts) == 1 and first.chosen is None and not isinstance(positions, slice):
        return first.start + positions
    return np.concatenate([np.arange(p.start, p.stop) if p.chosen is None else p.start + p.chosen for p in parts])[
        positions
    ]


def _filled(stored: Iterable[tuple[int, bytes]], chunk: "Integers", dimensions: int) -> "Floats":
    """Put each vector into its chunk's row; nothing but the matrix is held whole."""
    import numpy as np

    vectors = np.empty((len(chunk), dimensions), dtype=np.float32)
    memory = vectors.data.cast("B")
    width = vectors.strides[0]
    place = {chunk_id: row * width for row, chunk_id in enumerate(chunk.tolist())}
    for chunk_id, vector in stored:
        start = place[chunk_id]
        memory[start : start + width] = vector
    return vectors
