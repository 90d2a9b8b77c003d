"""What was deleted, as Jama's activities tell it."""

from collections.abc import Iterator

from reqall.plugins.sources.jama.http.client import JamaClient, Listing
from reqall.plugins.sources.jama.http.reply import Row

_NO_ITEMS = frozenset(
    {
        *("BASELINE", "CHANGE_REQUEST", "COMMENT", "INTEGRATION", "ITEM_TAG", "MISCELLANEOUS", "PROJECT"),
        *("RELATIONSHIP", "REVIEW", "REVISION", "REVISION_ITEM", "TAG", "TEST_RESULT", "URL", "USER"),
    }
)
"""Object types of activities that are no items; a type that nobody knows yet may be one."""


def deleted_items(client: JamaClient, project: int, since: str | None) -> Iterator[tuple[list[int], Listing]]:
    """Walk the ids of items that were deleted at or after `since`, with the page that tells of them.

    An event names one item; what was deleted with it stands in the event's affected items, unless
    Jama has forgotten them. An item that was restored since is named too. Where activities may not
    be read, nothing is told.
    """
    params: dict[str, object] = {"project": project, "deleteEvents": "true", **({"date": since} if since else {})}
    told: set[int] = set()
    for listing in client.pages("/activities", params, optional=True):
        events = [row for row in listing.rows if _is_deletion(row)]
        affected = client.in_parallel(lambda event: _affected(client, event), events)
        ids = dict.fromkeys(
            each for event, more in zip(events, affected, strict=True) for each in (_item(event), *more)
        )
        fresh = [each for each in ids if each is not None and each not in told]
        told.update(fresh)
        yield fresh, listing


def _is_deletion(event: Row) -> bool:
    return "DELETE" in str(event.get("eventType")) and event.get("objectType") not in _NO_ITEMS


def _affected(client: JamaClient, event: Row) -> list[int]:
    rows = client.every(f"/activities/{event['id']}/affecteditems", optional=True)
    return [row["id"] for row in rows if isinstance(row.get("id"), int)]


def _item(event: Row) -> int | None:
    item = event.get("item")
    return item if isinstance(item, int) else None
