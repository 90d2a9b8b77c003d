"""What a vector index holds, compared with what it should hold."""

from collections.abc import Iterator, Sequence

from reqall import IndexEntry, SqlConnection
from reqall.plugins.recallers.ordinals import Ordinals

LENGTH_TOLERANCE = 1e-3
"""How far a vector's length may be from 1."""


def inventory(tx: SqlConnection, prefix: str) -> Iterator[tuple[int, str]]:
    """Yield chunk id and document id of every entry that has a vector."""
    yield from tx.execute(
        f"select id, document_id from {prefix}_entry where id in (select id from {prefix}_vectors) order by id"
    )


def damage(tx: SqlConnection, prefix: str) -> list[str]:
    """Count vectors that no entry names."""
    ((count,),) = tx.execute(f"select count(*) from {prefix}_vectors where id not in (select id from {prefix}_entry)")
    return [f"{count} vectors without an entry"] if count else []


def faults(tx: SqlConnection, prefix: str, entries: Sequence[IndexEntry]) -> Iterator[tuple[int, str]]:
    """Yield the chunks (of those that are held) whose text, vector or facets are stored otherwise."""
    ordinals = Ordinals(prefix)
    for entry in entries:
        chunk_id = (entry.chunk.id,)
        # The matrix in memory reads its facets from the entries, a search by vec0 from the vectors.
        copied = "text_hash, project, type, status, modified"
        ((text_hash, *copies),) = tx.execute(f"select {copied} from {prefix}_entry where id = ?", chunk_id)
        columns = "embedding, bucket, project, type, status, modified"
        ((vector, *facets),) = tx.execute(f"select {columns} from {prefix}_vectors where id = ?", chunk_id)
        if text_hash != entry.chunk.text_hash:
            yield entry.chunk.id, "its vector is of another text"
        elif not _is_unit(vector):
            yield entry.chunk.id, "its vector is not of length 1"
        elif ordinals.stored(tx, entry.facets) != tuple(facets) or copies != facets[1:]:
            yield entry.chunk.id, "its facets differ"


def _is_unit(vector: bytes) -> bool:
    import numpy as np

    return bool(abs(np.linalg.norm(np.frombuffer(vector, dtype=np.float32)) - 1) <= LENGTH_TOLERANCE)
