"""Mends what a check found, from the catalog alone.

One transaction takes the wrong entries out and moves their documents in the change log; then the
indexes catch up as after any change. So a repair that is killed is finished by the next sync.
"""

from collections.abc import Iterable

from reqall.core.batch import Committed, Within
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.integrity import Integrity
from reqall.core.protocols import SqlConnection, SupportsDrop
from reqall.core.types import IndexBatch

_COUNTERS = (
    "UPDATE meta SET value = max(value, (SELECT coalesce(max(seq), 0) FROM change)) WHERE key = 'seq'",
    "UPDATE meta SET value = max(value, (SELECT coalesce(max(id), 0) FROM chunk)) WHERE key = 'chunk_id'",
)


def repair(indexer: Indexer, state: Integrity, within: Within) -> int:
    """Mend everything that the catalog can; the number of texts embedded is returned.

    What only the source can mend is read from it in the next sync. Raises CatalogError, EmbedderError.
    """
    for index in indexer.indexes:
        if index.recaller.storage != "catalog":
            _clean(index, state, None)
    with indexer.catalog.database.writing() as tx:
        within(tx, Committed(len(state.rewritten), deleted=len(state.gone)))
        if state.is_file_damaged:
            tx.execute("REINDEX")
        for statement in _COUNTERS:
            tx.execute(statement)
        tx.executemany("DELETE FROM chunk WHERE id = ?", ((number,) for number in state.orphan_chunks))
        indexer.log.drop_chunks(tx, state.recut)
        _distrust(tx, state)
        for index in indexer.indexes:
            if index.recaller.storage == "catalog":
                _clean(index, state, tx)
        present = set(indexer.catalog.hashes(state.rewritten | state.gone))
        indexer.log.record(tx, sorted(state.rewritten & present), deleted=False)
        indexer.log.record(tx, sorted(state.gone - present), deleted=True)
    return sum(indexer.level(index, within) for index in _without_embedder_first(indexer.indexes))


def _clean(index: Index, state: Integrity, tx: SqlConnection | None) -> None:
    """Take wrong entries out, or all of an index that is broken."""
    found = next(each for each in state.indexes if each.index is index)
    recaller = index.recaller
    if found.is_broken and isinstance(recaller, SupportsDrop):
        recaller.drop(tx)
    elif recaller.position() is not None and (wrong := found.wrong | state.recut):
        recaller.apply(IndexBatch({}, sorted(wrong)), recaller.prepare(()), tx)


def _distrust(tx: SqlConnection, state: Integrity) -> None:
    """Let the next sync read the whole project, and take altered documents for new ones."""
    if state.altered:
        statement = "UPDATE document SET text_hash = '', facet_hash = '' WHERE id = ?"
        tx.executemany(statement, ((key,) for key in state.altered))
        tx.execute("UPDATE project SET watermark = NULL WHERE id = ?", (state.project_id,))


def _without_embedder_first(indexes: Iterable[Index]) -> list[Index]:
    return sorted(indexes, key=lambda index: index.embedder is not None)
