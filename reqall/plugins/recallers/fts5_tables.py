"""The tables of an FTS5 index: the inverted index, the terms of each chunk, and what BM25 counts over all of them.

The FTS5 table is contentless and finds candidates; it also tells how many chunks hold a term
(https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module). A chunk's own terms stand beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from reqall import Facets, IndexEntry, SqlConnection
from reqall.plugins.recallers.bm25 import STUB, Statistics
from reqall.plugins.recallers.facets import microseconds
from reqall.plugins.recallers.words import Analysis

FIELDS = ("key", "name", "path", "body")

COMMON = 4
"""A term is common that more than one of so many chunks holds."""

_TOKENIZER = "unicode61 remove_diacritics 0 categories ''L* M* N* P* S* Co''"
"""Cuts at white space only: the terms are made before."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is stored of an entry: a text of terms per field, and how many are in name and body."""

    fields: tuple[str, ...]
    length: int

    @classmethod
    def of(cls, entry: IndexEntry, analysis: Analysis) -> "Row":
        """Cut an entry's fields into terms."""
        texts = (entry.key, entry.name, "\n".join(entry.path), entry.chunk.body)
        terms = [analysis.indexed(text) for text in texts]
        return cls(tuple(map(" ".join, terms)), len(terms[1]) + len(terms[3]))

    @property
    def stored(self) -> str:
        """All fields in one text, a line each."""
        return "\n".join(self.fields)


class Tables:
    """The tables after one prefix."""

    def __init__(self, prefix: str) -> None:
        """They appear with `create`."""
        self.entry = f"{prefix}_entry"
        self.words = f"{prefix}_words"
        self.vocabulary = f"{prefix}_vocabulary"
        self.statistics = f"{prefix}_statistics"

    def create(self, tx: SqlConnection) -> None:
        """Create what is absent."""
        # The terms stand last: what reads the other columns does not read them.
        tx.execute(
            f"create table if not exists {self.entry}(id integer primary key, document_id text not null,"
            " modified integer, length integer not null, terms text not null)"
        )
        tx.execute(f"create index if not exists {self.entry}_document on {self.entry}(document_id)")
        tx.execute(
            f"create virtual table if not exists {self.words} using fts5({', '.join(FIELDS)}, facet,"
            f" content='', contentless_delete=1, prefix={STUB}, tokenize='{_TOKENIZER}')"
        )
        tx.execute(f"create virtual table if not exists {self.vocabulary} using fts5vocab({self.words}, row)")
        tx.execute(
            f"create table if not exists {self.statistics}(id integer primary key check (id = 1),"
            " version integer not null, chunks integer not null, terms integer not null)"
        )
        tx.execute(f"insert or ignore into {self.statistics} values (1, 0, 0, 0)")

    def drop(self, tx: SqlConnection) -> None:
        """Remove all."""
        for table in (self.vocabulary, self.words, self.entry, self.statistics):
            tx.execute(f"drop table if exists {table}")

    def replace(
        self, tx: SqlConnection, document_ids: Iterable[str], entries: Sequence[IndexEntry], rows: Mapping[int, Row]
    ) -> None:
        """Put these entries in the place of all that the documents had."""
        chunks = terms = 0
        for document_id in document_ids:
            stored = list(tx.execute(f"select id, length from {self.entry} where document_id = ?", (document_id,)))
            tx.executemany(f"delete from {self.words} where rowid = ?", [(chunk_id,) for chunk_id, _ in stored])
            tx.execute(f"delete from {self.entry} where document_id = ?", (document_id,))
            chunks -= len(stored)
            terms -= sum(length for _, length in stored)
        tx.executemany(
            f"insert into {self.entry} values (?, ?, ?, ?, ?)",
            (
                (e.chunk.id, e.chunk.document_id, modified(e.facets.modified), row.length, row.stored)
                for e in entries
                for row in (rows[e.chunk.id],)
            ),
        )
        tx.executemany(
            f"insert into {self.words}(rowid, {', '.join(FIELDS)}, facet) values (?, ?, ?, ?, ?, ?)",
            ((e.chunk.id, *rows[e.chunk.id].fields, facet_tokens(e.facets)) for e in entries),
        )
        chunks += len(entries)
        terms += sum(rows[e.chunk.id].length for e in entries)
        # At random, so that no index of these tables ever has the version of another one, that of a later one either.
        tx.execute(
            f"update {self.statistics} set version = random(), chunks = chunks + ?, terms = terms + ?",
            (chunks, terms),
        )


class Vocabulary:
    """How many chunks hold a term, each looked up once in a version of the index; thread-safe."""

    def __init__(self, tables: Tables, version: int, statistics: Statistics) -> None:
        """Begin with nothing looked up."""
        self.version = version
        self.statistics = statistics
        self._tables = tables
        self._words: dict[str, int] = {}
        self._stubs: dict[str, int] = {}

    @classmethod
    def of(cls, reader: SqlConnection, tables: Tables, known: "Vocabulary | None") -> "Vocabulary":
        """Return what is known, if the index is still of that version."""
        ((version, chunks, terms),) = reader.execute(f"select version, chunks, terms from {tables.statistics}")
        if known is not None and known.version == version:
            return known
        return cls(tables, version, Statistics(chunks, terms / chunks if chunks else 0.0))

    def rare(self, reader: SqlConnection, terms: Sequence[str], enough: int) -> list[str]:
        """Return the terms that at most a quarter of the chunks hold, if that many are enough; else none.

        The others are in most chunks: to find these takes most of the time, and tells least.
        """
        most = self.statistics.chunks // COMMON
        return [term for term in terms if self.word(reader, term) <= most] if most > enough else []

    def word(self, reader: SqlConnection, term: str) -> int:
        """Count the chunks that hold a term."""
        if term not in self._words:
            rows = reader.execute(f"select doc from {self._tables.vocabulary} where term = ?", (term,))
            self._words[term] = next((count for (count,) in rows), 0)
        return self._words[term]

    def stub(self, reader: SqlConnection, stub: str) -> int:
        """Count the chunks that hold a word of this beginning; one that holds two such words counts twice."""
        if stub not in self._stubs:
            ((count,),) = reader.execute(
                f"select coalesce(sum(doc), 0) from {self._tables.vocabulary} where term >= ? and term < ?",
                (stub, f"{stub}\U0010ffff"),
            )
            self._stubs[stub] = count
        return self._stubs[stub]


def facet_tokens(facets: Facets) -> str:
    """Write facets as tokens."""
    kinds = (("p", facets.project_id), ("t", facets.type_id), ("s", facets.status))
    return " ".join(facet_token(kind, value) for kind, value in kinds if value is not None)


def facet_token(kind: str, value: str) -> str:
    """Hash a value to one alphanumeric token."""
    return f"{kind}{blake2b(value.encode('utf-8', 'replace'), digest_size=8).hexdigest()}x"


def modified(moment: datetime | None) -> int | None:
    """Write a time as it is stored."""
    return None if moment is None else microseconds(moment)
