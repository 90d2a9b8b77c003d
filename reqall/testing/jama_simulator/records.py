"""The simulated Jama's records, read from a project file, and the item tree they form."""

import copy
import html
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Record = dict[str, Any]
ParentKey = tuple[str, int]

# What `/abstractitems` lists: the tree's items, and what Jama keeps beside the tree.
KINDS = ("items", "attachments", "testplans", "testcycles", "testruns")
_KIND_OF_CATEGORY = {
    "ATTACHMENT": "attachments",
    "TEST_PLAN": "testplans",
    "TEST_CYCLE": "testcycles",
    "TEST_RUN": "testruns",
}
COLLECTIONS = (
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
    "testgroups",
    "usergroups",
    "users",
)
_NEEDED = ("id", "documentKey", "itemType", "project")


class Place(NamedTuple):
    """Where an item stands: among its siblings, in its project's walk, and as `1.2.3`."""

    sort_order: int
    rank: int
    sequence: tuple[int, ...]


class Records:
    """All records by collection and id; `lock` guards every read and change.

    `revision` grows with each change, so that derived values can be kept until then.
    """

    def __init__(self, project: Mapping[str, Any]) -> None:
        """Take over a project file's content; `ValueError` names what is wrong in it."""
        if project.get("format") != 1:
            raise ValueError(f"a project file of format 1 is needed, not {project.get('format')!r}")
        source = copy.deepcopy(dict(project))
        self.lock = threading.RLock()
        self.revision = 0
        self.collections: dict[str, dict[int, Record]] = {
            name: _by_id(name, source.get(name, [])) for name in COLLECTIONS
        }
        self.items: dict[int, Record] = {}
        self.children: dict[ParentKey, list[int]] = {}
        self._places: dict[int, Place] = {}
        self._places_stale = True
        self._texts: dict[int, str] = {}
        for kind in KINDS:
            for record in source.get(kind, []):
                self.admit(record, kind)
        self._refuse_strays()

    def admit(self, record: Record, kind: str = "items", position: int | None = None) -> None:
        """Put an item (or a test object or attachment) in its place; the last one by default."""
        self._refuse_unfit(record)
        identifier = int(record["id"])
        if kind == "items":
            kind = _KIND_OF_CATEGORY.get(self.category(record), "items")
        record["type"] = kind
        record.setdefault("fields", {})
        self.items[identifier] = record
        if kind == "items":
            record.setdefault("parent", {"project": record["project"]})
            siblings = self.children.setdefault(parent_key(record), [])
            siblings.insert(len(siblings) if position is None else position, identifier)
        self.changed(identifier, tree=True)

    def discard(self, identifier: int) -> Record:
        """Take one item out of its place and return it; its children stay where they are."""
        record = self.items.pop(identifier)
        if record["type"] == "items":
            self.children[parent_key(record)].remove(identifier)
        self.changed(identifier, tree=True)
        return record

    def changed(self, identifier: int | None = None, *, tree: bool = False) -> None:
        """Note a change, so that what was derived before is derived anew."""
        self.revision += 1
        self._places_stale = self._places_stale or tree
        if identifier is not None:
            self._texts.pop(identifier, None)

    def find(self, collection: str, identifier: int) -> Record | None:
        """Return one record; `abstractitems` are of every kind, the other kinds only their own."""
        if collection == "abstractitems":
            return self.items.get(identifier)
        if collection in KINDS:
            record = self.items.get(identifier)
            return record if record is not None and record["type"] == collection else None
        return self.collections.get(collection, {}).get(identifier)

    def every(self, collection: str) -> list[Record]:
        """Return all records of a collection or kind in the order of the file."""
        if collection in KINDS:
            return [record for record in self.items.values() if record["type"] == collection]
        return list(self.collections[collection].values())

    def category(self, record: Record) -> str:
        """Return the category of an item's type: CORE, SET, TEST_RUN ..."""
        item_type = self.collections["itemtypes"][record["itemType"]]
        return str(item_type.get("category", "CORE"))

    def children_of(self, identifier: int) -> list[Record]:
        """Return the children of an item in their order."""
        return [self.items[child] for child in self.children.get(("item", identifier), [])]

    def with_descendants(self, identifier: int) -> list[int]:
        """Return an item and all below it, parents before their children."""
        found = [identifier]
        for current in found:
            found.extend(self.children.get(("item", current), []))
        return found

    def place(self, identifier: int) -> Place | None:
        """Return the place of an item; None for what stands beside the tree."""
        if self._places_stale:
            self._places = {
                identifier: place
                for project in self.collections["projects"]
                for identifier, place in self._walk(project)
            }
            self._places_stale = False
        return self._places.get(identifier)

    def text(self, identifier: int) -> str:
        """Return what the text search of an item looks at: key, name and description."""
        if identifier not in self._texts:
            self._texts[identifier] = searchable_text(self.items[identifier])
        return self._texts[identifier]

    def _walk(self, project: int) -> Iterator[tuple[int, Place]]:
        rank = 0
        ahead: list[tuple[int, int, tuple[int, ...]]] = []
        self._push(ahead, ("project", project), ())
        while ahead:
            identifier, order, sequence = ahead.pop()
            rank += 1
            yield identifier, Place(order, rank, sequence)
            self._push(ahead, ("item", identifier), sequence)

    def _push(
        self,
        ahead: list[tuple[int, int, tuple[int, ...]]],
        key: ParentKey,
        sequence: tuple[int, ...],
    ) -> None:
        siblings = self.children.get(key, [])
        orders = range(len(siblings) - 1, -1, -1)
        ahead.extend((siblings[order], order, (*sequence, order + 1)) for order in orders)

    def _refuse_unfit(self, record: Record) -> None:
        problem = ""
        if lacking := [name for name in _NEEDED if record.get(name) is None]:
            problem = f"lacks {', '.join(lacking)}"
        elif record["id"] in self.items:
            problem = "has the id of another one"
        elif record["itemType"] not in self.collections["itemtypes"]:
            problem = f"has an unknown item type {record['itemType']!r}"
        elif record["project"] not in self.collections["projects"]:
            problem = f"is in an unknown project {record['project']!r}"
        if problem:
            raise ValueError(f"item {record.get('id')} {problem}")

    def _refuse_strays(self) -> None:
        for record in self.every("items"):
            if self.place(record["id"]) is None:
                raise ValueError(f"item {record['id']} has no way up to its project: {record['parent']}")


def parent_key(record: Record) -> ParentKey:
    """Return the key under which an item's siblings are kept."""
    parent = record["parent"]
    if parent.get("item") is not None:
        return ("item", int(parent["item"]))
    return ("project", int(parent["project"]))


def as_list(value: object) -> list[object]:
    """Return a list for a value that Jama gives alone, in a list or not at all."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def plain_text(rich: str) -> str:
    """Return the words of a rich text without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", rich)).split())


def searchable_text(record: Record) -> str:
    """Return an item's key, name and description, one a line, ready for a caseless search."""
    fields = record["fields"]
    parts = (record["documentKey"], fields.get("name"), plain_text(fields.get("description") or ""))
    return "\n".join(str(part or "") for part in parts).casefold()


def _by_id(name: str, records: list[Record]) -> dict[int, Record]:
    found: dict[int, Record] = {}
    for record in records:
        if record["id"] in found:
            raise ValueError(f"two records in {name!r} have the id {record['id']}")
        found[record["id"]] = {**record, "type": name}
    return found
