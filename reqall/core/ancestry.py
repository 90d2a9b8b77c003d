"""Where documents stand in the tree of their project: the names of the ancestors are part of an index's entries.

A path is derived, never stored with its document: so a folder that is renamed, moved, new or gone changes the
entries of all that is below it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from reqall.core.catalog import Catalog
from reqall.core.types import Document

_STANDING = "SELECT id, name, parent_id FROM document WHERE id IN (SELECT value FROM json_each(?))"
_BELOW = """
WITH RECURSIVE down(id) AS (
    SELECT value FROM json_each(?)
    UNION SELECT document.id FROM down JOIN document ON document.parent_id = down.id)
SELECT down.id FROM down JOIN document ON document.id = down.id"""

Standing = dict[str, tuple[str, str | None]]
"""Name and parent of documents."""


def placed(catalog: Catalog, documents: Sequence[Document]) -> list[Document]:
    """Give documents that are about to be written their paths, by each other and by what is stored."""
    own = {document.id: document for document in documents}
    outside = {d.parent_id for d in documents if d.parent_id is not None and d.parent_id not in own}
    above = catalog.documents(sorted(outside))

    def path(document: Document) -> tuple[str, ...]:
        names: list[str] = []
        seen, parent = {document.id}, document.parent_id
        while parent in own and parent not in seen:
            seen.add(parent)
            names.append(own[parent].name)
            parent = own[parent].parent_id
        stored = above.get(parent or "")
        return (*stored.path, stored.name, *reversed(names)) if stored else tuple(reversed(names))

    return [replace(document, path=path(document)) for document in documents]


def standing(catalog: Catalog, ids: Iterable[str]) -> Standing:
    """Read what the paths of others depend on."""
    rows = catalog.database.query(_STANDING, (json.dumps(list(ids)),))
    return {identifier: (name, parent) for identifier, name, parent in rows}


def displaced(catalog: Catalog, before: Standing, written: Sequence[Document], deleted: Iterable[str]) -> list[str]:
    """List the documents whose path is another since `before`, and that were not written with it."""
    roots = [d.id for d in written if before.get(d.id) != (d.name, d.parent_id)]
    known = {document.id: document.path for document in written}
    found = [row[0] for row in catalog.database.query(_BELOW, (json.dumps([*roots, *deleted]),))]
    now = catalog.documents([key for key in found if key in known])
    return [key for key in found if key not in known or now[key].path != known[key]]
