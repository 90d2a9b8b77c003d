"""Keeps every index level with the catalog's change log.

`commit` writes one batch: the slow part (chunking, embedding) first and without a lock, then one
transaction for documents, chunks, change log and every index that was level. `level` brings an
index that is behind up to the newest change, from the catalog alone.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reqall.core.ancestry import displaced, placed, standing
from reqall.core.batch import Committed, Plan, Within
from reqall.core.catalog import Catalog
from reqall.core.changes import Change, ChangeLog
from reqall.core.errors import EmbedderError, PluginError
from reqall.core.index import Index
from reqall.core.protocols import SqlConnection, SupportsDrop
from reqall.core.rows import Hashes, storable
from reqall.core.turn import Turn
from reqall.core.types import Chunk, Document, Facets, IndexBatch, IndexEntry, Position

LEVEL_BATCH = 64
"""Documents per step when an index catches up: some seconds of embedding."""

WAIT_SECONDS = 0.5
"""Between two looks whether another process that levels the same index is through."""


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
        """Return the last change that an index holds; None when it is absent, lost, another's or of a lost future."""
        position = index.recaller.position()
        is_ours = position is not None and position.fingerprint == self.expected(index)
        return position.seq if position is not None and is_ours and position.seq <= self.log.seq() else None

    def is_level(self, index: Index) -> bool:
        """Tell whether an index holds every change; one that holds nothing is level with an empty catalog."""
        applied = self.applied(index)
        if applied is None:
            return self.log.seq() == 0 and index.recaller.position() is None
        return applied == self.log.seq()

    def lag(self, index: Index, project_ids: Sequence[str] = ()) -> int:
        """Count the documents that an index does not hold as they are now."""
        return self.log.pending(self.applied(index) or 0, project_ids)

    def commit(
        self, documents: Iterable[Document], deleted: Iterable[str], *, eager: bool, within: Within
    ) -> Committed:
        """Write one batch whole. `eager` also embeds for vector indexes that are level.

        Documents whose text and facets are as stored cost nothing; of one that comes twice the last counts.
        """
        gone = list(dict.fromkeys(deleted))
        unique = {d.id: d for d in map(storable, documents) if d.id not in gone}
        while True:
            plan = self._plan(list(unique.values()), gone)
            self._prepare(plan, eager=eager)
            embedded = sum(getattr(prepared, "embedded", 0) for _, prepared in plan.prepared.values())
            done = Committed(len(plan.changed), len(unique) - len(plan.changed), len(plan.deleted), embedded)
            with self.catalog.database.writing() as tx:
                if self.log.places([*unique, *gone]) == plan.places:
                    within(tx, done)
                    if plan.changed or plan.deleted:
                        self._write(tx, plan)
                    return done

    def _plan(self, documents: list[Document], deleted: list[str]) -> Plan:
        ids = [*(document.id for document in documents), *deleted]
        places = self.log.places(ids)
        stored = self.catalog.hashes(ids)
        hashes = {document.id: Hashes.of(document) for document in documents}
        changed = [document for document in documents if stored.get(document.id) != hashes[document.id]]
        retexted = [d.id for d in changed if d.id not in stored or stored[d.id].text != hashes[d.id].text]
        return Plan(places, placed(self.catalog, changed), retexted, [key for key in deleted if key in stored])

    def _prepare(self, plan: Plan, *, eager: bool) -> None:
        fresh = set(plan.retexted)
        for index in self._in_catalog():
            if not plan.changed or (index.embedder is not None and not eager) or not self.is_level(index):
                continue
            if index.chunking not in plan.chunks:
                plan.chunks[index.chunking] = self._chunks(index, plan.changed, fresh)
            entries = _entries(plan.changed, plan.chunks[index.chunking])
            try:
                plan.prepared[index.name] = entries, index.recaller.prepare(_flat(entries))
            except EmbedderError:
                # The index stays behind; `level` tries again, and tells what is wrong.
                continue

    def _write(self, tx: SqlConnection, plan: Plan) -> None:
        was_level = {index.name for index in self._in_catalog() if self.is_level(index)}
        before = standing(self.catalog, (document.id for document in plan.changed))
        self.catalog.write_documents(tx, plan.changed)
        self.catalog.delete_documents(tx, plan.deleted)
        self.log.drop_chunks(tx, plan.retexted)
        for chunking, chunks in plan.chunks.items():
            self.log.write_chunks(tx, chunking, _flat(chunks))
        self.log.record(tx, [document.id for document in plan.changed], deleted=False)
        seq = self.log.record(tx, plan.deleted, deleted=True)
        for index in self._in_catalog():
            if index.name not in was_level or (plan.changed and index.name not in plan.prepared):
                # It comes level later; until then nothing that has changed may be found in it.
                if index.recaller.position() is not None:
                    stale = IndexBatch({}, [*plan.retexted, *plan.deleted])
                    index.recaller.apply(stale, index.recaller.prepare(()), tx)
                continue
            entries, prepared = plan.prepared.get(index.name) or ({}, index.recaller.prepare(()))
            position = Position(self.expected(index), seq)
            index.recaller.apply(IndexBatch(entries, plan.deleted, position), prepared, tx)
        # What stands below has another path now: the indexes are behind by that, and take it in next.
        self.log.record(tx, displaced(self.catalog, before, plan.changed, plan.deleted), deleted=False)

    def level(self, index: Index, within: Within) -> int:
        """Bring an index up to the newest change, step by step; the number of texts embedded is returned.

        When another process is at it, wait for that one; `within` is called meanwhile too.
        """
        if index.recaller.storage == "memory":
            with index.levelling:
                return self._level(index, within, lambda: None)
        turn = Turn(self.catalog.database, self.expected(index))

        def wait() -> None:
            while not turn.take():
                with self.catalog.database.writing() as tx:
                    within(tx, Committed())
                time.sleep(WAIT_SECONDS)

        with index.levelling:
            try:
                return self._level(index, within, wait)
            finally:
                turn.end()

    def _level(self, index: Index, within: Within, wait: Callable[[], None]) -> int:
        wait()
        if self.applied(index) is None:
            self._drop(index)
        seq = self.applied(index) or 0
        embedded = 0
        while changes := self.log.after(seq, LEVEL_BATCH):
            seq, count = self._step(index, seq, changes, within)
            embedded += count
            wait()
        return embedded

    def _step(self, index: Index, seq: int, changes: list[Change], within: Within) -> tuple[int, int]:
        """Take one step; where the index now is, and the number of texts embedded."""
        found = self.catalog.documents([change.document_id for change in changes if not change.deleted])
        chunks = self._shared_chunks(index, changes, list(found.values()))
        entries = _entries(found.values(), chunks)
        prepared = index.recaller.prepare(_flat(entries))
        position = Position(self.expected(index), changes[-1].seq)
        done = Committed(len(changes), embedded=getattr(prepared, "embedded", 0))
        database, storage = self.catalog.database, index.recaller.storage
        # An index in memory changes nothing in the file: it never waits for a writer. One elsewhere is written
        # while the file is held too: so nobody overtakes it between the look at its position and the step.
        with database.reading() if storage == "memory" else database.writing() as tx:
            if storage != "memory" and (now := self.applied(index) or 0) != seq:
                return now, 0  # another process levels it too: go on from where it is
            within(tx, done)
            # What was overtaken while we embedded comes again, under its newer number.
            current = {change.document_id for change in self.log.current(tx, changes)}
            upserts = {key: value for key, value in entries.items() if key in current}
            batch = IndexBatch(upserts, [c.document_id for c in changes if c.document_id not in upserts], position)
            index.recaller.apply(batch, prepared, tx if storage == "catalog" else None)
            if index.recaller.position() != position:
                raise PluginError(
                    f"the recaller of index {index.name!r} does not say how far it is",
                    "its position() must return what apply() was last given; tell its author",
                )
        return position.seq, done.embedded

    def _drop(self, index: Index) -> None:
        if not isinstance(index.recaller, SupportsDrop):
            return
        if index.recaller.storage == "memory":
            index.recaller.drop(None)
            return
        with self.catalog.database.writing() as tx:
            if self.applied(index) is None:  # no other process has begun it meanwhile
                index.recaller.drop(tx if index.recaller.storage == "catalog" else None)

    def _chunks(self, index: Index, documents: Sequence[Document], fresh: set[str]) -> dict[str, list[Chunk]]:
        """Find the chunks of unchanged texts, cut the others."""
        kept = self.log.chunks_of([d.id for d in documents if d.id not in fresh], index.chunking)
        return kept | self.log.number({d.id: index.cut(d) for d in documents if d.id not in kept})

    def _shared_chunks(
        self, index: Index, changes: list[Change], documents: Sequence[Document]
    ) -> dict[str, list[Chunk]]:
        """Store what had to be cut before it is embedded: indexes that share chunks may catch up at once."""
        chunks = self._chunks(index, documents, set())
        stored = self.log.chunks_of(chunks, index.chunking)
        if fresh := [key for key in chunks if key not in stored]:
            with self.catalog.database.writing() as tx:
                current = {change.document_id for change in self.log.current(tx, changes)}
                self.log.write_chunks(tx, index.chunking, _flat({k: chunks[k] for k in fresh if k in current}))
            stored = self.log.chunks_of(chunks, index.chunking)
        return chunks | stored

    def _in_catalog(self) -> list[Index]:
        return [index for index in self.indexes if index.recaller.storage == "catalog"]


def _entries(documents: Iterable[Document], chunks: dict[str, list[Chunk]]) -> dict[str, list[IndexEntry]]:
    return {
        d.id: [
            IndexEntry(chunk, d.key, d.name, Facets(d.project_id, d.type_id, d.status, d.modified), d.path)
            for chunk in chunks[d.id]
        ]
        for d in documents
    }


def _flat(groups: dict[str, list[Any]]) -> list[Any]:
    return [item for group in groups.values() for item in group]
