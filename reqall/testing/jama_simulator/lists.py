"""The lists of the API's first level, each with the filters that it knows."""

import re
from collections.abc import Sequence

from reqall.testing.jama_simulator.ask import Ask, File, Lister, missing
from reqall.testing.jama_simulator.contents import content_of
from reqall.testing.jama_simulator.query import ApiError
from reqall.testing.jama_simulator.records import Record
from reqall.testing.jama_simulator.search import select_items, sort_items
from reqall.testing.jama_simulator.world import World

_ITEM_EVENTS = ("ITEM", "ITEM_ATTACHMENT", "TEST_PLAN", "TEST_CYCLE", "TEST_RUN")
_FILTER_SCOPES = {"ALL_PROJECTS": "ALL", "BOUND_PROJECT": "SPECIFIED", "CURRENT_PROJECT": "CURRENT"}
_ATTACHMENT_URL = re.compile(r"https?://[^/]+(?:/[^?]*)?/attachment/(\d+)(?:/[^/]*)?")


def everything(collection: str) -> Lister:
    """List all records of a collection."""
    return lambda ask: ask.world.every(collection)


def of_project(collection: str) -> Lister:
    """List the records of the one project that has to be named."""

    def listed(ask: Ask) -> list[Record]:
        project = ask.project()
        return [record for record in ask.world.every(collection) if record.get("project") == project]

    return listed


def items(ask: Ask) -> list[Record]:
    """List the tree of one project, containers included; an itemType here changes nothing."""
    project = ask.project()
    found = [record for record in ask.world.every("items") if record["project"] == project]
    if ask.params.flag("rootOnly"):
        found = [record for record in found if "item" not in record["parent"]]
    return sort_items(ask.world, found, ("sequence.asc",))


def abstract_items(ask: Ask) -> list[Record]:
    """Search items, test objects and attachments."""
    return select_items(ask.world, ask.faults, ask.params)


def users(ask: Ask) -> list[Record]:
    """List users, the inactive ones on request."""
    found = ask.world.every("users")
    if not ask.params.flag("includeInactive"):
        found = [record for record in found if record.get("active", True)]
    for name in ("username", "email", "firstName", "lastName", "licenseType"):
        if (wanted := ask.params.one(name)) is not None:
            found = [record for record in found if record.get(name) == wanted]
    return found


def user_groups(ask: Ask) -> list[Record]:
    """List the groups of users, those of one project when it is named."""
    projects = ask.params.integers("project")
    return [one for one in ask.world.every("usergroups") if not projects or one.get("project") in projects]


def filters(ask: Ask) -> list[Record]:
    """List filters by project, author and scope."""
    params, found = ask.params, visible_filters(ask.world)
    if projects := params.integers("project"):
        found = [one for one in found if one.get("specifiedProject") in (None, *projects)]
    if authors := params.integers("author"):
        found = [one for one in found if one.get("author") in authors]
    if scopes := [_FILTER_SCOPES.get(scope, scope) for scope in params.many("filterScope")]:
        found = [one for one in found if one.get("projectScope") in scopes]
    return found


def visible_filters(world: World) -> list[Record]:
    """Return the filters that are public or the current user's own."""
    return [one for one in world.every("filters") if one.get("public") or one.get("author") == world.actor]


def filter_results(ask: Ask, one: Record) -> list[Record]:
    """List what a filter finds; one without a project of its own runs on the project named."""
    found = known(ask.world, one.get("items", []))
    if one.get("projectScope") == "CURRENT":
        project = ask.project()
        found = [item for item in found if item["project"] == project]
    if (moments := ask.params.moments("lastActivityDate")) is not None:
        found = [item for item in found if moments.has(item.get("lastActivityDate"))]
    return found


def known(world: World, identifiers: Sequence[int]) -> list[Record]:
    """Return those of the items that are still there."""
    return [world.items[identifier] for identifier in identifiers if identifier in world.items]


def visible_comments(ask: Ask) -> list[Record]:
    """List comments of all projects, or only those that are no replies."""
    found = comments_on_items(ask.world)
    if ask.params.flag("rootCommentsOnly"):
        found = [comment for comment in found if not comment.get("inReplyTo")]
    return found


def comments_on_items(world: World) -> list[Record]:
    """Return the comments on what is there; those on deleted items have gone with them."""
    located = ((comment, comment.get("location", {}).get("item")) for comment in world.every("comments"))
    return [comment for comment, item in located if item is None or item in world.items]


def activities(ask: Ask) -> list[Record]:
    """List a project's activities, the newest first."""
    world, params = ask.world, ask.params
    project = ask.project()
    found = [one for one in world.every("activities") if _project_of_activity(world, one) == project]
    if params.flag("deleteEvents"):
        found = [one for one in found if _is_item_deletion(one)]
    for name in ("eventType", "objectType"):
        if wanted := params.many(name):
            found = [one for one in found if one[name] in wanted]
    if types := params.integers("itemType"):
        found = [one for one in found if (_item_of_activity(world, one) or {}).get("itemType") in types]
    if (moments := params.moments("date")) is not None:
        found = [one for one in found if moments.has(one["date"])]
    return sorted(found, key=lambda one: (one["date"], one["id"]), reverse=True)


def _is_item_deletion(activity: Record) -> bool:
    return activity["eventType"] in ("DELETE", "BATCH_DELETE") and activity["objectType"] in _ITEM_EVENTS


def _item_of_activity(world: World, activity: Record) -> Record | None:
    item = activity.get("item")
    return world.items.get(item) or world.deleted.get(item) if item is not None else None


def _project_of_activity(world: World, activity: Record) -> object:
    return activity.get("project") or (_item_of_activity(world, activity) or {}).get("project")


def affected_items(ask: Ask, activity: Record) -> list[Record]:
    """List what an activity touched; whether that has deleted items is one of the switches."""
    found = dict(ask.world.items)
    if ask.faults.affected_items_after_delete:
        found |= ask.world.deleted
    return [found[item] for item in activity.get("affected", [activity.get("item")]) if item in found]


def relationships(ask: Ask) -> list[Record]:
    """List the relationships with an end in the project, by ascending id."""
    project = ask.project()
    inside = {item["id"] for item in ask.world.items.values() if item["project"] == project}
    found = [one for one in ask.world.every("relationships") if inside & {one["fromItem"], one["toItem"]}]
    return sorted(found, key=lambda one: int(one["id"]))


def item_types_in_use(ask: Ask, project: Record) -> list[Record]:
    """List a project's item types: those it names, else those of its items."""
    inside = (item["itemType"] for item in ask.world.items.values() if item["project"] == project["id"])
    used = set(project.get("itemTypes") or inside)
    return [one for one in ask.world.every("itemtypes") if one["id"] in used]


def file_by_url(ask: Ask) -> File:
    """Return the file behind the address that a rich text shows, whatever host it names."""
    if (url := ask.params.one("url")) is None:
        raise ApiError(400, "The url parameter is required.")
    if (match := _ATTACHMENT_URL.fullmatch(url)) is None:
        raise ApiError(400, "The url parameter is no address of an attachment.")
    record = ask.world.find("attachments", int(match[1])) or missing("attachments")
    return File(content_of(record), record.get("mimeType", "application/octet-stream"))
