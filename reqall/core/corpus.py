"""The catalog's documents, as components that learn from them may read them."""

import json
from collections.abc import Iterable, Iterator, Sequence

from reqall.core.catalog import Catalog
from reqall.core.changes import ChangeLog
from reqall.core.types import Document

PAGE = 500
"""Documents that are read at a time."""


class CatalogCorpus:
    """Implements `Corpus` over a catalog and its change log."""

    def __init__(self, catalog: Catalog, log: ChangeLog) -> None:
        """Read from an opened catalog."""
        self._catalog = catalog
        self._log = log

    def seq(self) -> int:
        """Return the number of the newest change."""
        return self._log.seq()

    def projects(self) -> Sequence[str]:
        """List the ids of the initialised projects."""
        return [state.project.id for state in self._catalog.projects()]

    def changed(self, project_id: str, after: int) -> Iterator[Document]:
        """Walk the documents of a project that were written after the change `after`, the oldest change first."""
        rows = self._catalog.database.query(
            "SELECT document.id FROM change JOIN document ON document.id = change.document_id"
            " WHERE seq > ? AND project_id = ? ORDER BY seq",
            (after, project_id),
        )
        ids = [row[0] for row in rows]
        for start in range(0, len(ids), PAGE):
            yield from self._catalog.documents(ids[start : start + PAGE]).values()

    def present(self, project_id: str, document_ids: Iterable[str]) -> set[str]:
        """Return those of the documents that the project has."""
        rows = self._catalog.database.query(
            "SELECT id FROM document WHERE project_id = ? AND id IN (SELECT value FROM json_each(?))",
            (project_id, json.dumps(list(document_ids))),
        )
        return {row[0] for row in rows}
