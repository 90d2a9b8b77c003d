"""Compares catalog, chunks and indexes of a project: what is derived must be what the catalog says.

All is read on one snapshot. An index may be behind: what changed after its last step is not held
against it, and is counted apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from reqall.core.errors import ReqallError
from reqall.core.findings import Finding, Findings
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.inspection import IndexState, inspect_index
from reqall.core.rows import Hashes
from reqall.core.types import Chunk, Document

PAGE = 500
_RECUT = "cut otherwise"
MAX_LINES = 20
"""Lines of SQLite's own check that are shown."""

_UNLOGGED = """
SELECT document.id FROM document LEFT JOIN change ON change.document_id = document.id
WHERE project_id = ? AND (seq IS NULL OR deleted)"""
_GONE = """
SELECT document_id FROM change LEFT JOIN document ON document.id = change.document_id
WHERE NOT deleted AND document.id IS NULL"""
_ORPHANS = "SELECT id FROM chunk WHERE document_id NOT IN (SELECT id FROM document)"
_COUNTERS = """
SELECT (SELECT value FROM meta WHERE key = 'seq') < (SELECT coalesce(max(seq), 0) FROM change)
    OR (SELECT value FROM meta WHERE key = 'chunk_id') < (SELECT coalesce(max(id), 0) FROM chunk)"""
_DANGLING = """
SELECT from_id || ' -> ' || to_id FROM link WHERE project_id = ?
    AND (from_id NOT IN (SELECT id FROM document) OR to_id NOT IN (SELECT id FROM document))"""


@dataclass
class Integrity:
    """What was found in a project, and what a repair has to do.

    `rewritten` are documents that every index shall take in anew, `recut` those whose chunks are
    wrong, `altered` those that are not as the sync wrote them: only the source can mend these.
    """

    project_id: str
    documents: int = 0
    indexes: list[IndexState] = field(default_factory=list)
    found: Findings = field(default_factory=Findings)
    is_file_damaged: bool = False
    are_counters_behind: bool = False
    orphan_chunks: list[int] = field(default_factory=list)
    unlogged: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    recut: set[str] = field(default_factory=set)
    altered: set[str] = field(default_factory=set)

    @property
    def findings(self) -> list[Finding]:
        """All findings, the catalog's first."""
        return [*self.found.listed, *(finding for state in self.indexes for finding in state.found.listed)]

    @property
    def problems(self) -> list[Finding]:
        """The findings that should not be."""
        return [finding for finding in self.findings if finding.level == "problem"]

    @property
    def rewritten(self) -> set[str]:
        """Documents that every index shall take in anew."""
        return self.unlogged | self.recut | {key for state in self.indexes for key in state.wrong}


def inspect(indexer: Indexer, project_id: str) -> Integrity:
    """Compare everything. Raises CatalogError where the catalog itself cannot be read."""
    for index in indexer.indexes:
        if index.recaller.storage == "memory":
            indexer.level(index, lambda _tx, _done: None)
    state = Integrity(project_id)
    with indexer.catalog.database.reading():
        state.documents = indexer.catalog.count(project_id)
        _file(indexer, state)
        _rows(indexer, state)
        _texts(indexer, state)
        state.indexes = [inspect_index(indexer, index, project_id) for index in indexer.indexes]
    return state


def _file(indexer: Indexer, state: Integrity) -> None:
    """Let SQLite check its own structure, that of FTS5's tables with it."""
    lines = [row[0] for row in indexer.catalog.database.query(f"PRAGMA integrity_check({MAX_LINES})")]
    if lines != ["ok"]:
        state.is_file_damaged = True
        for line in lines:
            state.found.problem("file", line)


def _rows(indexer: Indexer, state: Integrity) -> None:
    """Compare the catalog's tables with each other."""
    query, found = indexer.catalog.database.query, state.found
    state.unlogged = {row[0] for row in query(_UNLOGGED, (state.project_id,))}
    found.problems("catalog", "{} documents are not in the change log: no index takes them in", state.unlogged)
    state.gone = {row[0] for row in query(_GONE)}
    found.problems("catalog", "{} documents of the change log are not there", state.gone)
    state.orphan_chunks = [row[0] for row in query(_ORPHANS)]
    found.problems("catalog", "{} chunks belong to no document", state.orphan_chunks)
    state.are_counters_behind = bool(query(_COUNTERS)[0][0])
    if state.are_counters_behind:
        found.problem("catalog", "the counters are behind the rows: numbers would be given twice")
    found.notes(
        "catalog",
        "{} links lead to documents that are not there",
        [row[0] for row in query(_DANGLING, (state.project_id,))],
    )


def _texts(indexer: Indexer, state: Integrity) -> None:
    """Compare documents with their hashes, and chunks with what the chunkers make of the documents."""
    uncut: dict[str, set[str]] = {}
    cutters: dict[str, Index] = {index.chunking: index for index in indexer.indexes}
    for page in _pages(indexer, state.project_id):
        hashes = indexer.catalog.hashes(page)
        state.altered.update(key for key, document in page.items() if Hashes.of(document) != hashes[key])
        for chunking, index in cutters.items():
            stored = indexer.log.chunks_of(page, chunking)
            for key, chunks in stored.items():
                if key in state.altered:
                    continue  # the source has the text that counts
                if (message := _difference(index, page[key], chunks)) == _RECUT:
                    state.recut.add(key)
                elif message:
                    uncut.setdefault(message, set()).add(key)
    state.found.problems("catalog", "{} documents are not as they were written", state.altered)
    state.found.problems("catalog", "{} documents are cut into other chunks than are stored", state.recut)
    for message, keys in uncut.items():
        state.found.problem("catalog", f"{len(keys)} documents cannot be cut: {message}")


def _difference(index: Index, document: Document, chunks: list[Chunk]) -> str:
    """Say why a document is not cut into the stored chunks; empty when it is."""
    try:
        wanted = [(draft.section, draft.context, draft.body) for draft in index.cut(document)]
    except Exception as error:  # noqa: BLE001 - whatever a chunker raises, the other documents are compared
        return error.message if isinstance(error, ReqallError) else type(error).__name__
    return "" if [(chunk.section, chunk.context, chunk.body) for chunk in chunks] == wanted else _RECUT


def _pages(indexer: Indexer, project_id: str) -> Iterator[dict[str, Document]]:
    ids = indexer.catalog.document_ids(project_id)
    for start in range(0, len(ids), PAGE):
        yield indexer.catalog.documents(ids[start : start + PAGE])
