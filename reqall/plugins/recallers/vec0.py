"""The tables of a vector index: sqlite-vec's virtual table vec0, and what lies beside it.

Measured with sqlite-vec 0.1.9: it answers exactly, by a scan; `in` on a partition key yields k rows
of each partition; a JOIN would filter after ranking; holes that deletions leave are not used again.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from reqall import Filters, IndexEntry, SqlConnection
from reqall.plugins.recallers.ordinals import BUCKETS, Ordinals
from reqall.plugins.recallers.tables import has_table

Neighbour: TypeAlias = tuple[int, str, float]
"""Chunk id, document id, Euclidean distance."""

Scan: TypeAlias = Callable[[SqlConnection, Sequence[bytes], int], list[list[Neighbour]]]
"""Takes vectors and a limit; returns for each the nearest chunks of at least `limit` documents (all, where there
are fewer), ordered by distance, document id and chunk id."""

MAX_K = 4096
"""The largest k that vec0 takes."""

MIN_K = 64
BLOCK = 128
"""Vectors of one block of storage: a partition wastes up to one, a block is freed when all of it is deleted."""

_ANY = "(select value from json_each(?))"
_COLUMNS = "id, embedding, bucket, project, type, status, modified"


class Vec0:
    """Vectors by chunk id, with facets to filter by and text hashes to find them again.

    Facets stand in both tables: vec0 filters by its own, and takes ten times as long to hand them out.
    """

    def __init__(self, prefix: str) -> None:
        """Name the tables after `prefix`."""
        self._vectors = f"{prefix}_vectors"
        self._entry = f"{prefix}_entry"
        self._revision = f"{prefix}_revision"
        self.ordinals = Ordinals(prefix)

    def exists(self, connection: SqlConnection) -> bool:
        """Tell whether the tables are there."""
        return has_table(connection, self._entry)

    def is_empty(self, connection: SqlConnection) -> bool:
        """Tell whether there is nothing to be found."""
        return not self.exists(connection) or not list(connection.execute(f"select 1 from {self._entry} limit 1"))

    def create(self, tx: SqlConnection, dimensions: int) -> None:
        """Create all tables."""
        self.ordinals.create(tx)
        tx.execute(
            f"create table {self._entry}(id integer primary key, document_id text not null, text_hash text not null, "
            "project integer not null, type integer not null, status integer not null, modified integer not null)"
        )
        for column in ("document_id", "text_hash"):
            tx.execute(f"create index {self._entry}_{column} on {self._entry}({column})")
        tx.execute(f"create table {self._revision}(id integer primary key check (id = 1), name text not null)")
        self._create_vectors(tx, dimensions)

    def drop(self, tx: SqlConnection) -> None:
        """Remove all tables."""
        for table in (self._vectors, self._entry, self._revision, self.ordinals.table):
            tx.execute(f"drop table if exists {table}")

    def delete(self, tx: SqlConnection, document_ids: Iterable[str]) -> None:
        """Remove the entries of documents."""
        for document_id in document_ids:
            chunk_ids = list(tx.execute(f"select id from {self._entry} where document_id = ?", (document_id,)))
            tx.executemany(f"delete from {self._vectors} where id = ?", chunk_ids)
            tx.executemany(f"delete from {self._entry} where id = ?", chunk_ids)

    def insert(self, tx: SqlConnection, entry: IndexEntry, vector: bytes) -> None:
        """Add an entry; `vector` holds float32 in the machine's order."""
        chunk = entry.chunk
        bucket, *facets = self.ordinals.columns(tx, entry.facets)
        tx.execute(
            f"insert into {self._entry} values (?, ?, ?, ?, ?, ?, ?)",
            (chunk.id, chunk.document_id, chunk.text_hash, *facets),
        )
        tx.execute(
            f"insert into {self._vectors}({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)",
            (chunk.id, vector, bucket, *facets),
        )

    def stored(self, reader: SqlConnection, text_hashes: Iterable[str]) -> dict[str, bytes]:
        """Find the vectors of texts that the index holds."""
        if not self.exists(reader):
            return {}
        found = reader.execute(
            f"select text_hash, min(id) from {self._entry} where text_hash in {_ANY} group by text_hash",
            (json.dumps(list(text_hashes)),),
        )
        return {key: vector for key, number in list(found) for vector in self.vectors_of(reader, [number])}

    def of_document(self, reader: SqlConnection, document_id: str) -> list[bytes]:
        """Read the vectors of a document's chunks."""
        chunk_ids = list(reader.execute(f"select id from {self._entry} where document_id = ?", (document_id,)))
        statement = f"select embedding from {self._vectors} where id = ?"
        return [vector for chunk_id in chunk_ids for (vector,) in reader.execute(statement, chunk_id)]

    def mark(self, tx: SqlConnection) -> None:
        """Give what is written its own revision: never the same one twice, whatever is rolled back or dropped."""
        tx.execute(f"insert or replace into {self._revision} values (1, hex(randomblob(16)))")

    def revision(self, reader: SqlConnection) -> str:
        """Return the revision of an index that is not empty."""
        ((name,),) = reader.execute(f"select name from {self._revision}")
        return str(name)

    def count(self, reader: SqlConnection) -> int:
        """Count the vectors."""
        ((count,),) = reader.execute(f"select count(*) from {self._entry}")
        return int(count)

    @contextmanager
    def snapshot(self, reader: SqlConnection) -> Iterator[None]:
        """Let several reads see one state."""
        reader.execute(f"savepoint {self._vectors}")
        try:
            yield
        finally:
            reader.execute(f"release {self._vectors}")

    def entries(self, reader: SqlConnection) -> Iterable[tuple[int, str, int, int, int, int]]:
        """Read all: chunk id, document id, project, type, status, modified."""
        return reader.execute(  # type: ignore[no-any-return]
            f"select id, document_id, project, type, status, modified from {self._entry} order by project, id"
        )

    def vectors(self, reader: SqlConnection) -> Iterable[tuple[int, bytes]]:
        """Read all: chunk id, vector."""
        return reader.execute(f"select id, embedding from {self._vectors}")  # type: ignore[no-any-return]

    def vectors_of(self, reader: SqlConnection, chunk_ids: Iterable[int]) -> Iterator[bytes]:
        """Read the vectors of these chunks."""
        statement = f"select embedding from {self._vectors} where id = ?"
        return (vector for chunk_id in chunk_ids for (vector,) in reader.execute(statement, (chunk_id,)))

    def chunk_ids_by_type(self, reader: SqlConnection, project_ids: Sequence[str]) -> dict[int, list[int]]:
        """List the chunks of each item type in these projects, or in all where none is named."""
        where = (
            f"where project in (select ordinal from {self.ordinals.table} where kind = 'project' and value in {_ANY})"
        )
        found = reader.execute(
            f"select type, id from {self._entry} {where if project_ids else ''} order by id",
            (json.dumps(list(project_ids)),) if project_ids else (),
        )
        groups: dict[int, list[int]] = {}
        for kind, chunk_id in found:
            groups.setdefault(kind, []).append(chunk_id)
        return groups

    def scan(self, reader: SqlConnection, filters: Filters) -> Scan | None:
        """Make ready to find the nearest chunks within filters; None where nothing can meet them."""
        wanted = self.ordinals.wanted(reader, filters)
        if wanted is None:
            return None
        conditions = wanted.conditions()
        return lambda reader, vectors, limit: [self._nearest(reader, vector, limit, conditions) for vector in vectors]

    def compact(self, tx: SqlConnection, dimensions: int) -> None:
        """Rewrite the vectors when most slots are holes: a scan reads holes too."""
        ((slots,),) = tx.execute(f"select coalesce(sum(size), 0) from {self._vectors}_chunks")
        if slots <= 2 * (self.count(tx) + BUCKETS * BLOCK):
            return
        kept = f"temp.{self._vectors}_kept"
        tx.execute(f"create table {kept} as select {_COLUMNS} from {self._vectors}")
        tx.execute(f"drop table {self._vectors}")
        self._create_vectors(tx, dimensions)
        tx.execute(f"insert into {self._vectors}({_COLUMNS}) select {_COLUMNS} from {kept}")
        tx.execute(f"drop table {kept}")

    def _nearest(self, reader: SqlConnection, vector: bytes, limit: int, conditions: str) -> list[Neighbour]:
        """Find the nearest chunks of at least `limit` documents, all where there are fewer.

        A page of k ends within equal distances as it happens: they are left to the next page,
        which begins beyond the last distance kept, so that the answer does not depend on k.
        """
        found: list[Neighbour] = []
        k = min(max(2 * limit, MIN_K), MAX_K)
        beyond: float | None = None
        while True:
            page = self._page(reader, vector, k, conditions, beyond)
            is_last = len(page) < k
            kept = page if is_last else [row for row in page[:k] if row[2] < page[k - 1][2]]
            if kept or k == MAX_K:
                found += kept or page[:k]
            if is_last or len({document_id for _, document_id, _ in found}) >= limit:
                return found
            beyond = found[-1][2] if found else None
            k = min(2 * k, MAX_K)

    def _create_vectors(self, tx: SqlConnection, dimensions: int) -> None:
        tx.execute(
            f"create virtual table {self._vectors} using vec0(id integer primary key, bucket integer partition key, "
            f"embedding float[{dimensions}], project integer, type integer, status integer, modified integer, "
            f"chunk_size={BLOCK})"
        )

    def _page(
        self, reader: SqlConnection, vector: bytes, k: int, conditions: str, beyond: float | None
    ) -> Sequence[Neighbour]:
        """Return k nearest of each partition, nearest first; one statement, so one snapshot."""
        start = "" if beyond is None else f" and distance > {beyond!r}"
        rows = reader.execute(
            f"with nearest as materialized (select id, distance from {self._vectors} "
            f"where embedding match ? and k = ?{conditions}{start}) "
            f"select id, document_id, distance from nearest join {self._entry} using (id)",
            (vector, k),
        )
        return sorted(rows, key=lambda row: (row[2], row[1], row[0]))
