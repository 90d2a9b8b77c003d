"""Which relationships changed: activities tell of them, as relationships have no dates of their own."""

from collections.abc import Collection, Mapping

from reqall import NotFoundError
from reqall.plugins.sources.jama.http.client import JamaClient
from reqall.plugins.sources.jama.http.reply import Row

MOST_ITEMS = 50
"""Items whose relationships are asked for one by one, two requests each; beyond, a walk through all is cheaper."""

_KINDS = ("items", "testplans", "testruns")
_DIRECTIONS = ("upstreamrelationships", "downstreamrelationships")


def relationships_of_changed(
    client: JamaClient, project: int, since: str, changed: Collection[int], shown: Mapping[int, Collection[int] | None]
) -> dict[int, list[Row]] | None:
    """Return items whose relationships may have changed, with all that they have now.

    These are the changed items; those that an activity names, which is one end of a relationship that
    was created or deleted; and of those in `shown` (each with the items that it was linked with, None
    where one is of another project, in which the activity is told) the ones whose own activity no such
    relationship explains. None when it would be too many, or when an activity names no item that is there. Raises
    SourceAuthError where activities may not be read.
    """
    if len(changed) > MOST_ITEMS:
        return None
    params: dict[str, object] = {"project": project, "objectType": "RELATIONSHIP", "date": since}
    said = [row.get("item") for row in client.every("/activities", params)]
    named = {item for item in said if isinstance(item, int)}
    first = sorted(named.union(changed))
    if len(first) > MOST_ITEMS or not all(isinstance(item, int) for item in said):
        return None
    found = _around_each(client, first)
    if any(found[item] is None for item in named.difference(changed)):
        return None
    ends = {row.get(end) for item in named for row in found[item] or [] for end in ("fromItem", "toItem")}
    rest = [
        item
        for item, linked in shown.items()
        if item not in found and (linked is None or (item not in ends and named.isdisjoint(linked)))
    ]
    if len(first) + len(rest) > MOST_ITEMS:
        return None
    return {item: rows or [] for item, rows in (found | _around_each(client, rest)).items()}


def _around_each(client: JamaClient, items: list[int]) -> dict[int, list[Row] | None]:
    return dict(zip(items, client.in_parallel(lambda item: _around(client, item), items), strict=True))


def _around(client: JamaClient, item: int) -> list[Row] | None:
    """Return an item's relationships in both directions; None when there is no such item."""
    for kind in _KINDS:
        try:
            return [row for direction in _DIRECTIONS for row in client.every(f"/{kind}/{item}/{direction}")]
        except NotFoundError:
            continue
    return None
