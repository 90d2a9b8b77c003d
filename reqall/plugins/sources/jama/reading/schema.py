"""Jama's item types and their fields, as the rest of the plugin uses them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from reqall import ItemType
from reqall.plugins.sources.jama.http.answers import Row

ATTACHMENT = "ATTACHMENT"
STEPS_FIELDS = ("testCaseSteps", "testRunSteps")

# Told elsewhere in a document than among its sections and fields.
OWN_FIELDS = ("name", "documentKey")


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """A field of an item type; `key` is the readable name under which its value appears."""

    name: str
    label: str
    key: str
    kind: str = ""
    rich: bool = True
    picklist: int | None = None

    @property
    def is_section(self) -> bool:
        """Whether the value is text to be read, rather than a property."""
        return self.kind in ("TEXT", "RICHTEXT", "STEPS")


@dataclass(frozen=True, slots=True)
class TypeSchema:
    """An item type; `fields` maps the names that items use to their schema, in Jama's order."""

    id: int
    name: str
    plural: str = ""
    type_key: str = ""
    category: str = ""
    fields: Mapping[str, FieldSchema] = field(default_factory=dict)

    def described(self) -> ItemType:
        """Return what the rest of reqall knows of a type: readable field names and labels."""
        labels = {each.key: each.label for name, each in self.fields.items() if name not in OWN_FIELDS}
        return ItemType(str(self.id), self.name, labels)


def bare(name: str) -> str:
    """Return a field's name without the item type that custom fields carry: `object$86` -> `object`."""
    return name.partition("$")[0]


def readable(name: str) -> str:
    """Return a name as lower_snake_case; letters of any script stay."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def readable_name(name: str) -> str:
    """Return a field's technical name as lower_snake_case: `actualResults` -> `actual_results`."""
    return readable(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare(name)))


def parse_type(row: Row) -> TypeSchema:
    """Read an item type of `/itemtypes`."""
    fields: dict[str, FieldSchema] = {}
    taken = {"description", "test_steps"}
    for each in row.get("fields") or ():
        name = each.get("name")
        if isinstance(name, str) and name:
            fields[name] = _parse_field(name, each, taken)
    return TypeSchema(
        id=int(row["id"]),
        name=str(row.get("display") or row.get("typeKey") or row["id"]),
        plural=str(row.get("displayPlural") or ""),
        type_key=str(row.get("typeKey") or ""),
        category=str(row.get("category") or ""),
        fields=fields,
    )


def _parse_field(name: str, row: Row, taken: set[str]) -> FieldSchema:
    kind, picklist = str(row.get("fieldType") or ""), row.get("pickList")
    label = str(row.get("label") or bare(name))
    return FieldSchema(
        name=name,
        label=label,
        key=_key(name, label, kind, taken),
        kind="STEPS" if bare(name) in STEPS_FIELDS else kind,
        rich=row.get("textType") != "TEXTAREA",
        picklist=picklist if isinstance(picklist, int) else None,
    )


def _key(name: str, label: str, kind: str, taken: set[str]) -> str:
    """Choose a readable key that no other field of the type has."""
    if name == "description":
        return "description"
    if bare(name) in STEPS_FIELDS or (kind == "STEPS" and "test_steps" not in taken):
        return "test_steps"
    first = readable(label) or readable_name(name) or "field"
    choices = [first, readable_name(name), *(f"{first}_{n}" for n in range(2, len(taken) + 3))]
    key = next(choice for choice in choices if choice and choice not in taken)
    taken.add(key)
    return key


def undefined(name: str) -> FieldSchema:
    """Return the schema of a field that its item type does not define."""
    if bare(name) in STEPS_FIELDS:
        return FieldSchema(name, "Test steps", "test_steps", "STEPS")
    kind = {"description": "TEXT", "actualResults": "TEXT", "status": "LOOKUP"}.get(bare(name), "")
    return FieldSchema(name, bare(name), readable_name(name), kind)
