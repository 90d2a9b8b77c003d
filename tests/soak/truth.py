"""What a simulated Jama holds of a project, and what a catalog holds: comparable, and found independently."""

from typing import NamedTuple

from reqall.testing.jama_simulator.records import plain_text

PROJECT, OTHER = 2, 3
ATTACHMENT = 22
_STATUS_FIELDS = ("status", "testCaseStatus", "testRunStatus")


class Told(NamedTuple):
    """A document, as far as it is compared."""

    key: str
    name: str
    text: str
    status: str | None
    parent: str | None


def true_documents(world, project=PROJECT):
    """Read the documents of the simulator's project, by id."""
    with world.lock:
        return {
            f"jama:{item['id']}": _told(world, item)
            for item in world.items.values()
            if item["project"] == project and item["itemType"] != ATTACHMENT
        }


def true_links(world, project=PROJECT):
    """Read the relationships with an end in the project; two between the same items of one type are one link."""
    with world.lock:
        inside = {item["id"] for item in world.items.values() if item["project"] == project}
        names = {one["id"]: one["name"] for one in world.every("relationshiptypes")}
        return {
            (f"jama:{one['fromItem']}", f"jama:{one['toItem']}", names[one["relationshipType"]]): bool(one["suspect"])
            for one in sorted(world.every("relationships"), key=lambda one: one["id"])
            if inside & {one["fromItem"], one["toItem"]}
        }


def held_documents(catalog, project=PROJECT):
    """Read the documents of the catalog, by id."""
    return {
        found.id: Told(
            found.key,
            found.name,
            " ".join(found.sections.get("description", "").split()),
            found.status,
            found.parent_id,
        )
        for found in catalog.walk(f"jama:{project}")
    }


def held_links(catalog, project=PROJECT):
    """Read the links of the catalog."""
    return {(link.from_id, link.to_id, link.type): link.suspect for link in catalog.links(f"jama:{project}")}


def differences(catalog, world, project=PROJECT):
    """Say what the catalog has otherwise than the simulator: (what, catalog's, simulator's)."""
    found = []
    for held, true in (
        (held_documents(catalog, project), true_documents(world, project)),
        (held_links(catalog, project), true_links(world, project)),
    ):
        found += [(key, held.get(key), true.get(key)) for key in held | true if held.get(key) != true.get(key)]
    return found


def _told(world, item):
    fields = item["fields"]
    status = next((fields[name] for name in _STATUS_FIELDS if fields.get(name) is not None), None)
    if isinstance(status, int):
        status = world.find("picklistoptions", status)["name"]
    parent = (item.get("parent") or {}).get("item") if item["type"] == "items" else None
    text = plain_text(fields.get("description") or "")
    return Told(
        item["documentKey"], fields.get("name", ""), text, status, f"jama:{parent}" if parent is not None else None
    )
