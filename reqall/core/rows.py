"""Documents as rows of the catalog, and the hashes that tell whether one has changed."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from reqall.core.types import Document

COLUMNS = (
    "id, source, project_id, key, type_id, type_name, name, status, sections, fields, parent_id, url, created, modified"
)
_DERIVED = "text_hash, facet_hash, folded_key"
_ALL = f"{COLUMNS}, {_DERIVED}".split(", ")
UPSERT = (
    f"INSERT INTO document({', '.join(_ALL)}) VALUES ({', '.join('?' * len(_ALL))}) "
    f"ON CONFLICT(id) DO UPDATE SET {', '.join(f'{name}=excluded.{name}' for name in _ALL[1:])}"
)

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Hashes:
    """Identity of a document's text, and of all else about it."""

    text: str
    facets: str

    @classmethod
    def of(cls, document: Document) -> "Hashes":
        """Hash a document: what is chunked and embedded apart from what is only stored and filtered."""
        row = _row(document)
        # Chunkers title a document without a name by its key.
        title = [document.name, "" if document.name.strip() else document.key]
        return cls(_digest([title, row[8]]), _digest([*row[:6], row[7], *row[9:]]))


def storable_text(text: str) -> str:
    """Replace what SQLite cannot hold or compare (halves of surrogate pairs, NUL) by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def storable(document: Document) -> Document:
    """Make every text of a document storable and its times UTC; a time without a zone is taken as UTC."""
    return replace(
        document,
        **{name: _cleaned(getattr(document, name)) for name in COLUMNS.split(", ")},
    )


def upsert_row(document: Document) -> tuple[Any, ...]:
    """Return the bindings of `UPSERT`."""
    hashes = Hashes.of(document)
    return (*_row(document), hashes.text, hashes.facets, document.key.casefold())


def document_of(row: Sequence[Any], path: tuple[str, ...]) -> Document:
    """Build a document from a row of `COLUMNS`."""
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
        created=time_of(row[12]),
        modified=time_of(row[13]),
    )


def time_text(time: datetime | None) -> str | None:
    """Write a UTC time in one width, so that text compares as time does."""
    return time.isoformat(timespec="microseconds") if time else None


def time_of(text: str | None) -> datetime | None:
    """Read a stored time."""
    return datetime.fromisoformat(text) if text else None


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
        time_text(document.created),
        time_text(document.modified),
    )


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(held) for held in value]
    return value


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, default=str)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:32]
