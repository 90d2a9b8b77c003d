"""Baselines: which items each one froze, in which version and at which place."""

from typing import NamedTuple

from reqall.testing.jama_simulator.clock import parse_jama_time
from reqall.testing.jama_simulator.records import Record, Records, as_list


class FrozenPlace(NamedTuple):
    """Where an item stood: its sequence (`1.2.3`) and the item or project above it."""

    sequence: str
    parent: Record


class Baselines:
    """What the baselines hold, fixed when the world begins: later edits and deletions change nothing."""

    def __init__(self, records: Records) -> None:
        """Freeze the content of every baseline of the project file."""
        self._content = {one["id"]: _freeze(records, one) for one in records.every("baselines")}

    def content(self, baseline: Record) -> dict[int, FrozenPlace]:
        """Return the ids of a baseline's items in the order of the tree, with their places."""
        return self._content[baseline["id"]]


def _freeze(records: Records, baseline: Record) -> dict[int, FrozenPlace]:
    taken_at = parse_jama_time(baseline["createdDate"])
    members = (records.items[identifier] for identifier in _members(records, baseline))
    found = [
        (place, item)
        for item in members
        if (place := records.place(item["id"])) is not None and parse_jama_time(item["createdDate"]) <= taken_at
    ]
    found.sort(key=lambda pair: pair[0].rank)
    return {item["id"]: FrozenPlace(".".join(map(str, place.sequence)), dict(item["parent"])) for place, item in found}


def _members(records: Records, baseline: Record) -> list[int]:
    origin = baseline.get("origin", {})
    if "item" in origin:
        return records.with_descendants(origin["item"])
    if "filter" in origin:
        chosen = records.collections["filters"][origin["filter"]].get("items", [])
        return [identifier for identifier in chosen if identifier in records.items]
    inside = [item for item in records.every("items") if item["project"] == baseline["project"]]
    if "release" in origin:
        inside = [item for item in inside if origin["release"] in as_list(item["fields"].get("release"))]
    return [item["id"] for item in inside]
