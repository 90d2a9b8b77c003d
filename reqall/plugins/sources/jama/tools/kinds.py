"""Where Jama keeps an item: test objects and attachments have endpoints of their own."""

from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.schema import ATTACHMENT, TypeSchema
from reqall.plugins.sources.jama.tools.endpoint_table import endpoint_of

_BY_CATEGORY = {
    ATTACHMENT: "attachments",
    "TEST_PLAN": "testplans",
    "TEST_CYCLE": "testcycles",
    "TEST_RUN": "testruns",
}


def kind_of(row: Row, schema: TypeSchema) -> str:
    """Return the collection that an item is in: items, testplans, testcycles, testruns or attachments."""
    said = str(row.get("type"))
    return said if said in _BY_CATEGORY.values() else _BY_CATEGORY.get(schema.category, "items")


def part_of(row: Row, schema: TypeSchema, part: str) -> str | None:
    """Return the path of a part of an item, such as its comments; None when its kind has no such part."""
    path = f"/{kind_of(row, schema)}/{row['id']}/{part}"
    return path if endpoint_of(path) else None
