"""Dense recall: exact nearest neighbours by sqlite-vec (https://github.com/asg017/sqlite-vec), in the catalog's file.

Vectors have length 1, so Euclidean distance d orders as the cosine does: cosine = 1 - d² / 2.
vec0 is the store; `matrix_cache` decides when a copy in memory is searched instead.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import apsw
from pydantic import Field

from reqall import (
    ChunkRanking,
    Database,
    Embedder,
    EmbedderError,
    Filters,
    IndexBatch,
    IndexEntry,
    PluginError,
    PluginOptions,
    Position,
    Reference,
    Services,
    SqlConnection,
    Storage,
    Vectors,
)
from reqall.plugins.recallers import vec0_inspection
from reqall.plugins.recallers.centring import Centring
from reqall.plugins.recallers.matrix_cache import MatrixCache
from reqall.plugins.recallers.queries import query_vectors
from reqall.plugins.recallers.tables import read_position, require_database, write_position
from reqall.plugins.recallers.vec0 import Neighbour, Vec0

LENGTH_TOLERANCE = 5e-4
"""How far a vector's length may be from 1; half precision keeps within a tenth of it."""


class SqliteVecOptions(PluginOptions):
    """Options of `sqlite_vec`."""

    embedder: Annotated[str, Reference("embedder")] = Field(description="Name of the embedder that makes the vectors.")
    cache_mb: int = Field(
        default=512,
        ge=0,
        description="Megabytes of vectors that a process may keep in memory, where a search is several times faster; "
        "a larger index is read from disk each time. 0 = never keep any.",
    )
    query_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Longest piece of a query, in tokens: a longer query is cut, and searched with by the mean of its "
        "pieces' vectors. Left out: as many as the embedder reads.",
    )
    centre: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the mean of the searched projects' vectors that is subtracted from a query, which makes "
        "fewer items the answer to everything; 0.3 to 0.5 is worth trying. Scores are then no cosines with the query.",
    )


@dataclass(frozen=True, slots=True)
class PreparedVectors:
    """Vectors by chunk id, as vec0 stores them; `embedded` counts the texts that were not known yet."""

    vectors: Mapping[int, bytes] = field(default_factory=dict)
    embedded: int = 0


class SqliteVec:
    """A vector index in the catalog's file; it is its own cache, found again by text hash."""

    storage: Storage = "catalog"

    def __init__(self, embedder: Embedder, database: Database, prefix: str, options: SqliteVecOptions) -> None:
        """Name the tables after `prefix`; they appear with the first `apply`."""
        self._embedder = embedder
        self._database = database
        self._prefix = prefix
        self._tables = Vec0(prefix)
        self._cache = MatrixCache(self._tables, options.cache_mb)
        self._query_tokens = options.query_tokens
        self._centring = Centring(self._tables, options.centre)

    def prepare(self, entries: Sequence[IndexEntry]) -> PreparedVectors:
        """Embed texts that the index does not hold, each once. Raises EmbedderError."""
        if not entries:
            return PreparedVectors()
        hashes = {entry.chunk.id: entry.chunk.text_hash for entry in entries}
        texts = {hashes[entry.chunk.id]: entry.chunk.text for entry in entries}
        vectors = self._tables.stored(self._database.reader(), texts)
        unknown = [text_hash for text_hash in texts if text_hash not in vectors]
        if unknown:
            embedded = self._embedder.embed_documents([texts[text_hash] for text_hash in unknown])
            rows = self._checked(embedded, len(unknown))
            vectors |= zip(unknown, (row.tobytes() for row in rows), strict=True)
        return PreparedVectors({chunk_id: vectors[text_hash] for chunk_id, text_hash in hashes.items()}, len(unknown))

    def apply(self, batch: IndexBatch, prepared: PreparedVectors, tx: SqlConnection | None) -> None:
        """Replace the entries of the batch's documents within the transaction."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        if not self._tables.exists(tx):
            self._tables.create(tx, self._embedder.dimensions)
        self._tables.delete(tx, batch.documents)
        for entry in batch.entries:
            self._tables.insert(tx, entry, prepared.vectors[entry.chunk.id])
        self._tables.compact(tx, self._embedder.dimensions)
        if batch.documents:
            self._tables.mark(tx)
        if batch.position is not None:
            write_position(tx, self._prefix, batch.position)

    def position(self) -> Position | None:
        """Return what the last `apply` left."""
        return read_position(self._database.reader(), self._prefix)

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find the chunks nearest to each text; scores are cosines, unless centred. A blank text finds nothing."""
        reader = self._database.reader()
        asked = [text for text in texts if text.strip()]
        if limit < 1 or not asked or self._tables.is_empty(reader):
            return [ChunkRanking() for _ in texts]
        matrix = self._cache.matrix(reader, self._embedder.dimensions)
        scan = matrix.scan(filters) if matrix is not None else self._tables.scan(reader, filters)
        if scan is None:
            return [ChunkRanking() for _ in texts]
        queries = self._checked(query_vectors(self._embedder, asked, self._query_tokens), len(asked))
        vectors = [row.tobytes() for row in self._centring.centred(reader, queries, filters)]
        found = dict(zip(asked, scan(reader, vectors, limit), strict=True))
        return [ChunkRanking.of(_first_documents(found.get(text, ()), limit)) for text in texts]

    def likeness(self, document_ids: Sequence[str]) -> Vectors:
        """Compare documents by the mean vector of their chunks: cosines of shape (documents, documents)."""
        import numpy as np

        reader = self._database.reader()
        means = np.zeros((len(document_ids), self._embedder.dimensions), dtype=np.float32)
        if self._tables.exists(reader):
            for row, document_id in enumerate(document_ids):
                for vector in self._tables.of_document(reader, document_id):
                    means[row] += np.frombuffer(vector, dtype=np.float32)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return means @ means.T

    def drop(self, tx: SqlConnection | None) -> None:
        """Remove all tables."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        self._tables.drop(tx)
        tx.execute(f"drop table if exists {self._prefix}_position")

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield chunk id and document id of every entry."""
        return vec0_inspection.inventory(tx or self._database.reader(), self._prefix)

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield the entries whose text, vector or facets are stored otherwise."""
        return vec0_inspection.faults(tx or self._database.reader(), self._prefix, entries)

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:
        """Compare vectors and entries."""
        return vec0_inspection.damage(tx or self._database.reader(), self._prefix)

    def _checked(self, vectors: Vectors, count: int) -> Vectors:
        import numpy as np

        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        if matrix.shape != (count, self._embedder.dimensions):
            raise EmbedderError(
                f"the embedder returned an array of shape {matrix.shape} for {count} texts; "
                f"{(count, self._embedder.dimensions)} was announced",
                "set the embedder's dimensions to what its model returns",
            )
        if not (np.abs(np.linalg.norm(matrix, axis=1) - 1) <= LENGTH_TOLERANCE).all():
            raise EmbedderError(
                f"the embedder returned vectors that are not of length 1, among {count} texts",
                "an embedder scales its vectors to length 1; tell its author",
            )
        return matrix


def _first_documents(neighbours: Iterable[Neighbour], limit: int) -> Iterator[tuple[int, str, float]]:
    """Yield chunks and their cosines, nearest first, until so many documents are there."""
    documents: set[str] = set()
    for chunk_id, document_id, distance in neighbours:
        yield chunk_id, document_id, 1 - distance * distance / 2
        documents.add(document_id)
        if len(documents) == limit:
            return


def build_sqlite_vec(options: SqliteVecOptions, services: Services) -> SqliteVec:
    """Build the recaller. Raises PluginError where sqlite-vec is missing or cannot be loaded."""
    database = require_database(services, "sqlite_vec")
    path = _extension_path()
    try:
        _load(apsw.Connection(":memory:"), path)
    except apsw.Error as error:
        raise PluginError(
            f"sqlite_vec: the SQLite extension {path} cannot be loaded: {error}",
            "reinstall sqlite-vec, or use another recaller for vectors",
        ) from error
    database.extend(lambda connection: _load(connection, path))
    return SqliteVec(services.embedder(options.embedder), database, services.prefix, options)


def _extension_path() -> str:
    """Find the extension without importing its package, which would import numpy at start."""
    package = find_spec("sqlite_vec")
    if package is None or package.origin is None:
        raise PluginError(
            "sqlite_vec: the package sqlite-vec is not installed (it has no wheel for some platforms)",
            "run `pip install sqlite-vec`, or use another recaller for vectors",
        )
    return str(Path(package.origin).with_name("vec0"))


def _load(connection: Any, path: str) -> None:
    connection.enable_load_extension(True)
    connection.load_extension(path)
    connection.enable_load_extension(False)
