"""Every reading endpoint of the API below its version, with what answers it."""

from reqall.testing.jama_simulator import lists
from reqall.testing.jama_simulator.ask import Ask, Endpoint, Lister, missing, nested, single
from reqall.testing.jama_simulator.neighbours import NEIGHBOURS
from reqall.testing.jama_simulator.records import KINDS, Record
from reqall.testing.jama_simulator.snapshots import SNAPSHOTS
from reqall.testing.jama_simulator.testcenter import TEST_CENTER

_LISTS: dict[str, Lister] = {
    "abstractitems": lists.abstract_items,
    "activities": lists.activities,
    "baselines": lists.of_project("baselines"),
    "comments": lists.visible_comments,
    "filters": lists.filters,
    "items": lists.items,
    "itemtypes": lists.everything("itemtypes"),
    "picklists": lists.everything("picklists"),
    "projects": lists.everything("projects"),
    "relationships": lists.relationships,
    "relationshiprulesets": lists.everything("relationshiprulesets"),
    "relationshiptypes": lists.everything("relationshiptypes"),
    "releases": lists.of_project("releases"),
    "tags": lists.of_project("tags"),
    "testplans": lists.of_project("testplans"),
    "usergroups": lists.user_groups,
    "users": lists.users,
}
_SINGLES = (
    "abstractitems",
    "activities",
    "baselines",
    "comments",
    "filters",
    "itemtypes",
    "picklistoptions",
    "picklists",
    "projects",
    "relationshiprulesets",
    "relationships",
    "relationshiptypes",
    "releases",
    "tags",
    "usergroups",
    "users",
    *KINDS,
)


def _current_user(ask: Ask) -> Record:
    user = ask.world.find("users", ask.world.actor)
    return user if user is not None else missing("users")


def _replies(ask: Ask, comment: Record) -> list[Record]:
    return [one for one in lists.comments_on_items(ask.world) if one.get("inReplyTo") == comment["id"]]


def _options(ask: Ask, picklist: Record) -> list[Record]:
    return [option for option in ask.world.every("picklistoptions") if option["pickList"] == picklist["id"]]


def _tags(ask: Ask, project: Record) -> list[Record]:
    return [tag for tag in ask.world.every("tags") if tag["project"] == project["id"]]


def _members(ask: Ask, group: Record) -> list[Record]:
    return [user for user in ask.world.every("users") if user["id"] in group.get("users", [])]


def _ruled_projects(ask: Ask, rules: Record) -> list[Record]:
    return [project for project in ask.world.every("projects") if project["id"] in rules.get("projects", [])]


ENDPOINTS: tuple[Endpoint, ...] = (
    *(Endpoint(f"/{name}", "list", lister) for name, lister in _LISTS.items()),
    *map(single, _SINGLES),
    Endpoint("/files", "file", lists.file_by_url),
    Endpoint("/users/current", "record", _current_user),
    Endpoint(
        "/users/current/favoritefilters",
        "list",
        lambda ask: [one for one in lists.visible_filters(ask.world) if one.get("favorite")],
    ),
    nested("activities", "affecteditems", lists.affected_items),
    nested("comments", "replies", _replies),
    nested("filters", "results", lists.filter_results),
    nested("picklists", "options", _options),
    nested("projects", "itemtypes", lists.item_types_in_use),
    nested("projects", "tags", _tags),
    nested("relationshiprulesets", "projects", _ruled_projects),
    nested("tags", "items", lambda ask, tag: lists.known(ask.world, tag.get("items", []))),
    nested("usergroups", "users", _members),
    *NEIGHBOURS,
    *TEST_CENTER,
    *SNAPSHOTS,
)
