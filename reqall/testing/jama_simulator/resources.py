"""The resources of the API: which records each list, single and nested path stands for."""

from collections.abc import Callable
from dataclasses import dataclass

from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.query import ApiError, Params, sort_records
from reqall.testing.jama_simulator.records import COLLECTIONS, KINDS, Record
from reqall.testing.jama_simulator.search import as_list, select_items, sort_items
from reqall.testing.jama_simulator.world import World


@dataclass(frozen=True)
class Ask:
    """One request, as the resources need it."""

    world: World
    faults: Faults
    params: Params


Lister = Callable[[Ask], list[Record]]
NestedLister = Callable[[Ask, Record], list[Record]]


def _all(collection: str) -> Lister:
    return lambda ask: ask.world.every(collection)


def _of_project(collection: str) -> Lister:
    def listed(ask: Ask) -> list[Record]:
        project = _existing_project(ask)
        return [record for record in ask.world.every(collection) if record.get("project") == project]

    return listed


def _existing_project(ask: Ask) -> int:
    project = ask.params.project()
    if ask.world.find("projects", project) is None:
        raise ApiError(404, "Project not found")
    return project


def _items(ask: Ask) -> list[Record]:
    """List the tree of one project, containers included; an itemType here changes nothing."""
    project = _existing_project(ask)
    found = [record for record in ask.world.every("items") if record["project"] == project]
    if ask.params.flag("rootOnly"):
        found = [record for record in found if "item" not in record["parent"]]
    return sort_items(ask.world, found, ("sequence.asc",))


def _users(ask: Ask) -> list[Record]:
    found = ask.world.every("users")
    if not ask.params.flag("includeInactive"):
        found = [record for record in found if record.get("active", True)]
    for name in ("username", "email", "firstName", "lastName", "licenseType"):
        if (wanted := ask.params.one(name)) is not None:
            found = [record for record in found if record.get(name) == wanted]
    return found


def _filters(ask: Ask) -> list[Record]:
    projects = ask.params.integers("project")
    found = ask.world.every("filters")
    return [one for one in found if not projects or one.get("specifiedProject") in (None, *projects)]


def _comments(ask: Ask) -> list[Record]:
    """List comments of all projects; those on deleted items have gone with them."""
    located = ((comment, comment.get("location", {}).get("item")) for comment in ask.world.every("comments"))
    found = [comment for comment, item in located if item is None or item in ask.world.items]
    if ask.params.flag("rootCommentsOnly"):
        found = [comment for comment in found if not comment.get("inReplyTo")]
    return found


def _activities(ask: Ask) -> list[Record]:
    """List a project's activities, the newest first."""
    world, params = ask.world, ask.params
    project = _existing_project(ask)
    found = [one for one in world.every("activities") if _project_of_activity(world, one) == project]
    if params.flag("deleteEvents"):
        found = [one for one in found if _is_item_deletion(one)]
    for name in ("eventType", "objectType"):
        if wanted := params.many(name):
            found = [one for one in found if one[name] in wanted]
    if types := params.integers("itemType"):
        found = [one for one in found if (_known_item(world, one) or {}).get("itemType") in types]
    if (moments := params.moments("date")) is not None:
        found = [one for one in found if moments.has(one["date"])]
    return sorted(found, key=lambda one: (one["date"], one["id"]), reverse=True)


def _is_item_deletion(activity: Record) -> bool:
    kinds = ("ITEM", "ITEM_ATTACHMENT", "TEST_PLAN", "TEST_CYCLE", "TEST_RUN")
    return activity["eventType"] in ("DELETE", "BATCH_DELETE") and activity["objectType"] in kinds


def _known_item(world: World, activity: Record) -> Record | None:
    item = activity.get("item")
    return world.items.get(item) or world.deleted.get(item) if item is not None else None


def _project_of_activity(world: World, activity: Record) -> object:
    return activity.get("project") or (_known_item(world, activity) or {}).get("project")


def _affected(ask: Ask, activity: Record) -> list[Record]:
    known = dict(ask.world.items)
    if ask.faults.affected_items_after_delete:
        known |= ask.world.deleted
    return [known[item] for item in activity.get("affected", [activity.get("item")]) if item in known]


def relationships_of_project(ask: Ask) -> list[Record]:
    """List the relationships with an end in the project, by ascending id."""
    project = _existing_project(ask)
    inside = {item["id"] for item in ask.world.items.values() if item["project"] == project}
    found = [one for one in ask.world.every("relationships") if inside & {one["fromItem"], one["toItem"]}]
    return sorted(found, key=lambda one: int(one["id"]))


def _test_runs(ask: Ask) -> list[Record]:
    found = ask.world.every("testruns")
    cycles, cases, plans = (set(ask.params.integers(name)) for name in ("testCycle", "testCase", "testPlan"))
    if cycles:
        found = [run for run in found if cycle_of(run) in cycles]
    if cases:
        found = [run for run in found if cases & set(as_list(run["fields"].get("testCase")))]
    if plans:
        found = [run for run in found if plan_of(ask.world, run) in plans]
    orders = ask.params.many("sortBy") or ("documentKey.asc",)
    return sort_records(found, orders, lambda run, name: run.get(name, run["fields"].get(name)))


def cycle_of(run: Record) -> object:
    """Return the cycle of a test run, which stands first in its test group."""
    group = run.get("testGroup")
    return group[0] if group else run["fields"].get("testCycle")


def plan_of(world: World, run: Record) -> object:
    """Return the test plan of a test run, by way of its cycle."""
    cycle = cycle_of(run)
    record = world.find("testcycles", cycle) if isinstance(cycle, int) else None
    return record["fields"].get("testPlan") if record else run["fields"].get("testPlan")


def _linked(near: str, far: str) -> NestedLister:
    def listed(ask: Ask, item: Record) -> list[Record]:
        found = [one for one in ask.world.every("relationships") if one[near] == item["id"]]
        if not far:
            return found
        return [ask.world.items[one[far]] for one in found if one[far] in ask.world.items]

    return listed


def _attached(collection: str) -> NestedLister:
    """List tags or attachments: their record names the items under the key `items`."""
    return lambda ask, item: [one for one in ask.world.every(collection) if item["id"] in one.get("items", [])]


def _item_types_in_use(ask: Ask, project: Record) -> list[Record]:
    named = project.get("itemTypes")
    used = set(named or (item["itemType"] for item in ask.world.items.values() if item["project"] == project["id"]))
    return [one for one in ask.world.every("itemtypes") if one["id"] in used]


def _synced(ask: Ask, item: Record) -> list[Record]:
    twins = (one for one in ask.world.items.values() if one.get("globalId") == item.get("globalId"))
    return [twin for twin in twins if twin["id"] != item["id"] and item.get("globalId") is not None]


LISTS: dict[str, Lister] = {
    "abstractitems": lambda ask: select_items(ask.world, ask.faults, ask.params),
    "activities": _activities,
    "baselines": _of_project("baselines"),
    "comments": _comments,
    "filters": _filters,
    "items": _items,
    "itemtypes": _all("itemtypes"),
    "picklists": _all("picklists"),
    "projects": _all("projects"),
    "relationships": relationships_of_project,
    "relationshiprulesets": _all("relationshiprulesets"),
    "relationshiptypes": _all("relationshiptypes"),
    "releases": _of_project("releases"),
    "tags": _of_project("tags"),
    "testplans": _of_project("testplans"),
    "testruns": _test_runs,
    "usergroups": _all("usergroups"),
    "users": _users,
}
SINGLES = ("abstractitems", *COLLECTIONS, *KINDS)
_OF_ANY_KIND: dict[str, NestedLister] = {
    "activities": lambda ask, item: [one for one in ask.world.every("activities") if one.get("item") == item["id"]],
    "attachments": _attached("attachments"),
    "comments": lambda ask, item: [one for one in _comments(ask) if one["location"].get("item") == item["id"]],
    "downstreamrelated": _linked("fromItem", "toItem"),
    "downstreamrelationships": _linked("fromItem", ""),
    "links": lambda _ask, item: list(item.get("links", [])),
    "tags": _attached("tags"),
    "upstreamrelated": _linked("toItem", "fromItem"),
    "upstreamrelationships": _linked("toItem", ""),
}
NESTED: dict[tuple[str, str], NestedLister] = {
    **{(kind, part): lister for kind in KINDS for part, lister in _OF_ANY_KIND.items()},
    ("activities", "affecteditems"): _affected,
    ("comments", "replies"): lambda ask, one: [c for c in _comments(ask) if c.get("inReplyTo") == one["id"]],
    ("filters", "results"): lambda ask, one: [ask.world.items[i] for i in one.get("items", []) if i in ask.world.items],
    ("items", "children"): lambda ask, item: ask.world.children_of(item["id"]),
    ("items", "synceditems"): _synced,
    ("picklists", "options"): lambda ask, one: [
        option for option in ask.world.every("picklistoptions") if option["pickList"] == one["id"]
    ],
    ("projects", "itemtypes"): _item_types_in_use,
    ("projects", "tags"): lambda ask, one: [tag for tag in ask.world.every("tags") if tag["project"] == one["id"]],
    ("tags", "items"): lambda ask, one: [ask.world.items[i] for i in one.get("items", []) if i in ask.world.items],
    ("testcycles", "testruns"): lambda ask, one: [
        run for run in ask.world.every("testruns") if cycle_of(run) == one["id"]
    ],
    ("testplans", "testcycles"): lambda ask, one: [
        cycle for cycle in ask.world.every("testcycles") if cycle["fields"].get("testPlan") == one["id"]
    ],
}
