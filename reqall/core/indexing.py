"""Keeps every index level with the catalog's change log.

`commit` writes one batch: the slow part (chunking, embedding) first and without a lock, then one
transaction for documents, chunks, change log and every index that was level. `level` brings an
index that is behind up to the newest change, from the catalog alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reqall.core.catalog import Catalog, Hashes
from reqall.core.changes import Change, ChangeLog
from reqall.core.errors import ConfigError
from reqall.core.protocols import Budget, Chunker, Embedder, Recaller, SqlConnection, SupportsDrop
from reqall.core.types import Chunk, ChunkDraft, Document, Facets, IndexBatch, IndexEntry, Position

LEVEL_BATCH = 64
"""Documents per step when an index catches up: some seconds of embedding."""


@dataclass(frozen=True, slots=True)
class Index:
    """A named index of the configuration: how documents are cut, and where they are kept.

    `chunking` identifies the cutting; indexes with the same one share chunks. `fingerprint`
    identifies all that decides what is stored.
    """

    name: str
    recaller: Recaller
    chunker: Chunker
    chunking: str
    fingerprint: str
    embedder: Embedder | None = None

    def cut(self, document: Document) -> Sequence[ChunkDraft]:
        """Cut a document; a piece longer than the embedder reads is refused, not hidden."""
        if self.embedder is None:
            return self.chunker.chunk(document, Budget(None, _words))
        budget = Budget(self.embedder.max_tokens, self.embedder.count_tokens)
        drafts = self.chunker.chunk(document, budget)
        if any(self.embedder.count_tokens(draft.text) > self.embedder.max_tokens for draft in drafts):
            raise ConfigError(
                f"the chunker of index {self.name!r} made a piece longer than its embedder reads"
                f" ({self.embedder.max_tokens} tokens); the rest would be invisible",
                "choose a chunker that keeps to a budget, such as 'sentences'",
            )
        return drafts


@dataclass(frozen=True, slots=True)
class Committed:
    """What a batch did, in documents; `embedded` counts texts."""

    written: int = 0
    unchanged: int = 0
    deleted: int = 0
    embedded: int = 0


Within: TypeAlias = Callable[[SqlConnection, Committed], None]
"""Runs inside a batch's transaction: checks the lease, and writes what the batch did as progress."""


@dataclass
class _Plan:
    """A batch before its transaction: what changed, cut and prepared for the indexes that take part."""

    changed: list[Document]
    deleted: list[str]
    retexted: list[str]
    chunks: dict[str, dict[str, list[Chunk]]] = field(default_factory=dict)
    prepared: list[tuple[Index, dict[str, list[IndexEntry]], Any]] = field(default_factory=list)


class Indexer:
    """Writes batches to the catalog and to the indexes of this process's configuration."""

    def __init__(self, catalog: Catalog, log: ChangeLog, indexes: Iterable[Index]) -> None:
        """Maintain `indexes`; others that live in the same file stay behind."""
        self.catalog = catalog
        self.log = log
        self.indexes = list(indexes)

    def expected(self, index: Index) -> str:
        """Return the fingerprint that the engine must report: a copy of another catalog's index is none of ours."""
        return f"{index.fingerprint}:{self.log.catalog_id()[:12]}"

    def applied(self, index: Index) -> int | None:
        """Return the last change that an index holds; None when it is absent, lost or another's."""
        position = index.recaller.position()
        return position.seq if position is not None and position.fingerprint == self.expected(index) else None

    def is_level(self, index: Index) -> bool:
        """Tell whether an index holds every change."""
        return (self.applied(index) or 0) == self.log.seq()

    def lag(self, index: Index, project_ids: Sequence[str] = ()) -> int:
        """Count the documents that an index does not hold as they are now."""
        return self.log.pending(self.applied(index) or 0, project_ids)

    def commit(
        self, documents: Sequence[Document], deleted: Sequence[str], *, eager: bool, within: Within
    ) -> Committed:
        """Write one batch whole. `eager` also embeds for vector indexes that are level.

        Documents whose text and facets are as stored cost nothing.
        """
        plan = self._plan(documents, deleted)
        self._prepare(plan, eager=eager)
        embedded = sum(getattr(prepared, "embedded", 0) for _, _, prepared in plan.prepared)
        done = Committed(len(plan.changed), len(documents) - len(plan.changed), len(plan.deleted), embedded)
        with self.catalog.database.writing() as tx:
            within(tx, done)
            if plan.changed or plan.deleted:
                self._write(tx, plan)
        return done

    def _plan(self, documents: Sequence[Document], deleted: Sequence[str]) -> _Plan:
        stored = self.catalog.hashes([*(document.id for document in documents), *deleted])
        hashes = {document.id: Hashes.of(document) for document in documents}
        changed = [document for document in documents if stored.get(document.id) != hashes[document.id]]
        retexted = [d.id for d in changed if d.id not in stored or stored[d.id].text != hashes[d.id].text]
        return _Plan(changed, [key for key in deleted if key in stored], retexted)

    def _prepare(self, plan: _Plan, *, eager: bool) -> None:
        fresh = set(plan.retexted)
        for index in self._stored_in("catalog"):
            if not plan.changed or (index.embedder is not None and not eager) or not self.is_level(index):
                continue
            if index.chunking not in plan.chunks:
                plan.chunks[index.chunking] = self._chunks(index, plan.changed, fresh)
            entries = _entries(plan.changed, plan.chunks[index.chunking])
            plan.prepared.append((index, entries, index.recaller.prepare(_flat(entries))))

    def _write(self, tx: SqlConnection, plan: _Plan) -> None:
        before = self.log.seq()
        was_level = {id(index) for index in self._stored_in("catalog") if (self.applied(index) or 0) == before}
        self.catalog.write_documents(tx, plan.changed)
        self.catalog.delete_documents(tx, plan.deleted)
        self.log.drop_chunks(tx, plan.retexted)
        for chunking, chunks in plan.chunks.items():
            self.log.write_chunks(tx, chunking, _flat(chunks))
        self.log.record(tx, [document.id for document in plan.changed], deleted=False)
        seq = self.log.record(tx, plan.deleted, deleted=True)
        done = set()
        for index, entries, prepared in plan.prepared:
            if id(index) in was_level:
                position = Position(self.expected(index), seq)
                index.recaller.apply(IndexBatch(entries, plan.deleted, position), prepared, tx)
                done.add(id(index))
        for index in self._stored_in("catalog"):
            if id(index) not in done and index.recaller.position() is not None:
                # It comes level later; until then nothing that has changed may be found in it.
                stale = IndexBatch({}, [*plan.retexted, *plan.deleted])
                index.recaller.apply(stale, index.recaller.prepare(()), tx)

    def level(self, index: Index, within: Within) -> int:
        """Bring an index up to the newest change, step by step; the number of texts embedded is returned."""
        seq = self.applied(index)
        if seq is None:
            seq = 0
            self._drop(index)
        embedded = 0
        while changes := self.log.after(seq, LEVEL_BATCH):
            embedded += self._step(index, changes, within)
            seq = changes[-1].seq
        return embedded

    def _step(self, index: Index, changes: list[Change], within: Within) -> int:
        found = self.catalog.documents([change.document_id for change in changes if not change.deleted])
        chunks = self._chunks(index, list(found.values()), set())
        entries = _entries(list(found.values()), chunks)
        prepared = index.recaller.prepare(_flat(entries))
        position = Position(self.expected(index), changes[-1].seq)
        done = Committed(len(changes), embedded=getattr(prepared, "embedded", 0))
        in_catalog = index.recaller.storage == "catalog"
        with self.catalog.database.writing() as tx:
            within(tx, done)
            # What was overtaken while we embedded comes again, under its newer number.
            current = {change.document_id for change in self.log.current(tx, changes)}
            upserts = {key: value for key, value in entries.items() if key in current}
            gone = [change.document_id for change in changes if change.document_id not in upserts]
            self.log.write_chunks(tx, index.chunking, _flat({key: chunks[key] for key in upserts}))
            if in_catalog:
                index.recaller.apply(IndexBatch(upserts, gone, position), prepared, tx)
        if not in_catalog:
            index.recaller.apply(IndexBatch(upserts, gone, position), prepared, None)
        return done.embedded

    def _drop(self, index: Index) -> None:
        if not isinstance(index.recaller, SupportsDrop):
            return
        if index.recaller.storage == "catalog":
            with self.catalog.database.writing() as tx:
                index.recaller.drop(tx)
        else:
            index.recaller.drop(None)

    def _chunks(self, index: Index, documents: Sequence[Document], fresh: set[str]) -> dict[str, list[Chunk]]:
        """Find the chunks of unchanged texts, cut the others."""
        kept = self.log.chunks_of([d.id for d in documents if d.id not in fresh], index.chunking)
        return kept | self.log.number({d.id: index.cut(d) for d in documents if d.id not in kept})

    def _stored_in(self, storage: str) -> list[Index]:
        return [index for index in self.indexes if index.recaller.storage == storage]


def _entries(documents: Iterable[Document], chunks: dict[str, list[Chunk]]) -> dict[str, list[IndexEntry]]:
    return {
        d.id: [
            IndexEntry(chunk, d.key, d.name, Facets(d.project_id, d.type_id, d.status, d.modified))
            for chunk in chunks[d.id]
        ]
        for d in documents
    }


def _flat(groups: dict[str, list[Any]]) -> list[Any]:
    return [item for group in groups.values() for item in group]


def _words(text: str) -> int:
    return len(text.split())
