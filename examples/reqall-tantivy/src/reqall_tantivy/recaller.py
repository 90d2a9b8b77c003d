"""Lexical recall: BM25 by tantivy (https://github.com/quickwit-oss/tantivy), in a folder of its own.

The engine fixes k1 = 1.2 and b = 0.75.
"""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reqall import (
    ChunkRanking,
    Filters,
    IndexBatch,
    IndexEntry,
    PluginError,
    Position,
    Services,
    SqlConnection,
    Storage,
)
from reqall_tantivy import inspection, schema
from reqall_tantivy.analysis import Analysis, encodable
from reqall_tantivy.engine_errors import DamagedIndexError, explained
from reqall_tantivy.folder import Folder
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.query import filtered, text_query
from reqall_tantivy.ranking import rank

if TYPE_CHECKING:
    import tantivy


class TantivyRecaller:
    """A BM25 index in a folder outside the catalog's file."""

    storage: Storage = "external"

    def __init__(self, options: TantivyOptions, folder: Path) -> None:
        """Touch nothing yet; the index appears with the first `apply`."""
        self._analysis = Analysis(options.language, stop_words=options.stop_words)
        self._weights = {"key": options.key_weight, "name": options.name_weight, "text": options.text_weight}
        self._folder = Folder(folder, self._analysis, options.writer_memory_mb, options.lock_seconds)

    def prepare(self, entries: Sequence[IndexEntry]) -> None:
        """Do nothing: there is nothing slow to do."""

    def apply(self, batch: IndexBatch, prepared: Any, tx: SqlConnection | None) -> None:  # noqa: ARG002 - neither used
        """Replace the documents' entries and the position in one commit. Raises CatalogError.

        A document that is held as it is wanted stays untouched: the engine counts what it deleted in
        its statistics until it merges, so writing it again would change scores.
        """
        with self._folder.writing() as index:
            stored = schema.held(index.searcher, batch.documents)
            known = schema.read_position(index.searcher)
            wanted = {document_id: _wanted(entries) for document_id, entries in batch.upserts.items()}
            stale = [key for key in batch.documents if stored.get(encodable(key), []) != wanted.get(key, [])]
            is_moved = batch.position is not None and batch.position != known
            if not stale and not is_moved:
                return
            for document_id in stale:
                index.writer.delete_documents_by_term("document", encodable(document_id))
                for entry in batch.upserts.get(document_id, ()):
                    index.writer.add_document(schema.document(entry))
            if batch.position is not None and is_moved:
                schema.write_position(index.writer, batch.position)
            index.writer.commit()

    def position(self) -> Position | None:
        """Return what the engine's last commit says; None where the index is absent or damaged: it is built anew."""
        try:
            with explained(self._folder.path):
                searcher = self._folder.searcher()
                return None if searcher is None else schema.read_position(searcher)
        except DamagedIndexError:
            return None

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find chunks that hold any of a text's terms; scores are BM25, positive. Raises CatalogError."""
        with explained(self._folder.path):
            searcher = self._folder.searcher() if texts and limit > 0 else None
            if searcher is None:
                return [ChunkRanking() for _ in texts]
            return [self._rank(searcher, text, limit, filters) for text in texts]

    def drop(self, tx: SqlConnection | None) -> None:  # noqa: ARG002 - it lives outside the catalog
        """Remove all files. Raises CatalogError."""
        self._folder.clear()

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:  # noqa: ARG002 - likewise
        """Yield chunk id and document id of every entry. Raises CatalogError."""
        with explained(self._folder.path):
            searcher = self._folder.searcher()
            yield from () if searcher is None else inspection.inventory(searcher)

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:  # noqa: ARG002 - likewise
        """Yield the entries that are stored otherwise, by a digest of all that is stored. Raises CatalogError."""
        with explained(self._folder.path):
            searcher = self._folder.searcher()
            yield from () if searcher is None else inspection.faults(searcher, entries)

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:  # noqa: ARG002 - likewise
        """Compare the files with their checksums. Raises CatalogError."""
        with explained(self._folder.path):
            return [] if self._folder.searcher() is None else inspection.damage(self._folder.path)

    def _rank(self, searcher: "tantivy.Searcher", text: str, limit: int, filters: Filters) -> ChunkRanking:
        terms = self._analysis.query_terms(text)
        return rank(searcher, filtered(text_query(terms, self._weights), filters), limit) if terms else ChunkRanking()


def _wanted(entries: Sequence[IndexEntry]) -> list[tuple[int, bytes]]:
    return sorted((entry.chunk.id, schema.digest(entry)) for entry in entries)


def build_tantivy(options: TantivyOptions, services: Services) -> TantivyRecaller:
    """Build the recaller. Raises PluginError where it has no folder of its own, or the engine is not installed."""
    if services.folder == Path():
        raise PluginError(
            "tantivy keeps its index in a folder, and was built without one",
            "build it through the host, or give Services a folder",
        )
    for package in ("tantivy", "filelock"):
        if find_spec(package) is None:
            raise PluginError(f"tantivy: the package {package} is not installed", f"run `pip install {package}`")
    return TantivyRecaller(options, services.folder)
