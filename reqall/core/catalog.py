"""The truth on disk: projects, documents and links. Indexes are derived from it.

Writing happens inside one transaction of `Database.writing`, which the caller opens, so that a
batch is written whole or not at all.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from reqall.core.database import Database
from reqall.core.protocols import SqlConnection
from reqall.core.rows import COLUMNS, UPSERT, Hashes, document_of, storable_text, time_of, time_text, upsert_row
from reqall.core.types import Document, Filters, ItemType, Link, Project

MAX_DEPTH = 64
"""Ancestors that a path names at most; it also ends a parent that is its own descendant."""

_LINKS_LEVEL = "links level:"
_SWEPT = "swept:"

_ANCESTORS = f"""
WITH RECURSIVE up(start, id, depth) AS (
    SELECT id, parent_id, 1 FROM document WHERE id IN (SELECT value FROM json_each(?))
    UNION ALL
    SELECT up.start, document.parent_id, depth + 1 FROM up JOIN document ON document.id = up.id
    WHERE depth < {MAX_DEPTH})
SELECT up.start, up.id, document.name FROM up JOIN document ON document.id = up.id ORDER BY up.start, depth
"""


@dataclass(frozen=True, slots=True)
class SyncState:
    """A project in the catalog, and how far its last finished sync came."""

    project: Project
    watermark: str | None
    synced: datetime | None


class Catalog:
    """Projects, documents and links in the database."""

    def __init__(self, database: Database) -> None:
        """Work on an opened database."""
        self.database = database

    def projects(self) -> list[SyncState]:
        """List the initialised projects."""
        rows = self.database.query("SELECT id, source, key, name, watermark, synced FROM project ORDER BY id")
        return [SyncState(Project(*row[:4]), row[4], time_of(row[5])) for row in rows]

    def project(self, project_id: str) -> SyncState | None:
        """Return one initialised project."""
        return next((state for state in self.projects() if state.project.id == project_id), None)

    def write_project(self, tx: SqlConnection, project: Project) -> None:
        """Create the project, or update its key and name."""
        tx.execute(
            "INSERT INTO project(id, source, key, name) VALUES (?, ?, ?, ?) "
            "ON CONFLICT(id) DO UPDATE SET key=excluded.key, name=excluded.name",
            (project.id, project.source, storable_text(project.key), storable_text(project.name)),
        )

    def write_synced(
        self, tx: SqlConnection, project_id: str, watermark: str | None, time: datetime, *, swept: bool = False
    ) -> None:
        """Remember how far a finished sync came; `swept`: it compared all ids with the source's."""
        bindings = (watermark, time.isoformat(), project_id)
        tx.execute("UPDATE project SET watermark = ?, synced = ? WHERE id = ?", bindings)
        if swept:
            tx.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{_SWEPT}{project_id}", time.isoformat()))

    def swept(self, project_id: str) -> datetime | None:
        """Return when all ids of a project were last compared with the source's."""
        rows = self.database.query("SELECT value FROM meta WHERE key = ?", (f"{_SWEPT}{project_id}",))
        return time_of(rows[0][0]) if rows else None

    def delete_project(self, tx: SqlConnection, project_id: str) -> None:
        """Delete the project's own row and notes."""
        tx.execute("DELETE FROM project WHERE id = ?", (project_id,))
        tx.executemany("DELETE FROM meta WHERE key = ?", ((f"{note}{project_id}",) for note in (_LINKS_LEVEL, _SWEPT)))

    def hashes(self, ids: Iterable[str]) -> dict[str, Hashes]:
        """Look up what is stored of these documents."""
        rows = self.database.query(
            "SELECT id, text_hash, facet_hash FROM document WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: Hashes(row[1], row[2]) for row in rows}

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """Read documents by id, with the paths of their ancestors; absent ones are left out."""
        wanted = json.dumps(list(ids))
        with self.database.reading():
            rows = self.database.query(
                f"SELECT {COLUMNS} FROM document WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
            )
            ancestors: dict[str, dict[str, str]] = {}
            for start, identifier, name in self.database.query(_ANCESTORS, (wanted,)):
                # Nearest first; in a circle of parents each is named once.
                ancestors.setdefault(start, {start: ""}).setdefault(identifier, name)
        paths = {start: tuple(reversed(list(names.values())[1:])) for start, names in ancestors.items()}
        return {row[0]: document_of(row, paths.get(row[0], ())) for row in rows}

    def document_ids(self, project_id: str) -> list[str]:
        """List a project's documents in the order in which they came."""
        rows = self.database.query("SELECT id FROM document WHERE project_id = ? ORDER BY number", (project_id,))
        return [row[0] for row in rows]

    def count(self, project_id: str) -> int:
        """Count a project's documents."""
        found = self.database.query("SELECT count(*) FROM document WHERE project_id = ?", (project_id,))
        return int(found[0][0])

    def walk(self, project_id: str, size: int = 500) -> Iterator[Document]:
        """Read all documents of a project, some hundred at a time."""
        return self.read(self.document_ids(project_id), size)

    def read(self, ids: Sequence[str], size: int = 500) -> Iterator[Document]:
        """Read documents in the order of their ids, some hundred at a time; absent ones are left out."""
        for start in range(0, len(ids), size):
            page = self.documents(ids[start : start + size])
            yield from (page[key] for key in ids[start : start + size] if key in page)

    def within(self, filters: Filters) -> dict[str, str]:
        """Return id and key of all documents within the filters, in the order in which they came."""
        where, bindings = _conditions(filters)
        return dict(self.database.query(f"SELECT id, key FROM document WHERE 1{where} ORDER BY number", bindings))

    def with_keys(self, keys: Iterable[str], filters: Filters) -> list[str]:
        """Return ids of documents whose key is one of `keys` (any case), within the filters."""
        where, bindings = _conditions(filters)
        rows = self.database.query(
            "SELECT id FROM document WHERE folded_key IN (SELECT value FROM json_each(?)) AND key <> ''"
            f"{where} ORDER BY number",
            (json.dumps([storable_text(key).casefold() for key in keys]), *bindings),
        )
        return [row[0] for row in rows]

    def item_types(self, project_ids: Sequence[str]) -> list[ItemType]:
        """List the types of documents that the projects hold."""
        rows = self.database.query(
            "SELECT DISTINCT type_id, type_name FROM document WHERE project_id IN (SELECT value FROM json_each(?))"
            " ORDER BY type_name",
            (json.dumps(list(project_ids)),),
        )
        return [ItemType(*row) for row in rows]

    def statuses(self, project_ids: Sequence[str]) -> list[str]:
        """List the statuses that the projects' documents have."""
        rows = self.database.query(
            "SELECT DISTINCT status FROM document WHERE project_id IN (SELECT value FROM json_each(?))"
            " AND status IS NOT NULL ORDER BY status",
            (json.dumps(list(project_ids)),),
        )
        return [row[0] for row in rows]

    def write_documents(self, tx: SqlConnection, documents: Iterable[Document]) -> None:
        """Insert or replace documents, as `storable` returns them."""
        tx.executemany(UPSERT, (upsert_row(document) for document in documents))

    def delete_documents(self, tx: SqlConnection, ids: Iterable[str]) -> None:
        """Delete documents; their chunks go with them."""
        gone = [(key,) for key in ids]
        tx.executemany("DELETE FROM chunk WHERE document_id = ?", gone)
        tx.executemany("DELETE FROM document WHERE id = ?", gone)

    def replace_links(self, tx: SqlConnection, project_id: str, links: Iterable[Link]) -> None:
        """Put these links in the place of all that the project had."""
        tx.execute("DELETE FROM link WHERE project_id = ?", (project_id,))
        _insert_links(tx, project_id, links)

    def replace_links_of(
        self, tx: SqlConnection, project_id: str, document_ids: Iterable[str], links: Iterable[Link]
    ) -> None:
        """Put these links in the place of those that the project had and that touch one of the documents."""
        ends = [(project_id, storable_text(key)) for key in document_ids]
        tx.executemany("DELETE FROM link WHERE project_id = ? AND from_id = ?", ends)
        tx.executemany("DELETE FROM link WHERE project_id = ? AND to_id = ?", ends)
        _insert_links(tx, project_id, links)

    def mark_links(self, tx: SqlConnection, project_id: str, *, level: bool) -> None:
        """Note whether the links belong to the documents as they are now."""
        key = (f"{_LINKS_LEVEL}{project_id}",)
        tx.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)" if level else "DELETE FROM meta WHERE key = ?", key)

    def has_level_links(self, project_id: str) -> bool:
        """Tell whether the links belong to the documents as they are now."""
        return bool(self.database.query("SELECT 1 FROM meta WHERE key = ?", (f"{_LINKS_LEVEL}{project_id}",)))

    def link_ends(self, project_id: str, document_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return for each of the documents the other ends of its links."""
        ends: dict[str, list[str]] = {key: [] for key in document_ids}
        for near, far in (("from_id", "to_id"), ("to_id", "from_id")):
            rows = self.database.query(
                f"SELECT {near}, {far} FROM link WHERE project_id = ? AND {near} IN (SELECT value FROM json_each(?))",
                (project_id, json.dumps(list(document_ids))),
            )
            for key, end in rows:
                ends[key].append(end)
        return ends

    def links(self, project_id: str) -> list[Link]:
        """List a project's links."""
        rows = self.database.query("SELECT from_id, to_id, type, suspect FROM link WHERE project_id = ?", (project_id,))
        return [Link(row[0], row[1], row[2], bool(row[3])) for row in rows]


def _insert_links(tx: SqlConnection, project_id: str, links: Iterable[Link]) -> None:
    rows = (
        (project_id, *map(storable_text, (link.from_id, link.to_id, link.type)), int(link.suspect)) for link in links
    )
    tx.executemany("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?)", rows)


def _conditions(filters: Filters) -> tuple[str, list[str | None]]:
    parts = ""
    bindings: list[str | None] = []
    for column, values in (
        ("project_id", filters.project_ids),
        ("type_id", filters.type_ids),
        ("status", filters.statuses),
    ):
        if values:
            parts += f" AND {column} IN (SELECT value FROM json_each(?))"
            bindings.append(json.dumps(list(values)))
    if filters.modified_after:
        parts += " AND modified >= ?"
        bindings.append(time_text(filters.modified_after))
    if filters.modified_before:
        parts += " AND modified <= ?"
        bindings.append(time_text(filters.modified_before))
    return parts, bindings
