"""Lexical recall: BM25 over SQLite's FTS5 (https://sqlite.org/fts5.html), in the catalog's file.

In two steps: FTS5 finds the chunks that hold any of a query's terms and orders them roughly, by its own BM25
(k1 = 1.2, b = 0.75, no idf for a term of more than half of the chunks); the best of them are then scored by `bm25`,
which has no such limits. Facets are tokens in a column of their own, never searched for words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice
from math import inf
from typing import Any

from pydantic import Field

from reqall import (
    ChunkRanking,
    Database,
    Filters,
    IndexBatch,
    IndexEntry,
    Position,
    Services,
    SqlConnection,
    Storage,
)
from reqall.plugins.recallers import fts5_inspection
from reqall.plugins.recallers.bm25 import Bm25, Weighting
from reqall.plugins.recallers.fts5_match import expression, most_telling, time_conditions
from reqall.plugins.recallers.fts5_tables import FIELDS, Row, Tables, Vocabulary, facet_tokens, modified
from reqall.plugins.recallers.languages import LanguageOptions
from reqall.plugins.recallers.tables import has_table, read_position, require_database, write_position
from reqall.plugins.recallers.words import Analysis

MAX_TERMS = 256
"""Most different terms of one query."""


class Fts5Options(LanguageOptions):
    """Options of `sqlite_fts5`."""

    k1: float = Field(default=2.5, gt=0, description="How slowly the weight of a repeated word saturates.")
    b: float = Field(default=0.85, ge=0, le=1, description="How much a long text is held against it; 0 = not at all.")
    key_weight: float = Field(
        default=0.5, ge=0, description="BM25 weight of words in a document's key; 0 = not searched."
    )
    name_weight: float = Field(
        default=1.5, ge=0, description="BM25 weight of words in a document's name; 0 = not searched."
    )
    path_weight: float = Field(
        default=0.3, ge=0, description="BM25 weight of words in the names of a document's ancestors; 0 = not searched."
    )
    body_weight: float = Field(default=1.0, gt=0, description="BM25 weight of words in a chunk's body.")
    stub_weight: float = Field(
        default=0.3, ge=0, description="Share of a word's first five letters beside the word; 0 = not searched."
    )
    pair_weight: float = Field(
        default=0.3, ge=0, description="Share of two neighbouring words of the query beside the words; 0 = not counted."
    )

    pool: int = Field(
        default=500, ge=1, description="Chunks that are scored in full, whatever the limit; others come below them."
    )


class SqliteFts5:
    """A BM25 index in the catalog's file."""

    storage: Storage = "catalog"

    def __init__(self, options: Fts5Options, database: Database, prefix: str) -> None:
        """Name the tables after `prefix`; they appear with the first `apply`."""
        self._database = database
        self._prefix = prefix
        self._tables = Tables(prefix)
        self._analysis = Analysis(options.languages)
        weights = (options.key_weight, options.name_weight, options.path_weight, options.body_weight)
        self._weighting = Weighting(options.k1, options.b, weights, options.stub_weight, options.pair_weight)
        self._columns = " ".join(field for field, weight in zip(FIELDS, weights, strict=True) if weight)
        # FTS5 has k1 = 1.2; weights that are smaller by a factor act as a k1 that is larger by it.
        rough = [weight * 1.2 / options.k1 for weight in weights]
        self._rank = f"bm25({', '.join(map(str, rough))}, 0.0)"
        self._pool = options.pool
        self._vocabulary: Vocabulary | None = None

    def prepare(self, entries: Sequence[IndexEntry]) -> dict[int, Row]:
        """Cut the entries into terms, by chunk id."""
        return {entry.chunk.id: Row.of(entry, self._analysis) for entry in entries}

    def apply(self, batch: IndexBatch, prepared: Mapping[int, Row], tx: SqlConnection | None) -> None:
        """Replace the entries of the batch's documents within the transaction."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        self._tables.create(tx)
        self._tables.replace(tx, batch.documents, batch.entries, prepared)
        if batch.position is not None:
            write_position(tx, self._prefix, batch.position)

    def position(self) -> Position | None:
        """Return what the last `apply` left."""
        return read_position(self._database.reader(), self._prefix)

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find chunks that hold any of a text's terms; scores are BM25, positive."""
        reader = self._database.reader()
        if limit < 1 or not has_table(reader, self._tables.words):
            return [ChunkRanking() for _ in texts]
        self._vocabulary = vocabulary = Vocabulary.of(reader, self._tables, self._vocabulary)
        return [self._rank_chunks(reader, vocabulary, text, limit, filters) for text in texts]

    def drop(self, tx: SqlConnection | None) -> None:
        """Remove all tables."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        self._tables.drop(tx)
        tx.execute(f"drop table if exists {self._prefix}_position")

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield chunk id and document id of every entry."""
        return fts5_inspection.inventory(tx or self._database.reader(), self._prefix)

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield the entries whose facets or terms are stored otherwise."""
        rows = self.prepare(entries)
        expected = {
            e.chunk.id: fts5_inspection.Expected(
                facet_tokens(e.facets), modified(e.facets.modified), rows[e.chunk.id].stored
            )
            for e in entries
        }
        return fts5_inspection.faults(tx or self._database.reader(), self._prefix, expected)

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:
        """Check the inverted index."""
        return fts5_inspection.damage(tx or self._database.reader(), self._prefix)

    def _rank_chunks(
        self, reader: SqlConnection, vocabulary: Vocabulary, text: str, limit: int, filters: Filters
    ) -> ChunkRanking:
        terms = most_telling(self._analysis.asked(text), MAX_TERMS)
        if not terms:
            return ChunkRanking()
        query = Bm25(
            terms,
            self._weighting,
            vocabulary.statistics,
            lambda term: vocabulary.word(reader, term),
            lambda stub: vocabulary.stub(reader, stub),
        )
        if rare := vocabulary.rare(reader, terms, self._pool):
            with closing(self._candidates(reader, rare, filters)) as rows:
                pool = list(islice(rows, self._pool))
                if len(pool) == self._pool:
                    return _ranking(query, pool, rows, limit)
        with closing(self._candidates(reader, terms, filters)) as rows:
            return _ranking(query, list(islice(rows, self._pool)), rows, limit)

    def _candidates(self, reader: SqlConnection, terms: Sequence[str], filters: Filters) -> Any:
        """Read rows of chunk, document, FTS5's rank (the best is the lowest), length and terms; best first."""
        match = expression(terms, self._columns, filters, stubs=self._weighting.stub > 0)
        conditions, bounds = time_conditions(filters)
        words, entry = self._tables.words, self._tables.entry
        # FTS5 yields the best first; the join reads one entry per row, so the scan ends where reading does.
        return reader.execute(
            f"select words.rowid, entry.document_id, words.rank, entry.length, entry.terms "
            f"from {words} as words cross join {entry} as entry on entry.id = words.rowid "
            f"where words.{words} match ? and words.rank match ?{conditions} order by words.rank",
            (match, self._rank, *bounds),
        )


def _ranking(query: Bm25, pool: list[Any], rest: Iterator[Any], limit: int) -> ChunkRanking:
    """Score the pool, and what FTS5 ranks like its last; put as many of the rest below as the limit needs."""
    last = pool[-1][2] if pool else 0.0
    behind: list[Any] = []
    for row in rest:
        if row[2] > last:
            behind.append(row)
            break
        pool.append(row)
    scored = [
        (chunk, document, query.score([line.split() for line in terms.split("\n")], length))
        for chunk, document, _, length, terms in pool
    ]
    found = [each for each in scored if each[2] > 0]
    if behind and found:
        lowest = min(score for _, _, score in found)
        found += _tail(chain(behind, rest), {document for _, document, _ in found}, limit, lowest / last)
    return ChunkRanking.of(found).limit_documents(limit)


def _tail(rows: Iterable[Any], documents: set[str], limit: int, scale: float) -> Iterator[tuple[int, str, float]]:
    """Read on until the limit is met, and past the last document's rank: its ties are for the ranking to order."""
    end = inf if len(documents) < limit else -inf
    for chunk, document, rank, _, _ in rows:
        if rank > end:
            return
        yield chunk, document, rank * scale
        documents.add(document)
        if end == inf and len(documents) >= limit:
            end = rank


def build_sqlite_fts5(options: Fts5Options, services: Services) -> SqliteFts5:
    """Build the recaller. Raises PluginError where there is no database."""
    return SqliteFts5(options, require_database(services, "sqlite_fts5"), services.prefix)
