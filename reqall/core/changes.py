"""The change log and the chunks: what an index needs to come level with the catalog.

Every write or delete of a document moves its one row in the change log to a new `seq`; a deletion
leaves a tombstone. So the log never grows beyond one row per document that ever was.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reqall.core.database import Database
from reqall.core.protocols import SqlConnection
from reqall.core.types import Chunk, ChunkDraft


@dataclass(frozen=True, slots=True)
class Change:
    """A document's place in the change log."""

    document_id: str
    seq: int
    deleted: bool


class ChangeLog:
    """Sequence numbers, chunk ids and chunks."""

    def __init__(self, database: Database) -> None:
        """Work on an opened database."""
        self.database = database

    def catalog_id(self) -> str:
        """Identify this catalog, so that an engine filled from another one is noticed."""
        return str(self._meta("catalog_id"))

    def seq(self) -> int:
        """Return the newest sequence number."""
        return int(self._meta("seq"))

    def record(self, tx: SqlConnection, ids: Iterable[str], *, deleted: bool) -> int:
        """Move documents to new sequence numbers; the newest one is returned."""
        first = self.seq() + 1
        rows = [(document_id, seq, int(deleted)) for seq, document_id in enumerate(ids, start=first)]
        tx.executemany("INSERT OR REPLACE INTO change VALUES (?, ?, ?)", rows)
        newest = first + len(rows) - 1
        tx.execute("UPDATE meta SET value = ? WHERE key = 'seq'", (newest,))
        return newest

    def after(self, seq: int, limit: int) -> list[Change]:
        """Read the next changes, oldest first."""
        rows = self.database.query(
            "SELECT document_id, seq, deleted FROM change WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit)
        )
        return [Change(row[0], row[1], bool(row[2])) for row in rows]

    def pending(self, seq: int, project_ids: Sequence[str] = ()) -> int:
        """Count the documents (of these projects; none = all) that changed after `seq` and still exist."""
        rows = self.database.query(
            "SELECT count(*) FROM change JOIN document ON document.id = change.document_id WHERE seq > ?"
            " AND (? OR project_id IN (SELECT value FROM json_each(?)))",
            (seq, int(not project_ids), json.dumps(list(project_ids))),
        )
        return int(rows[0][0])

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """Look up the sequence numbers of documents; those that never were are left out."""
        rows = self.database.query(
            "SELECT document_id, seq FROM change WHERE document_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return dict(rows)

    def deleted(self, ids: Iterable[str]) -> list[str]:
        """Keep those documents that were in the catalog and were deleted."""
        rows = self.database.query(
            "SELECT document_id FROM change WHERE deleted AND document_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return [row[0] for row in rows]

    def current(self, tx: SqlConnection, changes: Iterable[Change]) -> list[Change]:
        """Keep those changes that nothing has overtaken."""
        kept = []
        for change in changes:
            row = next(tx.execute("SELECT seq FROM change WHERE document_id = ?", (change.document_id,)), None)
            if row is not None and row[0] == change.seq:
                kept.append(change)
        return kept

    def reserve(self, count: int) -> int:
        """Set chunk ids aside, before the slow part of a batch; the first one is returned."""
        with self.database.writing() as tx:
            first = int(self._meta("chunk_id")) + 1
            tx.execute("UPDATE meta SET value = ? WHERE key = 'chunk_id'", (first + count - 1,))
        return first

    def number(self, drafts: Mapping[str, Sequence[ChunkDraft]]) -> dict[str, list[Chunk]]:
        """Give the drafts of each document their ids."""
        total = sum(len(pieces) for pieces in drafts.values())
        number = self.reserve(total) if total else 0
        numbered: dict[str, list[Chunk]] = {}
        for document_id, pieces in drafts.items():
            chunks = numbered[document_id] = []
            for ordinal, piece in enumerate(pieces):
                chunks.append(Chunk(piece.section, piece.context, piece.body, number, document_id, ordinal))
                number += 1
        return numbered

    def chunks_of(self, document_ids: Iterable[str], chunking: str) -> dict[str, list[Chunk]]:
        """Read the chunks that exist of these documents, cut by one chunking."""
        rows = self.database.query(
            "SELECT section, context, body, id, document_id, ordinal FROM chunk WHERE chunking = ? AND document_id IN"
            " (SELECT value FROM json_each(?)) ORDER BY document_id, ordinal",
            (chunking, json.dumps(list(document_ids))),
        )
        found: dict[str, list[Chunk]] = {}
        for row in rows:
            found.setdefault(row[4], []).append(Chunk(*row))
        return found

    def chunks(self, ids: Iterable[int]) -> dict[int, Chunk]:
        """Read chunks by id; absent ones are left out."""
        rows = self.database.query(
            "SELECT section, context, body, id, document_id, ordinal FROM chunk"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[3]: Chunk(*row) for row in rows}

    def write_chunks(self, tx: SqlConnection, chunking: str, chunks: Iterable[Chunk]) -> None:
        """Store chunks; those that are there already stay."""
        rows = ((c.id, c.document_id, chunking, c.ordinal, c.section, c.context, c.body) for c in chunks)
        tx.executemany("INSERT OR IGNORE INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def drop_chunks(self, tx: SqlConnection, document_ids: Iterable[str]) -> None:
        """Forget all chunks of documents whose text changed."""
        tx.executemany("DELETE FROM chunk WHERE document_id = ?", ((key,) for key in document_ids))

    def _meta(self, key: str) -> str | int:
        value: str | int = self.database.query("SELECT value FROM meta WHERE key = ?", (key,))[0][0]
        return value
