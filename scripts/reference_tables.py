"""Tables of the reference: JSON Schema and values as Markdown."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

Schema = Mapping[str, Any]
Row = Sequence[str]

REQUIRED = inspect.Parameter.empty
"""Stands for the default of what has none."""


def model_rows(model: type[BaseModel]) -> list[Row]:
    """List the rows of a model; its defaults come from the model, as its schema hides secrets."""
    defaults = {info.alias or name: _default_of(info) for name, info in model.model_fields.items()}
    rows = rows_of(model.model_json_schema(by_alias=True))
    return [(name, kind, shown(defaults[name.strip("`")]), told) for name, kind, _, told in rows]


def _default_of(info: FieldInfo) -> Any:
    return REQUIRED if info.is_required() else info.get_default(call_default_factory=True, validated_data={})


def rows_of(schema: Schema) -> list[Row]:
    """List (name, type, default, description) of an object's properties; no default is required."""
    return [
        (f"`{name}`", kind_of(found), shown(found.get("default", REQUIRED)), found.get("description", ""))
        for name, found in schema.get("properties", {}).items()
    ]


def kind_of(schema: Schema) -> str:
    """Say a JSON Schema type in words, bounds included."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(kind_of(option) for option in choices if option != {"type": "null"})
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {kind_of(schema['items'])}"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), None)
        return f"map of {kind_of(inner)}" if isinstance(inner, dict) else "map"
    kind = {"password": "secret", "path": "path"}.get(schema.get("format", ""), str(schema.get("type", "any")))
    bounds = (("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"))
    return ", ".join([kind, *(f"{word} {schema[bound]:g}" for bound, word in bounds if bound in schema)])


def shown(value: Any) -> str:
    """Show a default; nothing for what is required."""
    if value is REQUIRED:
        return ""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, BaseModel):
        inner = {key: each for key, each in value.model_dump(by_alias=True).items() if each not in (None, {})}
        return f"`{{{', '.join(f'{key}: {each}' for key, each in inner.items())}}}`"
    if value in ("", None, [], {}):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def table(head: Row, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table and a blank one; nothing when there are no rows."""
    if not rows:
        return
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""
