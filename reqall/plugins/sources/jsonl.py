"""The `jsonl` source: one JSON object per line with `_id`, `title`, `text` and `metadata`.

This is the corpus of a BEIR collection (https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset)
and the simplest way to bring documents from anywhere. A line is read, used and forgotten: only
the ids are kept during a walk, to notice one that is used twice.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, model_validator

from reqall import (
    Document,
    ItemType,
    JsonValue,
    Link,
    Page,
    PluginOptions,
    Project,
    Services,
    SourceError,
    native_id,
)

T = TypeVar("T")

CORPUS = "corpus.jsonl"
ANSWERS = frozenset({"parents", "parent", "relations", "links", "self"})
"""Metadata that judgements are made from; a system under test must never see it."""

NOUNS = frozenset({"type", "status"})
TIMES = frozenset({"created", "modified"})
"""Metadata that has a place of its own in a document."""


class JsonlOptions(PluginOptions):
    """Options of the `jsonl` source."""

    path: Path = Field(description="A .jsonl file, or a folder that holds a corpus.jsonl.")
    project: str = Field("", description="Name of the one project; empty: the name of the folder or file.")
    project_field: str = Field("", description="Metadata field that names each document's project; empty: one project.")
    keys: bool = Field(default=True, description="Make _id the searchable key; False where ids hold the answers.")
    page_size: int = Field(500, ge=1, description="Documents per page of a walk.")

    @model_validator(mode="after")
    def _one_way_to_name_projects(self) -> "JsonlOptions":
        if self.project and self.project_field:
            raise ValueError("project and project_field exclude each other: name the one project, or the field")
        return self


@dataclass(frozen=True, slots=True)
class _Record:
    """One line, checked: `place` is file:line, `project` the name of its project."""

    place: str
    id: str
    title: str
    text: str
    metadata: dict[str, Any]
    project: str

    @property
    def type_name(self) -> str:
        return str(self.metadata.get("type") or "document")

    def fields(self) -> dict[str, JsonValue]:
        """Return the scalar metadata that has no place of its own; a date that is none stays here."""
        return {
            name: value
            for name, value in self.metadata.items()
            if name not in ANSWERS | NOUNS
            and isinstance(value, str | int | float | bool)
            and not (name in TIMES and _time(value))
        }


class JsonlSource:
    """Documents of one file. Every walk reads the file anew and raises SourceError with file:line."""

    def __init__(self, options: JsonlOptions, services: Services) -> None:
        """Touch no file yet: what is wrong with it is reported by the first walk."""
        self._options = options
        self._name = services.name or "jsonl"
        path = options.path.expanduser()
        self._file = path if path.suffix == ".jsonl" else path / CORPUS
        self._project = options.project or (path.stem if path == self._file else path.resolve().name)

    def projects(self) -> Sequence[Project]:
        """List the one project, or the values of `project_field` in the order of the file."""
        if self._options.project_field:
            names = list(dict.fromkeys(record.project for record in self._records()))
        else:
            self._require_file()
            names = [self._project]
        return [Project(f"{self._name}:{name}", self._name, name, name) for name in names]

    def documents(self, project: Project, since: str | None) -> Iterator[Page[Document]]:  # noqa: ARG002
        """Walk all documents, whatever `since` says: lines have no change dates, hashes tell what is new."""
        return self._pages(self._document(record, project) for record in self._records(project))

    def links(self, project: Project) -> Iterator[Page[Link]]:  # noqa: ARG002
        """Yield nothing: in a judged collection the links are the answers, never part of the corpus."""
        return iter(())

    def document_ids(self, project: Project) -> Iterator[Page[str]]:
        """Walk the ids of a project's documents."""
        return self._pages(f"{self._name}:{record.id}" for record in self._records(project))

    def count(self, project: Project) -> int:
        """Count a project's documents by reading the file once."""
        return sum(1 for _ in self._records(project))

    def describe(self, project: Project) -> Sequence[ItemType]:
        """List the values of `metadata.type` and the other metadata that documents of that type have."""
        types: dict[str, dict[str, str]] = {}
        for record in self._records(project):
            types.setdefault(record.type_name, {}).update({name: name for name in record.fields()})
        return [ItemType(name, name, fields) for name, fields in types.items()]

    def validate(self, *, live: bool) -> Sequence[str]:  # noqa: ARG002 - there is nothing but the file
        """Say whether the file is there."""
        try:
            self._require_file()
        except SourceError as error:
            return [error.message]
        return []

    def _document(self, record: _Record, project: Project) -> Document:
        key = record.id if self._options.keys else ""
        status = record.metadata.get("status")
        return Document(
            id=f"{self._name}:{record.id}",
            source=self._name,
            project_id=project.id,
            key=key,
            type_id=record.type_name,
            type_name=record.type_name,
            name=record.title or key,
            status=str(status) if status else None,
            sections={"description": record.text} if record.text else {},
            fields=record.fields(),
            created=_time(record.metadata.get("created")),
            modified=_time(record.metadata.get("modified")),
        )

    def _pages(self, items: Iterator[T]) -> Iterator[Page[T]]:
        while page := list(islice(items, self._options.page_size)):
            yield Page(page)

    def _records(self, project: Project | None = None) -> Iterator[_Record]:
        """Walk the file, of a project or whole; the ids of all lines are checked either way."""
        wanted = native_id(project.id) if project else None
        seen: dict[str, int] = {}
        for number, line in self._lines():
            record = self._record(f"{self._file}:{number}", line)
            first = seen.setdefault(record.id, number)
            if first != number:
                raise SourceError(
                    f"{record.place}: the _id {record.id!r} is used twice, first in line {first}",
                    "Give each document its own _id.",
                )
            if wanted in (None, record.project):
                yield record

    def _record(self, place: str, line: str) -> _Record:
        raw = _parse(place, line)
        identifier, metadata = raw.get("_id"), raw.get("metadata") or {}
        if isinstance(identifier, bool) or not isinstance(identifier, str | int) or identifier == "":
            raise SourceError(f"{place}: no _id", "Give each document an _id, as text.")
        if not isinstance(metadata, dict):
            raise SourceError(
                f"{place}: metadata is not an object", 'Write "metadata": {"type": ...}, or leave it out.'
            )
        title, text = raw.get("title") or "", raw.get("text") or ""
        if not isinstance(title, str) or not isinstance(text, str):
            raise SourceError(f"{place}: title or text is not text", "Write both as JSON strings.")
        return _Record(place, str(identifier), title.strip(), text.strip(), metadata, self._project_of(place, metadata))

    def _project_of(self, place: str, metadata: dict[str, Any]) -> str:
        field = self._options.project_field
        if not field:
            return self._project
        value = metadata.get(field)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise SourceError(
                f"{place}: no metadata.{field}, so the document is in no project",
                "Give each document that field, or leave the option project_field out.",
            )
        return str(value)

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Walk the lines that are not blank with their numbers; a byte order mark is skipped."""
        self._require_file()
        number = 0
        try:
            with self._file.open("rb") as stream:
                for number, raw in enumerate(stream, start=1):
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if line:
                        yield number, line
        except UnicodeDecodeError as error:
            raise SourceError(f"{self._file}:{number}: not UTF-8", "Save the file as UTF-8.") from error
        except OSError as error:
            raise SourceError(f"{self._file}: {error.strerror}", "Check the file and its permissions.") from error

    def _require_file(self) -> None:
        if not self._file.is_file():
            raise SourceError(f"{self._file}: no such file", "Set path to a .jsonl file or to a folder with one.")


def _parse(place: str, line: str) -> dict[str, Any]:
    """Parse one line; what UTF-8 cannot hold (half a surrogate pair) is refused here, not by the catalog."""
    try:
        record = json.loads(line, parse_constant=_refuse)
        if "\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise SourceError(f"{place}: half a surrogate pair", "Write the character itself, in UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(
            f"{place}: not JSON ({getattr(error, 'msg', error)})", "Write one JSON object per line."
        ) from error
    if not isinstance(record, dict):
        raise SourceError(f"{place}: not a JSON object", 'Write one object per line: {"_id": ..., "text": ...}.')
    return record


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


def _time(value: object) -> datetime | None:
    """Read an ISO 8601 date or time, in UTC where it names no zone; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
