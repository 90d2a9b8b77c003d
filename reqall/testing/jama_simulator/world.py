"""The simulated Jama's world: its records, and the edits that a test makes to them."""

from collections.abc import Mapping
from time import monotonic
from typing import Any, NamedTuple

from reqall.testing.jama_simulator.baselines import Baselines
from reqall.testing.jama_simulator.history import DATES, History
from reqall.testing.jama_simulator.records import Record, parent_key


class Removal(NamedTuple):
    """What one deletion took away, so that it can be brought back."""

    items: list[tuple[Record, int]]
    relationships: list[Record]


class World(History):
    """Records that can be edited while they are served.

    Each edit stamps the item with the clock and writes an activity, as Jama's own users do.
    """

    def __init__(self, project: Mapping[str, Any]) -> None:
        """Take over the content of a project file; dates never run behind those in it."""
        super().__init__(project)
        self.deleted: dict[int, Record] = {}
        self.text_changes: dict[int, list[tuple[float, str | None]]] = {}
        self.baselines = Baselines(self)
        self._removals: dict[int, Removal] = {}

    def edit(self, item_id: int, /, **fields: object) -> None:
        """Set fields of an item (None removes one) and mark its downstream links suspect."""
        with self.lock:
            record = self.items[item_id]
            self._note_text(item_id, self.text(item_id))
            before = {name: record["fields"].get(name) for name in fields}
            for name, value in fields.items():
                if value is None:
                    record["fields"].pop(name, None)
                else:
                    record["fields"][name] = value
            self._suspect_downstream(record, set(fields))
            self._stamp(record)
            self.versions.note(record, before, record["modifiedDate"], self.actor)
            self.log(record, "UPDATE", "updated")

    def add(self, item: Mapping[str, Any], position: int | None = None) -> int:
        """Add an item in the project file's shape and return its id; the derivable may be left out."""
        with self.lock:
            record: Record = {**item, "fields": dict(item.get("fields", {}))}
            parent = record.get("parent", {}).get("item")
            if parent is not None:
                record.setdefault("project", self.items[parent]["project"])
            record.setdefault("id", self.next_id("items"))
            self.highest["items"] = max(self.highest["items"], record["id"])
            self._complete(record)
            self.admit(record, position=position)
            self._note_text(record["id"], None)
            self.log(record, "CREATE", "created")
            return int(record["id"])

    def delete(self, item_id: int, *more: int) -> None:
        """Delete items, each with all below it; one delete event, on the (first) item itself."""
        with self.lock:
            record = self.items[item_id]
            affected: list[int] = []
            for identifier in (item_id, *more):
                affected += self._remove(identifier)
                self.deleted[identifier]["lastActivityDate"] = self.clock.stamp()
            self.log(record, "BATCH_DELETE" if more else "DELETE", "deleted", affected)

    def vanish(self, item_id: int) -> None:
        """Take an item away without any trace, as a lost permission does."""
        with self.lock:
            self._remove(item_id)

    def restore(self, item_id: int, *, move_dates: bool = True) -> None:
        """Bring back a deleted item with all that was deleted with it, and their links."""
        with self.lock:
            removal = self._removals.pop(item_id)
            for record, position in removal.items:
                del self.deleted[record["id"]]
                if record["type"] == "items":
                    # What became of its place decides: the root, when the parent has gone too.
                    kind, parent = parent_key(record)
                    if kind == "item" and parent not in self.items:
                        record["parent"] = {"project": record["project"]}
                self.admit(record, record["type"], position)
                if move_dates:
                    self._stamp(record)
            for link in removal.relationships:
                self._restore_link(link)
            affected = [record["id"] for record, _ in removal.items]
            self.log(removal.items[0][0], "UPDATE", "restored", affected)

    def can_restore(self, item_id: int) -> bool:
        """Tell whether an item was deleted itself, not only with the one above it."""
        return item_id in self._removals

    def move(self, item_id: int, parent: int | Mapping[str, int], position: int | None = None) -> None:
        """Move an item under another one (its id) or under `{"project": id}`.

        Only `lastActivityDate` moves, and only that of the item itself; all below it goes along.
        """
        with self.lock:
            target = {"item": parent} if isinstance(parent, int) else dict(parent)
            subtree = self.with_descendants(item_id)
            if target.get("item") in subtree:
                raise ValueError(f"item {item_id} cannot be moved below itself")
            project = target.get("project") or self.items[target["item"]]["project"]
            record = self.discard(item_id)
            record["parent"] = target
            self.admit(record, position=position)
            for moved in subtree:
                self.items[moved]["project"] = project
            record["lastActivityDate"] = self.clock.stamp()
            self.log(record, "MOVE", "moved", subtree)

    def _remove(self, item_id: int) -> list[int]:
        affected = self.with_descendants(item_id)
        # Every position is read before the first item goes: each removal shifts its siblings.
        positions = [self._position(self.items[identifier]) for identifier in affected]
        taken = [(self.discard(i), position) for i, position in zip(affected, positions, strict=True)]
        self.deleted.update((record["id"], record) for record, _ in taken)
        links = self.collections["relationships"]
        ends = set(affected)
        gone = [link for link in links.values() if ends & {link["fromItem"], link["toItem"]}]
        for link in gone:
            self.end_link(link["id"])
        self._removals[item_id] = Removal(taken, gone)
        return affected

    def _position(self, record: Record) -> int:
        return self.children[parent_key(record)].index(record["id"]) if "parent" in record else 0

    def _restore_link(self, link: Record) -> None:
        for end in (link["fromItem"], link["toItem"]):
            if end in self.deleted:
                # The other end has gone meanwhile: the link comes back with that one.
                for removal in self._removals.values():
                    if any(record["id"] == end for record, _ in removal.items):
                        removal.relationships.append(link)
                return
        self.collections["relationships"][link["id"]] = {**link, "createdDate": self.clock.stamp()}

    def _complete(self, record: Record) -> None:
        project = self.collections["projects"][record["project"]]
        item_type = self.collections["itemtypes"][record["itemType"]]
        key = f"{project.get('projectKey')}-{item_type.get('typeKey')}-{record['id']}"
        record.setdefault("documentKey", key)
        record.setdefault("globalId", f"GID-{record['id']}")
        for name in DATES:
            record.setdefault(name, self.clock.stamp())
        record.setdefault("createdBy", self.actor)
        record.setdefault("modifiedBy", self.actor)

    def _suspect_downstream(self, record: Record, names: set[str]) -> None:
        item_type = self.collections["itemtypes"][record["itemType"]]
        if any(f.get("triggerSuspect") and f["name"] in names for f in item_type.get("fields", [])):
            for link in self.collections["relationships"].values():
                link["suspect"] = link["suspect"] or link["fromItem"] == record["id"]

    def _stamp(self, record: Record) -> None:
        record["modifiedDate"] = record["lastActivityDate"] = self.clock.stamp()
        record["modifiedBy"] = self.actor
        self.changed(record["id"])

    def _note_text(self, item_id: int, before: str | None) -> None:
        self.text_changes.setdefault(item_id, []).append((monotonic(), before))
