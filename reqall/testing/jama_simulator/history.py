"""Records with a clock: what happens to them is written down as activities."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from reqall.testing.jama_simulator.clock import Clock, parse_jama_time
from reqall.testing.jama_simulator.records import Record, Records
from reqall.testing.jama_simulator.versions import Versions

DATES = ("createdDate", "modifiedDate", "lastActivityDate")
# The object types of activities, by the kind of the item.
_OBJECT_TYPES = {
    "attachments": "ITEM_ATTACHMENT",
    "testplans": "TEST_PLAN",
    "testcycles": "TEST_CYCLE",
    "testruns": "TEST_RUN",
}


class History(Records):
    """Records that are linked and discussed, with an activity for each such event."""

    def __init__(self, project: Mapping[str, Any]) -> None:
        """Take over the content of a project file; dates never run behind those in it."""
        super().__init__(project)
        seen = (item[name] for item in self.items.values() for name in DATES if item.get(name))
        activities = (record["date"] for record in self.collections["activities"].values())
        self.clock = Clock(chain(seen, activities))
        self.actor = next(iter(self.collections["users"]), 1)
        self.highest = {name: max(records, default=0) for name, records in self.collections.items()}
        self.highest["items"] = max(self.items, default=0)
        self.versions = Versions(project.get("versions", []))
        self.past_links: list[Record] = []

    def relate(self, from_item: int, to_item: int, relationship_type: int | None = None) -> int:
        """Add a relationship from an upstream to a downstream item and return its id.

        `ValueError` for a set: its type has no relationships.
        """
        with self.lock:
            for end in (from_item, to_item):
                if self.category(self.items[end]) == "SET":
                    raise ValueError(f"item {end} is a set and cannot have relationships")
            kind = relationship_type or next(iter(self.collections["relationshiptypes"]))
            identifier = self.next_id("relationships")
            self.collections["relationships"][identifier] = {
                "id": identifier,
                "fromItem": from_item,
                "toItem": to_item,
                "relationshipType": kind,
                "suspect": False,
                "createdDate": self.clock.stamp(),
                "type": "relationships",
            }
            self._log_on_both_ends(from_item, to_item, "CREATE")
            return identifier

    def unrelate(self, relationship_id: int) -> None:
        """Delete a relationship."""
        with self.lock:
            gone = self.end_link(relationship_id)
            self._log_on_both_ends(gone["fromItem"], gone["toItem"], "DELETE")

    def end_link(self, relationship_id: int) -> Record:
        """Take a relationship away and keep it for those who ask about the past."""
        gone = self.collections["relationships"].pop(relationship_id)
        self.past_links.append({**gone, "deletedDate": self.clock.stamp()})
        return gone

    def links_at(self, item_id: int, moment: datetime) -> list[Record]:
        """Return the relationships that an item had at a moment; one without a date has always been."""
        every = chain(self.past_links, self.collections["relationships"].values())
        near = (link for link in every if item_id in (link["fromItem"], link["toItem"]))
        return [link for link in near if _began(link, moment) and not _ended(link, moment)]

    def comment(self, item_id: int, text: str, reply_to: int | None = None) -> int:
        """Write a comment on an item and return its id; only `lastActivityDate` moves."""
        with self.lock:
            record = self.items[item_id]
            identifier = self.next_id("comments")
            self.collections["comments"][identifier] = {
                "id": identifier,
                "inReplyTo": reply_to,
                "createdDate": self.clock.stamp(),
                "createdBy": self.actor,
                "modifiedBy": self.actor,
                "deleted": False,
                "status": "OPEN",
                "body": {"text": text},
                "commentType": "GENERAL",
                "location": {"item": item_id, "project": record["project"]},
                "type": "comments",
            }
            record["lastActivityDate"] = self.clock.stamp()
            self.log(record, "CREATE", "commented on", object_type="COMMENT")
            return identifier

    def next_id(self, collection: str) -> int:
        """Return a new id for a collection, never one that was in use before."""
        self.highest[collection] += 1
        return self.highest[collection]

    def _log_on_both_ends(self, from_item: int, to_item: int, event: str) -> None:
        for end in (from_item, to_item):
            if end in self.items:
                self.items[end]["lastActivityDate"] = self.clock.stamp()
        self.changed()
        if from_item in self.items:
            self.log(self.items[from_item], event, "linked", object_type="RELATIONSHIP")

    def log(
        self,
        record: Record,
        event: str,
        action: str,
        affected: Sequence[int] | None = None,
        object_type: str | None = None,
    ) -> None:
        """Write an activity on a record; `affected` are the ids of all items it touched."""
        identifier = self.next_id("activities")
        self.collections["activities"][identifier] = {
            "id": identifier,
            "date": self.clock.stamp(),
            "details": f"{record['documentKey']} {record['fields'].get('name', '')}".strip(),
            "action": action,
            "user": self.actor,
            "userComment": None,
            "item": record["id"],
            "eventType": event,
            "objectType": object_type or _OBJECT_TYPES.get(record["type"], "ITEM"),
            "project": record["project"],
            "affected": list(affected or [record["id"]]),
            "type": "activities",
        }
        self.changed()


def _began(link: Record, moment: datetime) -> bool:
    return "createdDate" not in link or parse_jama_time(link["createdDate"]) <= moment


def _ended(link: Record, moment: datetime) -> bool:
    return "deletedDate" in link and parse_jama_time(link["deletedDate"]) <= moment
