"""A recaller over a catalog's file of its own, written to and asked as the host does."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from reqall import (
    Chunk,
    ChunkRanking,
    Embedder,
    Facets,
    Filters,
    IndexBatch,
    IndexEntry,
    Position,
    Recaller,
    Services,
    SqlConnection,
    SupportsDrop,
)
from reqall.core.database import Database
from reqall.testing.contracts.wellformed import require_chunk_ranking
from reqall.testing.fakes import HashingEmbedder

FINGERPRINT = "f"
_ALL = Filters()


class Shelf:
    """Builds a recaller by `make(services)`, and again over the same store by `reopen`."""

    def __init__(self, make: Callable[[Services], Recaller], folder: Path, embedder: Embedder | None = None) -> None:
        """Open a new catalog in `folder`; the recaller's own files go below it."""
        self.embedder = HashingEmbedder() if embedder is None else embedder
        self.folder = folder
        self._make = make
        self._numbers = itertools.count(1)
        self.open()

    def open(self) -> None:
        """Open the catalog and build the recaller."""
        self.database = Database(self.folder / "catalog.db")
        own = self.folder / "index"
        own.mkdir(exist_ok=True)
        self.services = Services("index", own, "ix_test", self.database, lambda _name: self.embedder)
        self.recaller = self._make(self.services)

    def reopen(self) -> None:
        """Close the catalog and build everything anew, as a later process does."""
        self.close()
        self.open()

    def close(self) -> None:
        """Close the catalog."""
        self.database.close()

    def entry(self, document_id: str, body: str, **known: Any) -> IndexEntry:
        """Make one chunk of a document; `known` overrides number, key, name, path, project, type, status, modified."""
        chunk = Chunk("", known.get("name", ""), body, known.get("number") or next(self._numbers), document_id, 0)
        facets = Facets(known.get("project", "p"), known.get("type", "t"), known.get("status"), known.get("modified"))
        return IndexEntry(chunk, known.get("key", ""), known.get("name", ""), facets, tuple(known.get("path", ())))

    def put(self, document_id: str, *bodies: str, **known: Any) -> None:
        """Write one document of as many chunks as bodies."""
        self.write([self.entry(document_id, body, **known) for body in bodies])

    def write(
        self, entries: Iterable[IndexEntry], deletes: Sequence[str] = (), seq: int | None = None
    ) -> tuple[IndexBatch, Any]:
        """Prepare and apply a batch; it is returned with what was prepared, to be applied again."""
        entries, upserts = list(entries), dict[str, list[IndexEntry]]()
        for entry in entries:
            upserts.setdefault(entry.chunk.document_id, []).append(entry)
        batch = IndexBatch(upserts, deletes, None if seq is None else Position(FINGERPRINT, seq))
        prepared = self.recaller.prepare(entries)
        self.apply(batch, prepared)
        return batch, prepared

    def apply(self, batch: IndexBatch, prepared: Any) -> None:
        """Apply a batch in the way of the recaller's storage."""
        self._within(lambda tx: self.recaller.apply(batch, prepared, tx))

    def drop(self) -> None:
        """Remove all that the recaller stored."""
        assert isinstance(self.recaller, SupportsDrop), "the recaller has no method drop(tx)"
        self._within(self.recaller.drop)

    def connection(self) -> SqlConnection | None:
        """Return what an inspection is given: a connection for reading, or None."""
        return self.database.reader() if self.recaller.storage == "catalog" else None

    def rankings(self, texts: Sequence[str], limit: int = 50, filters: Filters = _ALL) -> list[ChunkRanking]:
        """Ask with several texts in one call."""
        rankings = list(self.recaller.recall(texts, limit, filters))
        assert len(rankings) == len(texts), f"{len(texts)} texts gave {len(rankings)} rankings; it is one per text"
        for ranking in rankings:
            found = require_chunk_ranking(ranking)
            assert len(found) <= limit, f"{len(found)} documents were found, and {limit} asked for"
        return rankings

    def ranking(self, text: str, limit: int = 50, **filters: Any) -> ChunkRanking:
        """Ask with one text; `filters` as in `Filters`."""
        return self.rankings([text], limit, Filters(**filters))[0]

    def find(self, text: str, limit: int = 50, **filters: Any) -> list[str]:
        """Ids of the documents found, best first."""
        return [document.document_id for document in self.ranking(text, limit, **filters).collapse()]

    def rows(self, statement: str) -> list[Any]:
        """Read from the catalog's file."""
        return list(self.database.reader().execute(statement))

    def _within(self, call: Callable[[SqlConnection | None], None]) -> None:
        if self.recaller.storage == "catalog":
            with self.database.writing() as tx:
                call(tx)
        else:
            call(None)
