"""Makes rows of lists out of Jama's objects: names resolved, times in UTC, texts cleaned."""

from collections.abc import Sequence
from typing import Any, TypedDict

from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.items import iso, moment
from reqall.plugins.sources.jama.reading.schema import FieldSchema
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.tools.excerpts import line
from reqall.plugins.sources.jama.tools.paging import Taken
from reqall.plugins.sources.jama.tools.results import ItemRow
from reqall.plugins.sources.jama.tools.statuses import status_text

_USER = FieldSchema("user", "User", "user", "USER")


class Facts(TypedDict):
    """What every page of a list says about itself."""

    total: int
    returned: int
    cursor: str
    note: str


def facts(taken: Taken[Any], scope: Sequence[object], note: str = "") -> Facts:
    """Return the paging facts of a page; `scope` is the question that the cursor belongs to."""
    cursor = taken.following.text(*scope) if taken.following else ""
    return Facts(total=taken.total, returned=len(taken.shown), cursor=cursor, note=note)


def item_row(source: JamaSource, row: Row, status: str | None = None) -> ItemRow:
    """Return an item as one row of a list, with its own status or the one that is given."""
    reader = source.reader
    schema = reader.type_of(row)
    return ItemRow(
        item_id=str(row["id"]),
        key=line(row.get("documentKey")),
        name=line(reader.name(row)),
        type=line(schema.name),
        status=line(status_text(source.master, row, schema) if status is None else status),
        modified=when(row, "modifiedDate"),
        url=reader.url(row),
    )


def when(row: Row, name: str) -> str:
    """Return a time of a row in ISO 8601, UTC; nothing when it has none."""
    return iso(moment(row.get(name)))


def person(source: JamaSource, identifier: object) -> str:
    """Return a user's name, or the id where users may not be read; nothing for nobody."""
    return line(source.master.resolve(_USER, identifier, 0))


def field_of(row: Row, name: str) -> Any:
    """Return the value of an item's field, or None."""
    fields = row.get("fields")
    return fields.get(name) if isinstance(fields, dict) else None


def number(value: object, otherwise: int = -1) -> int:
    """Return a count, or -1 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
