"""Lexical recall by the cosine of TF-IDF vectors, in the catalog's file: how alike two texts are as wholes.

BM25 asks how much a document says of each word of the query; the cosine also asks how much of the document the query
covers. That is what is wanted when the query is itself a requirement, and the classic way of finding trace links
(Antoniol et al. 2002, doi:10.1109/TSE.2002.1041053). The file holds the terms of each chunk; a search reads those of
the projects that it is filtered to, so that words which every item of a project shares weigh little there.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

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
from reqall.plugins.recallers.languages import LanguageOptions
from reqall.plugins.recallers.ordinals import Ordinals
from reqall.plugins.recallers.tables import has_table, read_position, require_database, write_position
from reqall.plugins.recallers.term_vectors import Row, TermVectors, packed
from reqall.plugins.recallers.words import Analysis

KEPT = 4
"""Selections of projects whose vectors a process keeps; of more, those that were searched last."""


class TfidfOptions(LanguageOptions):
    """Options of `sqlite_tfidf`."""


class SqliteTfidf:
    """A TF-IDF index in the catalog's file, searched in memory."""

    storage: Storage = "catalog"

    def __init__(self, analysis: Analysis, database: Database, prefix: str) -> None:
        """Name the tables after `prefix`; they appear with the first `apply`."""
        self._analysis = analysis
        self._database = database
        self._prefix = prefix
        self._entry = f"{prefix}_entry"
        self._ordinals = Ordinals(prefix)
        self._kept: dict[tuple[int, ...] | None, tuple[str, TermVectors]] = {}
        self._lock = threading.Lock()

    def prepare(self, entries: Sequence[IndexEntry]) -> dict[int, bytes]:
        """Count the terms of each chunk."""
        return {entry.chunk.id: self._packed(entry) for entry in entries}

    def apply(self, batch: IndexBatch, prepared: dict[int, bytes], tx: SqlConnection | None) -> None:
        """Replace the entries of the batch's documents within the transaction."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        self._create(tx)
        tx.executemany(f"delete from {self._entry} where document_id = ?", ((key,) for key in batch.documents))
        for entry in batch.entries:
            _, *facets = self._ordinals.columns(tx, entry.facets)
            row = (entry.chunk.id, entry.chunk.document_id, *facets, prepared[entry.chunk.id])
            tx.execute(f"insert into {self._entry} values (?, ?, ?, ?, ?, ?, ?)", row)
        if batch.documents:
            # Never the same one twice, whatever is rolled back or dropped.
            tx.execute(f"insert or replace into {self._prefix}_revision values (1, hex(randomblob(16)))")
        if batch.position is not None:
            write_position(tx, self._prefix, batch.position)

    def position(self) -> Position | None:
        """Return what the last `apply` left."""
        return read_position(self._database.reader(), self._prefix)

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find chunks that share a term with each text; scores are cosines, above 0 and at most 1."""
        reader = self._database.reader()
        wanted = self._ordinals.wanted(reader, filters) if has_table(reader, self._entry) else None
        if wanted is None or limit < 1:
            return [ChunkRanking() for _ in texts]
        vectors = self._vectors(reader, wanted.project)
        mask = vectors.mask(wanted)
        scores = (vectors.cosines(self._terms(text)) for text in texts)
        return [ChunkRanking.of(vectors.best(each, mask, limit)).limit_documents(limit) for each in scores]

    def drop(self, tx: SqlConnection | None) -> None:
        """Remove all tables."""
        assert tx is not None, "storage 'catalog' is written within the catalog's transaction"
        for table in ("entry", "facet", "revision", "position"):
            tx.execute(f"drop table if exists {self._prefix}_{table}")

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield chunk id and document id of every entry."""
        connection = tx or self._database.reader()
        if has_table(connection, self._entry):
            yield from connection.execute(f"select id, document_id from {self._entry} order by id")

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield the entries whose terms or facets are stored otherwise."""
        connection = tx or self._database.reader()
        statement = f"select terms, type, status, modified, project from {self._entry} where id = ?"
        for entry in entries:
            ((terms, *facets),) = connection.execute(statement, (entry.chunk.id,))
            if terms != self._packed(entry):
                yield entry.chunk.id, "its terms differ"
            elif (wanted := self._ordinals.stored(connection, entry.facets)) is None or [
                *wanted[2:],
                wanted[1],
            ] != facets:
                yield entry.chunk.id, "its facets differ"

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:  # noqa: ARG002 - the catalog's check reads plain tables
        """Return nothing: there is no structure beside the entries."""
        return ()

    def _packed(self, entry: IndexEntry) -> bytes:
        return packed(self._terms(f"{entry.name}\n{entry.chunk.body}"))

    def _terms(self, text: str) -> Counter[str]:
        """Count the terms of a text; documents are read as queries are, so that a text is nearest to itself."""
        return Counter(self._analysis.asked(text))

    def _create(self, tx: SqlConnection) -> None:
        self._ordinals.create(tx)
        tx.execute(
            f"create table if not exists {self._entry}(id integer primary key, document_id text not null, "
            "project integer not null, type integer not null, status integer not null, modified integer not null, "
            "terms blob not null)"
        )
        for column in ("document_id", "project"):
            tx.execute(f"create index if not exists {self._entry}_{column} on {self._entry}({column})")
        revision = f"{self._prefix}_revision"
        tx.execute(f"create table if not exists {revision}(id integer primary key check (id = 1), name text not null)")

    def _vectors(self, reader: SqlConnection, projects: tuple[int, ...] | None) -> TermVectors:
        """Return the vectors of these projects as they are now; one thread reads them, the others wait."""
        with self._lock:
            ((revision,),) = reader.execute(f"select name from {self._prefix}_revision")
            known, vectors = self._kept.pop(projects, (None, None))
            if vectors is None or known != revision:
                vectors = TermVectors.of(self._rows(reader, projects))
            self._kept[projects] = revision, vectors
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
            return vectors

    def _rows(self, reader: SqlConnection, projects: tuple[int, ...] | None) -> Iterable[Row]:
        columns = f"select id, document_id, type, status, modified, terms from {self._entry}"
        if projects is None:
            return reader.execute(f"{columns} order by id")  # type: ignore[no-any-return]
        chosen = ", ".join(map(str, projects))
        return reader.execute(f"{columns} where project in ({chosen}) order by id")  # type: ignore[no-any-return]


def build_sqlite_tfidf(options: TfidfOptions, services: Services) -> SqliteTfidf:
    """Build the recaller."""
    return SqliteTfidf(Analysis(options.languages), require_database(services, "sqlite_tfidf"), services.prefix)
