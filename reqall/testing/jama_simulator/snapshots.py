"""The endpoints that look back: versions of items, baselines, and relationships as they once were."""

from collections.abc import Iterator
from datetime import datetime

from reqall.testing.jama_simulator.ask import Ask, Endpoint, missing, nested
from reqall.testing.jama_simulator.clock import parse_jama_time
from reqall.testing.jama_simulator.query import ApiError
from reqall.testing.jama_simulator.records import KINDS, Record
from reqall.testing.jama_simulator.world import World

BEFORE_HISTORY = "The requested resource predates relationship history tracking."


def _versions(ask: Ask, item: Record) -> list[Record]:
    """List the versions of an item, the oldest first."""
    return [_version(item, version) for version in ask.world.versions.of(item)]


def _version(item: Record, version: Record) -> Record:
    shown = {name: value for name, value in version.items() if name != "fields"}
    return {**shown, "versionedItem": [item["id"], version["versionNumber"]], "type": "versions"}


def _asked_version(ask: Ask, collection: str) -> tuple[Record, Record]:
    item = ask.record(collection)
    found = [one for one in ask.world.versions.of(item) if one["versionNumber"] == ask.ids[1]]
    return (item, found[0]) if found else missing("versions")


def _as_of(world: World, item: Record, number: int) -> Record:
    """Return an item as it was in one version."""
    version = world.versions.of(item)[number - 1]
    return {
        **item,
        "fields": world.versions.fields(item, number),
        "modifiedDate": version["createdDate"],
        "lastActivityDate": version["createdDate"],
        "modifiedBy": version["createdBy"],
        "version": number,
        "currentVersion": world.versions.current(item),
    }


def _version_endpoints(collection: str) -> Iterator[Endpoint]:
    def version(ask: Ask) -> Record:
        return _version(*_asked_version(ask, collection))

    def snapshot(ask: Ask) -> Record:
        item, found = _asked_version(ask, collection)
        return _as_of(ask.world, item, found["versionNumber"])

    yield nested(collection, "versions", _versions)
    yield Endpoint(f"/{collection}/{{id}}/versions/{{versionNum}}", "record", version)
    yield Endpoint(f"/{collection}/{{id}}/versions/{{versionNum}}/versioneditem", "record", snapshot)


def _links_at(ask: Ask, item: int, moment: datetime) -> list[Record]:
    """List the relationships of an item at a moment, their ends with the versions of that moment."""
    if moment < parse_jama_time(ask.faults.relationship_history_since):
        raise ApiError(400, BEFORE_HISTORY)
    world = ask.world

    def end(identifier: int) -> list[int]:
        known = world.items.get(identifier) or world.deleted[identifier]
        return [identifier, max(1, world.versions.at(known, moment))]

    return [
        {
            "id": link["id"],
            "fromItem": end(link["fromItem"]),
            "toItem": end(link["toItem"]),
            "suspect": link["suspect"],
            "relationshipType": link["relationshipType"],
            "type": "versionedrelationships",
        }
        for link in world.links_at(item, moment)
    ]


def _versioned_relationships(ask: Ask) -> list[Record]:
    item = ask.record("abstractitems")
    moments = ask.params.moments("timestamp")
    if moments is None:
        raise ApiError(400, "The timestamp parameter is required.")
    return _links_at(ask, item["id"], moments.first)


def _baseline_item(ask: Ask, baseline: Record, identifier: int) -> Record:
    world, place = ask.world, ask.world.baselines.content(baseline)[identifier]
    taken_at = parse_jama_time(baseline["createdDate"])
    item = world.items.get(identifier) or world.deleted[identifier]
    shown = _as_of(world, item, world.versions.at(item, taken_at))
    parent = dict(place.parent)
    if (above := parent.get("item")) is not None:
        known = world.items.get(above) or world.deleted[above]
        parent["item"] = [above, max(1, world.versions.at(known, taken_at))]
    shown |= {"baseline": baseline["id"], "baselineLocation": {"sequence": place.sequence, "parent": parent}}
    return shown


def _baseline_items(ask: Ask, baseline: Record) -> list[Record]:
    return [_baseline_item(ask, baseline, identifier) for identifier in ask.world.baselines.content(baseline)]


def _asked_baseline_item(ask: Ask) -> tuple[Record, int]:
    baseline = ask.record("baselines")
    return (baseline, ask.ids[1]) if ask.ids[1] in ask.world.baselines.content(baseline) else missing("items")


def _one_baseline_item(ask: Ask) -> Record:
    return _baseline_item(ask, *_asked_baseline_item(ask))


def _baseline_links(ask: Ask) -> list[Record]:
    baseline, item = _asked_baseline_item(ask)
    return _links_at(ask, item, parse_jama_time(baseline["createdDate"]))


SNAPSHOTS: tuple[Endpoint, ...] = (
    *(endpoint for collection in ("abstractitems", *KINDS) for endpoint in _version_endpoints(collection)),
    Endpoint("/abstractitems/{id}/versionedrelationships", "list", _versioned_relationships),
    nested("baselines", "versioneditems", _baseline_items),
    Endpoint("/baselines/{id}/versioneditems/{itemId}", "record", _one_baseline_item),
    Endpoint("/baselines/{id}/versioneditems/{itemId}/versionedrelationships", "list", _baseline_links),
)
