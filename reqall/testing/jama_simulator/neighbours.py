"""The endpoints around one item: what belongs to it, stands beside it or refers to it."""

from reqall.testing.jama_simulator.ask import Ask, Endpoint, File, NestedLister, missing, nested
from reqall.testing.jama_simulator.contents import content_of
from reqall.testing.jama_simulator.lists import visible_comments
from reqall.testing.jama_simulator.records import KINDS, Record, as_list
from reqall.testing.jama_simulator.shapes import location
from reqall.testing.jama_simulator.world import World


def _comments(ask: Ask, item: Record) -> list[Record]:
    return [one for one in visible_comments(ask) if one["location"].get("item") == item["id"]]


def _activities(ask: Ask, item: Record) -> list[Record]:
    return [one for one in ask.world.every("activities") if one.get("item") == item["id"]]


def _attached(collection: str) -> NestedLister:
    """List tags or attachments: their record names the items under the key `items`."""
    return lambda ask, item: [one for one in ask.world.every(collection) if item["id"] in one.get("items", [])]


def _linked(near: str, far: str = "") -> NestedLister:
    def listed(ask: Ask, item: Record) -> list[Record]:
        found = [one for one in ask.world.every("relationships") if one[near] == item["id"]]
        if not far:
            return found
        return [ask.world.items[one[far]] for one in found if one[far] in ask.world.items]

    return listed


def _urls(_ask: Ask, item: Record) -> list[Record]:
    return [{**link, "type": "links"} for link in item.get("links", [])]


def _one_of(collection: str, lister: NestedLister, part: str) -> Endpoint:
    def answer(ask: Ask) -> Record:
        found = [one for one in lister(ask, ask.record(collection)) if one["id"] == ask.ids[1]]
        return found[0] if found else missing(part)

    return Endpoint(f"/{collection}/{{id}}/{part}/{{partId}}", "record", answer)


def _twins(ask: Ask, item: Record) -> list[Record]:
    twins = (one for one in ask.world.items.values() if one.get("globalId") == item.get("globalId"))
    return [twin for twin in twins if twin["id"] != item["id"] and item.get("globalId") is not None]


def _sync_status(ask: Ask) -> Record:
    item = ask.record("items")
    twin = next((one for one in _twins(ask, item) if one["id"] == ask.ids[1]), None) or missing("items")
    status: Record = {"inSync": _content(item) == _content(twin), "type": "syncstatus"}
    mine, theirs = _below(ask.world, item), _below(ask.world, twin)
    if mine or theirs:
        shared = mine.keys() & theirs.keys()
        status["collectionSummary"] = {
            "totalChildren": len(mine),
            "totalMissing": len(mine.keys() - theirs.keys()),
            "totalOutOfSync": sum(mine[one] != theirs[one] for one in shared),
        }
    return status


def _below(world: World, item: Record) -> dict[object, object]:
    found = (world.items[child] for child in world.with_descendants(item["id"])[1:])
    return {one.get("globalId"): _content(one) for one in found}


def _content(item: Record) -> Record:
    return {name: value for name, value in item["fields"].items() if name not in ("documentKey", "globalId")}


def _transitions(ask: Ask, item: Record) -> list[Record]:
    """List the statuses that an item can take: every active option but its present one."""
    fields = ask.world.collections["itemtypes"][item["itemType"]].get("fields", [])
    lists = [one.get("pickList") for one in fields if one["name"] == "status"]
    present = as_list(item["fields"].get("status"))
    options = (one for one in ask.world.every("picklistoptions") if one["pickList"] in lists)
    return [
        {"id": str(one["id"]), "action": one["name"], "newStatus": one["id"], "type": "workflowtransitions"}
        for one in options
        if one.get("active", True) and one["id"] not in present
    ]


def _location(ask: Ask) -> Record:
    item = ask.record("items")
    place = ask.world.place(item["id"])
    return location(item, place) if place is not None else missing("items")


def _parent(ask: Ask) -> Record:
    above = ask.record("items")["parent"].get("item")
    return ask.world.items[above] if above is not None else missing("items")


def _lock(collection: str) -> Endpoint:
    def answer(ask: Ask) -> Record:
        return dict(ask.record(collection).get("lock", {"locked": False}))

    return Endpoint(f"/{collection}/{{id}}/lock", "plain", answer)


def _file(ask: Ask) -> File:
    record = ask.record("attachments")
    return File(content_of(record), record.get("mimeType", "application/octet-stream"))


_OF_ITEMS_PLANS_AND_RUNS: dict[str, NestedLister] = {
    "activities": _activities,
    "attachments": _attached("attachments"),
    "comments": _comments,
    "downstreamrelated": _linked("fromItem", "toItem"),
    "downstreamrelationships": _linked("fromItem"),
    "links": _urls,
    "tags": _attached("tags"),
    "upstreamrelated": _linked("toItem", "fromItem"),
    "upstreamrelationships": _linked("toItem"),
}
NEIGHBOURS: tuple[Endpoint, ...] = (
    *(nested(kind, *pair) for kind in ("items", "testplans", "testruns") for pair in _OF_ITEMS_PLANS_AND_RUNS.items()),
    *(_one_of(kind, _urls, "links") for kind in ("items", "testplans", "testruns")),
    *(_one_of(kind, _attached("tags"), "tags") for kind in ("items", "testplans", "testruns")),
    *(_lock(kind) for kind in KINDS if kind != "testcycles"),
    nested("attachments", "comments", _comments),
    Endpoint("/attachments/{id}/file", "file", _file),
    nested("items", "children", lambda ask, item: ask.world.children_of(item["id"])),
    Endpoint("/items/{id}/location", "plain", _location),
    Endpoint("/items/{id}/parent", "record", _parent),
    nested("items", "synceditems", _twins),
    Endpoint("/items/{id}/synceditems/{syncedItemId}/syncstatus", "record", _sync_status),
    nested("items", "workflowtransitionoptions", _transitions),
)
