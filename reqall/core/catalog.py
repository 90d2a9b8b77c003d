"""The truth on disk: projects, documents and links. Indexes are derived from it.

Writing happens inside one transaction of `Database.writing`, which the caller opens, so that a
batch is written whole or not at all.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reqall.core.database import Database
from reqall.core.protocols import SqlConnection
from reqall.core.types import Document, Filters, ItemType, Link, Project

_COLUMNS = (
    "id, source, project_id, key, type_id, type_name, name, status, sections, fields, parent_id, url, created, modified"
)
_WRITE = (
    f"INSERT INTO document({_COLUMNS}, text_hash, facet_hash) VALUES ({', '.join('?' * 16)}) "
    "ON CONFLICT(id) DO UPDATE SET "
    + ", ".join(f"{name}=excluded.{name}" for name in [*_COLUMNS.split(", ")[1:], "text_hash", "facet_hash"])
)
_ANCESTORS = """
WITH RECURSIVE up(start, id, depth) AS (
    SELECT id, parent_id, 1 FROM document WHERE id IN (SELECT value FROM json_each(?))
    UNION ALL
    SELECT up.start, document.parent_id, depth + 1 FROM up JOIN document ON document.id = up.id WHERE depth < 64)
SELECT up.start, document.name FROM up JOIN document ON document.id = up.id ORDER BY up.start, depth DESC
"""


@dataclass(frozen=True, slots=True)
class Hashes:
    """Identity of a document's text, and of all else about it."""

    text: str
    facets: str

    @classmethod
    def of(cls, document: Document) -> "Hashes":
        """Hash a document: what is chunked and embedded apart from what is only stored and filtered."""
        text = _digest([document.name, dict(document.sections)])
        rest = [*_row(document)[:6], *_row(document)[7:8], *_row(document)[9:]]
        return cls(text, _digest(rest))


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
        rows = self.database.reader().execute(
            "SELECT id, source, key, name, watermark, synced FROM project ORDER BY id"
        )
        return [SyncState(Project(*row[:4]), row[4], _time(row[5])) for row in rows]

    def project(self, project_id: str) -> SyncState | None:
        """Return one initialised project."""
        return next((state for state in self.projects() if state.project.id == project_id), None)

    def write_project(self, tx: SqlConnection, project: Project) -> None:
        """Create the project, or update its key and name."""
        tx.execute(
            "INSERT INTO project(id, source, key, name) VALUES (?, ?, ?, ?) "
            "ON CONFLICT(id) DO UPDATE SET key=excluded.key, name=excluded.name",
            (project.id, project.source, project.key, project.name),
        )

    def write_synced(self, tx: SqlConnection, project_id: str, watermark: str | None, time: datetime) -> None:
        """Remember how far a finished sync came."""
        bindings = (watermark, time.isoformat(), project_id)
        tx.execute("UPDATE project SET watermark = ?, synced = ? WHERE id = ?", bindings)

    def hashes(self, ids: Iterable[str]) -> dict[str, Hashes]:
        """Look up what is stored of these documents."""
        rows = self.database.reader().execute(
            "SELECT id, text_hash, facet_hash FROM document WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: Hashes(row[1], row[2]) for row in rows}

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """Read documents by id, with the paths of their ancestors; absent ones are left out."""
        wanted = json.dumps(list(ids))
        with self.database.reading() as connection:
            rows = list(
                connection.execute(
                    f"SELECT {_COLUMNS} FROM document WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
                )
            )
            paths: dict[str, list[str]] = {}
            for start, name in connection.execute(_ANCESTORS, (wanted,)):
                paths.setdefault(start, []).append(name)
        return {row[0]: _document(row, tuple(paths.get(row[0], ()))) for row in rows}

    def document_ids(self, project_id: str) -> list[str]:
        """List a project's documents in the order in which they came."""
        rows = self.database.reader().execute(
            "SELECT id FROM document WHERE project_id = ? ORDER BY number", (project_id,)
        )
        return [row[0] for row in rows]

    def count(self, project_id: str) -> int:
        """Count a project's documents."""
        found = self.database.reader().execute("SELECT count(*) FROM document WHERE project_id = ?", (project_id,))
        return int(next(found)[0])

    def walk(self, project_id: str, size: int = 500) -> Iterator[Document]:
        """Read all documents of a project, some hundred at a time."""
        ids = self.document_ids(project_id)
        for start in range(0, len(ids), size):
            page = self.documents(ids[start : start + size])
            yield from (page[key] for key in ids[start : start + size] if key in page)

    def with_keys(self, keys: Iterable[str], filters: Filters) -> list[str]:
        """Return ids of documents whose key is one of `keys` (any case), within the filters."""
        where, bindings = _conditions(filters)
        rows = self.database.reader().execute(
            "SELECT id FROM document WHERE key COLLATE NOCASE IN (SELECT value FROM json_each(?)) AND key <> ''"
            f"{where} ORDER BY number",
            (json.dumps(list(keys)), *bindings),
        )
        return [row[0] for row in rows]

    def item_types(self, project_ids: Sequence[str]) -> list[ItemType]:
        """List the types of documents that the projects hold."""
        rows = self.database.reader().execute(
            "SELECT DISTINCT type_id, type_name FROM document WHERE project_id IN (SELECT value FROM json_each(?))"
            " ORDER BY type_name",
            (json.dumps(list(project_ids)),),
        )
        return [ItemType(*row) for row in rows]

    def statuses(self, project_ids: Sequence[str]) -> list[str]:
        """List the statuses that the projects' documents have."""
        rows = self.database.reader().execute(
            "SELECT DISTINCT status FROM document WHERE project_id IN (SELECT value FROM json_each(?))"
            " AND status IS NOT NULL ORDER BY status",
            (json.dumps(list(project_ids)),),
        )
        return [row[0] for row in rows]

    def write_documents(self, tx: SqlConnection, documents: Iterable[Document]) -> None:
        """Insert or replace documents."""
        tx.executemany(_WRITE, (_row(document) + _hash_row(document) for document in documents))

    def delete_documents(self, tx: SqlConnection, ids: Iterable[str]) -> None:
        """Delete documents; their chunks go with them."""
        gone = [(key,) for key in ids]
        tx.executemany("DELETE FROM chunk WHERE document_id = ?", gone)
        tx.executemany("DELETE FROM document WHERE id = ?", gone)

    def replace_links(self, tx: SqlConnection, project_id: str, links: Iterable[Link]) -> None:
        """Put these links in the place of all that the project had."""
        tx.execute("DELETE FROM link WHERE project_id = ?", (project_id,))
        rows = ((project_id, link.from_id, link.to_id, link.type, int(link.suspect)) for link in links)
        tx.executemany("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?)", rows)

    def links(self, project_id: str) -> list[Link]:
        """List a project's links."""
        rows = self.database.reader().execute(
            "SELECT from_id, to_id, type, suspect FROM link WHERE project_id = ?", (project_id,)
        )
        return [Link(row[0], row[1], row[2], bool(row[3])) for row in rows]


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
        bindings.append(_text(filters.modified_after))
    if filters.modified_before:
        parts += " AND modified <= ?"
        bindings.append(_text(filters.modified_before))
    return parts, bindings


def _row(document: Document) -> tuple[Any, ...]:
    return (
        document.id,
        document.source,
        document.project_id,
        document.key,
        document.type_id,
        document.type_name,
        document.name,
        document.status,
        _json(document.sections),
        _json(document.fields),
        document.parent_id,
        document.url,
        _text(document.created),
        _text(document.modified),
    )


def _hash_row(document: Document) -> tuple[str, str]:
    hashes = Hashes.of(document)
    return hashes.text, hashes.facets


def _document(row: Sequence[Any], path: tuple[str, ...]) -> Document:
    identifier, source, project_id, key, type_id, type_name, name, status = row[:8]
    return Document(
        identifier,
        source,
        project_id,
        key,
        type_id,
        type_name,
        name,
        status,
        sections=json.loads(row[8]),
        fields=json.loads(row[9]),
        parent_id=row[10],
        path=path,
        url=row[11],
        created=_time(row[12]),
        modified=_time(row[13]),
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, default=str)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, default=str).encode()).hexdigest()[:32]


def _text(time: datetime | None) -> str | None:
    """Write times in one width, so that text compares as time does."""
    return time.isoformat(timespec="milliseconds") if time else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
