"""How a record looks when it is served: the derived parts, and what it refers to."""

from collections.abc import Iterator
from typing import Any

from reqall.testing.jama_simulator.contents import content_of
from reqall.testing.jama_simulator.records import KINDS, Place, Record, as_list
from reqall.testing.jama_simulator.world import World

# Kept in a record to derive other answers from, never served.
_ONLY_INSIDE = {"affected", "content", "favorite", "items", "itemTypes", "links", "projects", "users"}
_ONLY_INSIDE_OF = {
    "activities": {"project"},
    "relationships": {"createdDate", "deletedDate"},
    "testgroups": {"testPlan", "testCases"},
}
_STEP_OF_GLOBAL_ORDER = 4902930
_REFERENCES = {
    "author": "users",
    "childItemType": "itemtypes",
    "createdBy": "users",
    "fromItem": "items",
    "inReplyTo": "comments",
    "item": "items",
    "itemType": "itemtypes",
    "location.item": "items",
    "location.parent.item": "items",
    "location.parent.project": "projects",
    "location.project": "projects",
    "modifiedBy": "users",
    "parent": "projects",
    "pickList": "picklists",
    "project": "projects",
    "relationshipType": "relationshiptypes",
    "toItem": "items",
    "user": "users",
}
_FIELD_REFERENCES = {
    "LOOKUP": "picklistoptions",
    "MULTI_LOOKUP": "picklistoptions",
    "PROJECT": "projects",
    "RELEASE": "releases",
    "USER": "users",
}
_WIDGETS = ("ACTIVITIES", "RELATIONSHIPS", "SYNCHRONIZED_ITEMS", "ATTACHMENTS", "URLS", "TAGS", "HISTORY")


def served(world: World, record: Record, *, full_dates: bool = False) -> Record:
    """Return a record as the API shows it; `full_dates` keeps the time in date fields."""
    kind = record["type"]
    if kind in KINDS:
        return _item(world, record, full_dates=full_dates)
    if kind == "itemtypes":
        return _item_type(record)
    inside = _ONLY_INSIDE | _ONLY_INSIDE_OF.get(kind, set())
    shown = {name: value for name, value in record.items() if name not in inside}
    if kind == "releases":
        shown.setdefault("itemCount", _count_in_release(world, record["id"]))
    return shown


def location(record: Record, place: Place) -> Record:
    """Return the location of an item of the tree."""
    return {
        "sortOrder": place.sort_order,
        "globalSortOrder": place.rank * _STEP_OF_GLOBAL_ORDER,
        "sequence": ".".join(map(str, place.sequence)),
        "parent": dict(record["parent"]),
    }


def references(world: World, shown: Record) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the link key, the collection and the ids of all that a served record refers to."""
    for path, collection in _REFERENCES.items():
        if isinstance(value := _at(shown, path), int):
            yield f"data.{path}", collection, [value]
    if shown["type"] not in KINDS:
        return
    types = _field_types(world, shown)
    for name, value in shown["fields"].items():
        target = _FIELD_REFERENCES.get(types.get(name, ""))
        ids = [entry for entry in as_list(value) if isinstance(entry, int)]
        if ids and target:
            yield f"data.fields.{name}", target, ids


def _item(world: World, record: Record, *, full_dates: bool) -> Record:
    shown = {name: value for name, value in record.items() if name not in _ONLY_INSIDE and name != "parent"}
    keys = {"documentKey": record["documentKey"], "globalId": record.get("globalId")}
    shown["fields"] = {**keys, **record["fields"]}
    if not full_dates:
        for name, kind in _field_types(world, record).items():
            if kind == "DATE" and isinstance(value := shown["fields"].get(name), str):
                shown["fields"][name] = value[:10]
    shown["resources"] = {"self": {"allowed": ["GET", "PUT", "PATCH", "DELETE"]}}
    _add_derived(world, record, shown)
    return shown


def _add_derived(world: World, record: Record, shown: Record) -> None:
    """Add what an item's kind has besides; a snapshot of the past (with a version) has no place and no lock."""
    kind, is_snapshot = record["type"], "version" in record
    shown.pop("lock", None)
    if kind == "items" and not is_snapshot and (place := world.place(record["id"])) is not None:
        shown["location"] = location(record, place)
    if kind in ("items", "attachments") and not is_snapshot:
        shown["lock"] = record.get("lock", {"locked": False})
    if kind == "attachments":
        shown["fileSize"] = len(content_of(record))
    if kind == "testruns" and (case := world.items.get(record["fields"].get("testCase"))) is not None:
        shown["testCaseCurrentVersionNumber"] = world.versions.current(case)


def _item_type(record: Record) -> Record:
    # A set has no relationships, hence no widget for them.
    is_set = record.get("category") == "SET"
    widgets = [{"name": name, "synchronize": False} for name in _WIDGETS if not (is_set and name == "RELATIONSHIPS")]
    shown = {"description": None, "image": f"/img/{record['id']}.png", "system": False, "widgets": widgets, **record}
    shown["fields"] = [
        _item_type_field(record["id"], number, field) for number, field in enumerate(record.get("fields", []), 1)
    ]
    return shown


def _item_type_field(item_type: int, number: int, field: Record) -> dict[str, Any]:
    return {
        "id": item_type * 1000 + number,
        "readOnly": field["name"] in ("documentKey", "globalId"),
        "readOnlyAllowApiOverwrite": False,
        "required": field["name"] == "name",
        "triggerSuspect": False,
        "synchronize": False,
        "itemType": item_type,
        **field,
    }


def _field_types(world: World, record: Record) -> dict[str, str]:
    item_type = world.find("itemtypes", record["itemType"]) or {}
    return {field["name"]: field.get("fieldType", "") for field in item_type.get("fields", [])}


def _count_in_release(world: World, release: int) -> int:
    return sum(release in as_list(item["fields"].get("release")) for item in world.items.values())


def _at(record: Record, path: str) -> object:
    value: object = record
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
