"""Lexical recall: BM25 over SQLite's FTS5 (https://sqlite.org/fts5.html), in the catalog's file.

FTS5 fixes k1 = 1.2 and b = 0.75. The table is contentless: it holds the inverted index, not the
text. Facets are tokens in a column of their own, of weight 0 and never searched for words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Annotated, Any

import apsw
from pydantic import Field

from reqall import (
    ChunkRanking,
    Database,
    Filters,
    IndexBatch,
    IndexEntry,
    PluginError,
    PluginOptions,
    Position,
    Services,
    SqlConnection,
    Storage,
    Stored,
)
from reqall.plugins.recallers import fts5_inspection
from reqall.plugins.recallers.facets import microseconds
from reqall.plugins.recallers.tables import has_table, read_position, require_database, write_position
from reqall.plugins.recallers.words import indexed_text, query_terms

MAX_PHRASES = 256
"""Most phrases of one query: FTS5 walks the occurrences of each of them."""


class Fts5Options(PluginOptions):
    """Options of `sqlite_fts5`."""

    tokenizer: Annotated[str, Stored()] = Field(
        default="porter unicode61", description="FTS5 tokenizer and its arguments, as in `tokenize=`."
    )
    key_weight: float = Field(
        default=0.5, ge=0, description="BM25 weight of words in a document's key; 0 = not searched."
    )
    name_weight: float = Field(
        default=1.5, ge=0, description="BM25 weight of words in a document's name; 0 = not searched."
    )
    body_weight: float = Field(default=1.0, gt=0, description="BM25 weight of words in a chunk's body.")


class SqliteFts5:
    """A BM25 index in the catalog's file."""

    storage: Storage = "catalog"

    def __init__(self, options: Fts5Options, database: Database, prefix: str) -> None:
        """Name the tables after `prefix`; they appear with the first `apply`."""
        self._database = database
        self._prefix = prefix
        self._tokenizer = options.tokenizer
        weights = {"key": options.key_weight, "name": options.name_weight, "body": options.body_weight}
        self._columns = " ".join(column for column, weight in weights.items() if weight)
        self._rank = f"bm25({', '.join(str(weight) for weight in weights.values())}, 0.0)"

    def prepare(self, entries: Sequence[IndexEntry]) -> None:
        """Do nothing: there is nothing slow to do."""

    def apply(self, batch: IndexBatch, prepared: Any, tx: SqlConnection | None) -> None:  # noqa: ARG002 - no preparation
        """Replace the entries of the batch's documents within the transaction."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        self._create(tx)
        for document_id in batch.documents:
            stored = f"select id from {self._prefix}_entry where document_id = ?"
            chunk_ids = list(tx.execute(stored, (document_id,)))
            tx.executemany(f"delete from {self._prefix}_words where rowid = ?", chunk_ids)
            tx.executemany(f"delete from {self._prefix}_entry where id = ?", chunk_ids)
        tx.executemany(
            f"insert into {self._prefix}_entry values (?, ?, ?)",
            ((entry.chunk.id, entry.chunk.document_id, _modified(entry)) for entry in batch.entries),
        )
        tx.executemany(
            f"insert into {self._prefix}_words(rowid, key, name, body, facet) values (?, ?, ?, ?, ?)",
            (
                (e.chunk.id, indexed_text(e.key), indexed_text(e.name), indexed_text(e.chunk.body), _facet_tokens(e))
                for e in batch.entries
            ),
        )
        if batch.position is not None:
            write_position(tx, self._prefix, batch.position)

    def position(self) -> Position | None:
        """Return what the last `apply` left."""
        return read_position(self._database.reader(), self._prefix)

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find chunks that hold any of a text's terms; scores are BM25, positive."""
        reader = self._database.reader()
        if limit < 1 or not has_table(reader, f"{self._prefix}_words"):
            return [ChunkRanking() for _ in texts]
        return [self._rank_chunks(reader, text, limit, filters) for text in texts]

    def drop(self, tx: SqlConnection | None) -> None:
        """Remove all tables."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        for table in ("words", "entry", "position"):
            tx.execute(f"drop table if exists {self._prefix}_{table}")

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield chunk id and document id of every entry."""
        return fts5_inspection.inventory(tx or self._database.reader(), self._prefix)

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield the entries whose facets are stored otherwise; the words cannot be read back."""
        expected = {e.chunk.id: fts5_inspection.Expected(_facet_tokens(e), _modified(e)) for e in entries}
        return fts5_inspection.faults(tx or self._database.reader(), self._prefix, expected)

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:
        """Check the inverted index."""
        return fts5_inspection.damage(tx or self._database.reader(), self._prefix)

    def _create(self, tx: SqlConnection) -> None:
        prefix = self._prefix
        tx.execute(
            f"create table if not exists {prefix}_entry"
            "(id integer primary key, document_id text not null, modified integer)"
        )
        tx.execute(f"create index if not exists {prefix}_entry_document on {prefix}_entry(document_id)")
        tx.execute(_create_words(f"{prefix}_words", self._tokenizer))

    def _rank_chunks(self, reader: SqlConnection, text: str, limit: int, filters: Filters) -> ChunkRanking:
        phrases = _phrases(query_terms(text))
        if not phrases:
            return ChunkRanking()
        match = f"{_facet_conditions(filters)}{{{self._columns}}} : ({' OR '.join(phrases)})"
        conditions, bounds = _modified_conditions(filters)
        # FTS5 yields the best first; the join reads one entry per row, so the scan ends with the limit.
        rows = reader.execute(
            f"select words.rowid, entry.document_id, words.rank "
            f"from {self._prefix}_words as words cross join {self._prefix}_entry as entry on entry.id = words.rowid "
            f"where words.{self._prefix}_words match ? and words.rank match ?{conditions} order by words.rank",
            (match, self._rank, *bounds),
        )
        try:
            return ChunkRanking.of(_first_documents(rows, limit)).limit_documents(limit)
        finally:
            rows.close()


def _create_words(table: str, tokenizer: str) -> str:
    quoted = tokenizer.replace("'", "''")
    columns = f"key, name, body, facet, content='', contentless_delete=1, tokenize='{quoted}'"
    return f"create virtual table if not exists {table} using fts5({columns})"


def _first_documents(rows: Any, limit: int) -> Iterator[tuple[int, str, float]]:
    """Read on past the last document's score: its ties are for the ranking to order."""
    documents: set[str] = set()
    last: float | None = None
    for chunk_id, document_id, rank in rows:
        if last is not None and rank > last:
            return
        yield chunk_id, document_id, -rank
        documents.add(document_id)
        if last is None and len(documents) == limit:
            last = rank


def _phrases(terms: Counter[str]) -> list[str]:
    """Quote each term as often as it occurs; of too many the longest stay, the most telling ones."""
    longest_first = sorted(terms.items(), key=lambda item: -len(item[0]))
    return [f'"{term}"' for term, count in longest_first for _ in range(count)][:MAX_PHRASES]


def _facet_conditions(filters: Filters) -> str:
    wanted = (("p", filters.project_ids), ("t", filters.type_ids), ("s", filters.statuses))
    alternatives = (" OR ".join(f'"{_facet_token(kind, value)}"' for value in values) for kind, values in wanted)
    return "".join(f"facet : ({tokens}) AND " for tokens in alternatives if tokens)


def _modified_conditions(filters: Filters) -> tuple[str, list[int]]:
    bounds = ((">=", filters.modified_after), ("<=", filters.modified_before))
    used = [(operator, microseconds(moment)) for operator, moment in bounds if moment is not None]
    return "".join(f" and entry.modified {operator} ?" for operator, _ in used), [moment for _, moment in used]


def _facet_tokens(entry: IndexEntry) -> str:
    facets = entry.facets
    kinds = (("p", facets.project_id), ("t", facets.type_id), ("s", facets.status))
    return " ".join(_facet_token(kind, value) for kind, value in kinds if value is not None)


def _facet_token(kind: str, value: str) -> str:
    """Hash a value to one alphanumeric token; the last letter keeps a stemmer off it."""
    return f"{kind}{blake2b(value.encode('utf-8', 'replace'), digest_size=8).hexdigest()}x"


def _modified(entry: IndexEntry) -> int | None:
    return None if entry.facets.modified is None else microseconds(entry.facets.modified)


def build_sqlite_fts5(options: Fts5Options, services: Services) -> SqliteFts5:
    """Build the recaller. Raises PluginError where FTS5 refuses the tokenizer."""
    database = require_database(services, "sqlite_fts5")
    try:
        apsw.Connection(":memory:").execute(_create_words("words", options.tokenizer))
    except apsw.Error as error:
        raise PluginError(
            f"sqlite_fts5: FTS5 refuses the tokenizer {options.tokenizer!r}: {error}",
            "see https://sqlite.org/fts5.html#tokenizers; the default is 'porter unicode61'",
        ) from error
    return SqliteFts5(options, database, services.prefix)
