"""Makes documents of Jama's items."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from reqall import Document, JsonValue
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.resolve import MasterData
from reqall.plugins.sources.jama.reading.schema import OWN_FIELDS, FieldSchema, TypeSchema, undefined
from reqall.plugins.sources.jama.text.html import html_text, one_line, plain_text

_STATUS_FIELDS = ("status", "testCaseStatus", "testRunStatus")

_STEP_PARTS = (
    ("action", "Action"),
    ("expectedResult", "Expected"),
    ("notes", "Notes"),
    ("status", "Status"),
    ("result", "Result"),
)


class ItemReader:
    """Reads rows of `/abstractitems`; `source` is the configured name, `base` Jama's address."""

    def __init__(self, source: str, base: str, master: MasterData) -> None:
        self._source = source
        self._base = base
        self._master = master

    def document(self, row: Row, project_id: str) -> Document:
        """Return the item as a document of the project, its ids resolved and its rich text cleaned."""
        schema = self.type_of(row)
        status_field, status = self._status(row, schema)
        sections, fields = self._contents(row, schema, besides=(*OWN_FIELDS, status_field))
        parent = ((row.get("location") or {}).get("parent") or {}).get("item")
        return Document(
            id=f"{self._source}:{row['id']}",
            source=self._source,
            project_id=project_id,
            key=str(row.get("documentKey") or ""),
            type_id=str(row.get("itemType") or ""),
            type_name=schema.name,
            name=self.name(row),
            status=status,
            sections=sections,
            fields=fields,
            parent_id=f"{self._source}:{parent}" if parent else None,
            url=self.url(row),
            created=moment(row.get("createdDate")),
            modified=moment(row.get("modifiedDate")),
        )

    def type_of(self, row: Row) -> TypeSchema:
        """Return the item's type; one that Jama does not list is named by its id."""
        identifier = row.get("itemType")
        known = self._master.item_types().get(identifier) if isinstance(identifier, int) else None
        return known or TypeSchema(0, f"item type {identifier}")

    def name(self, row: Row) -> str:
        """Return the item's name, which is plain text in Jama."""
        return one_line(str(_fields(row).get("name") or ""))

    def status(self, row: Row) -> str | None:
        """Return the text of the first status field that has a value."""
        return self._status(row, self.type_of(row))[1]

    def _status(self, row: Row, schema: TypeSchema) -> tuple[str, str | None]:
        for name in (each for status in _STATUS_FIELDS for each in (status, f"{status}${schema.id}")):
            definition = schema.fields.get(name) or undefined(name)
            value = self._master.resolve(definition, _fields(row).get(name), _project(row))
            if value is not None:
                return name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        return "", None

    def url(self, row: Row) -> str:
        """Return the address at which a browser shows the item."""
        return f"{self._base}/perspective.req#/items/{row['id']}?projectId={row.get('project')}"

    def _contents(
        self, row: Row, schema: TypeSchema, besides: Sequence[str]
    ) -> tuple[dict[str, str], dict[str, JsonValue]]:
        sections: dict[str, str] = {"description": ""}
        fields: dict[str, JsonValue] = {}
        for definition, value in _defined(row, schema, besides):
            if definition.kind == "STEPS" or _holds_steps(value):
                text = steps_text(value)
                sections[_free(definition.key, sections)] = text
            elif definition.is_section and isinstance(value, str):
                text = html_text(value) if definition.rich else plain_text(value)
                sections[_free(definition.key, sections)] = text
            elif (resolved := self._master.resolve(definition, value, _project(row))) is not None:
                fields[_free(definition.key, fields)] = resolved
        return {name: text for name, text in sections.items() if text}, fields


def _defined(row: Row, schema: TypeSchema, besides: Sequence[str]) -> Iterator[tuple[FieldSchema, Any]]:
    """Pair values with their definitions, in the order of the type; undefined fields come last."""
    values = _fields(row)
    names = [*(name for name in schema.fields if name in values), *(n for n in values if n not in schema.fields)]
    for name in names:
        if name not in besides and values[name] is not None:
            yield schema.fields.get(name) or undefined(name), values[name]


def _free(key: str, taken: dict[str, Any]) -> str:
    """Return the key, numbered when another field already has a value under it."""
    choices = [key, *(f"{key}_{n}" for n in range(2, len(taken) + 3))]
    return next(choice for choice in choices if not taken.get(choice))


def _holds_steps(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(each, dict) and "action" in each for each in value)
    )


def steps_text(steps: Any) -> str:
    """Return test steps as numbered text: `1. Action: ... Expected: ... Notes: ...`."""
    lines = []
    for number, step in enumerate(steps if isinstance(steps, list) else (), start=1):
        texts = [(label, html_text(str(step.get(part) or ""))) for part, label in _STEP_PARTS if isinstance(step, dict)]
        parts = [f"{label}: {text}" for label, text in texts if text]
        if parts:
            separator = "\n" if any("\n" in part for part in parts) else " "
            lines.append(f"{number}. {separator.join(parts)}".replace("\n", "\n   "))
    return "\n".join(lines)


def moment(value: Any) -> datetime | None:
    """Read Jama's `2024-04-03T11:18:23.000+0000` as an aware time in UTC; None for anything else."""
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if parsed is None:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)


def iso(value: datetime | None) -> str:
    """Write a time as `2024-04-03T11:18:23Z`; nothing for None."""
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if value else ""


def _fields(row: Row) -> Row:
    fields = row.get("fields")
    return fields if isinstance(fields, dict) else {}


def _project(row: Row) -> int:
    project = row.get("project")
    return project if isinstance(project, int) else 0
