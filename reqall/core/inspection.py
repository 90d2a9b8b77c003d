"""Compares one index with the catalog's chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from reqall.core.errors import ReqallError
from reqall.core.findings import Findings
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.protocols import SupportsInspection
from reqall.core.types import Chunk, Document, Facets, IndexEntry

PAGE = 500

_MISSING = """
SELECT document.id FROM document JOIN change ON change.document_id = document.id AND change.seq <= ?1
LEFT JOIN chunk ON chunk.document_id = document.id AND chunk.chunking = ?2
LEFT JOIN temp.inventory AS held ON held.chunk_id = chunk.id AND held.document_id = document.id
WHERE project_id = ?3 AND held.chunk_id IS NULL GROUP BY document.id"""
_ORPHANS = """
SELECT held.document_id FROM temp.inventory AS held
LEFT JOIN chunk ON chunk.id = held.chunk_id AND chunk.document_id = held.document_id AND chunk.chunking = ?2
LEFT JOIN change ON change.document_id = held.document_id
WHERE chunk.id IS NULL AND (change.seq IS NULL OR change.seq <= ?1) GROUP BY held.document_id"""
_HELD = """
SELECT document.id FROM document JOIN change ON change.document_id = document.id AND change.seq <= ?1
WHERE project_id = ?2 AND document.id IN (SELECT document_id FROM temp.inventory) ORDER BY number"""


@dataclass
class IndexState:
    """What was found of one index, whose `entries` are counted over all projects.

    The entries of `wrong` documents have to be removed and written anew; an index that `is_broken`
    has to be built anew. `behind` counts the project's documents that it has not taken in yet.
    """

    index: Index
    state: Literal["level", "behind", "absent", "unknown", "broken"] = "level"
    entries: int = 0
    behind: int = 0
    wrong: set[str] = field(default_factory=set)
    found: Findings = field(default_factory=Findings)

    @property
    def subject(self) -> str:
        """What its findings are about."""
        return f"index {self.index.name}"

    @property
    def is_broken(self) -> bool:
        """Tell whether more than single entries is wrong."""
        return self.state == "broken"

    def broken(self, message: str) -> None:
        """Note that more than single entries is wrong."""
        self.state = "broken"
        self.found.problem(self.subject, message)


def inspect_index(indexer: Indexer, index: Index, project_id: str) -> IndexState:
    """Compare an index with the catalog, inside the reader's snapshot."""
    state = IndexState(index)
    try:
        with indexer.catalog.database.explained():
            _inspect(indexer, project_id, state)
    except Exception as error:  # noqa: BLE001 - whatever a damaged engine raises, the other checks go on
        told = error.message if isinstance(error, ReqallError) else type(error).__name__
        state.broken(f"it cannot be read ({told})")
        if index.recaller.storage == "external":
            state.state = "unknown"  # an engine that is away is not damaged: nothing of it is dropped
    return state


def _inspect(indexer: Indexer, project_id: str, state: IndexState) -> None:
    recaller = state.index.recaller
    applied = indexer.applied(state.index)
    state.behind = indexer.lag(state.index, [project_id])
    if applied is None:
        state.state = "absent"
        state.found.note(state.subject, f"not built yet ({state.behind} documents); the next sync builds it")
        return
    if not isinstance(recaller, SupportsInspection):
        state.state = "unknown"
        state.found.note(state.subject, "its recaller does not show what it holds")
        return
    if state.behind:
        state.state = "behind"
        state.found.note(state.subject, f"{state.behind} documents behind; the next sync brings it level")
    tx = indexer.catalog.database.reader() if recaller.storage == "catalog" else None
    for line in recaller.damage(tx):
        state.broken(line)
    if not state.is_broken:
        _compare(indexer, recaller.inventory(tx), (applied, project_id), state)
        _faults(indexer, recaller, (applied, project_id), state)
    indexer.catalog.database.reader().execute("DROP TABLE IF EXISTS temp.inventory")


def _compare(indexer: Indexer, inventory: Iterable[tuple[int, str]], place: tuple[int, str], state: IndexState) -> None:
    """Find chunks without entry, and entries without chunk (of whatever project)."""
    database, chunking = indexer.catalog.database, state.index.chunking
    reader = database.reader()
    reader.execute("DROP TABLE IF EXISTS temp.inventory")
    reader.execute("CREATE TEMP TABLE inventory(chunk_id INTEGER PRIMARY KEY, document_id TEXT NOT NULL)")
    given = 0
    for batch in _batches(inventory):
        given += len(batch)
        reader.executemany("INSERT OR IGNORE INTO temp.inventory VALUES (?, ?)", batch)
    reader.execute("CREATE INDEX temp.inventory_document ON inventory(document_id)")
    state.entries = database.query("SELECT count(*) FROM temp.inventory")[0][0]
    if given != state.entries:
        state.broken(f"{given - state.entries} entries are held more than once")
    applied, project_id = place
    missing = {row[0] for row in database.query(_MISSING, (applied, chunking, project_id))}
    state.found.problems(state.subject, "{} documents lack entries", missing)
    orphans = {row[0] for row in database.query(_ORPHANS, (applied, chunking))}
    state.found.problems(state.subject, "{} documents have entries that the catalog does not know", orphans)
    state.wrong |= missing | orphans


def _faults(indexer: Indexer, recaller: SupportsInspection, place: tuple[int, str], state: IndexState) -> None:
    """Compare each entry with what the index should have been given."""
    database = indexer.catalog.database
    tx = database.reader() if state.index.recaller.storage == "catalog" else None
    held = [row[0] for row in database.query(_HELD, place) if row[0] not in state.wrong]
    differing: dict[str, set[str]] = {}
    for start in range(0, len(held), PAGE):
        documents = indexer.catalog.documents(held[start : start + PAGE])
        chunks = indexer.log.chunks_of(documents, state.index.chunking)
        entries = [_entry(documents[key], chunk) for key, found in chunks.items() for chunk in found]
        owners = {entry.chunk.id: entry.chunk.document_id for entry in entries}
        for chunk_id, message in recaller.faults(entries, tx):
            differing.setdefault(message, set()).add(owners[chunk_id])
    for message, ids in differing.items():
        state.found.problems(state.subject, f"{{}} documents with an entry that is wrong: {message}", ids)
        state.wrong |= ids


def _entry(document: Document, chunk: Chunk) -> IndexEntry:
    facets = Facets(document.project_id, document.type_id, document.status, document.modified)
    return IndexEntry(chunk, document.key, document.name, facets, document.path)


def _batches(pairs: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    iterator = iter(pairs)
    while batch := list(islice(iterator, 10 * PAGE)):
        yield batch
