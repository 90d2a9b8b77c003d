"""Relationships: of one item with both directions, and of a project by Jama's cursor."""

from collections.abc import Iterable, Mapping
from typing import Any

from reqall import InputError, NotFoundError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.source import ITEMS, JamaSource
from reqall.plugins.sources.jama.tools.cursor import Cursor, read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line
from reqall.plugins.sources.jama.tools.kinds import part_of
from reqall.plugins.sources.jama.tools.lookup import find_item, find_project
from reqall.plugins.sources.jama.tools.paging import PAGE, Taken, Walk, held, rows_of, take, total_of
from reqall.plugins.sources.jama.tools.results import ItemLinkList, ItemLinkRow, LinkList, LinkRow
from reqall.plugins.sources.jama.tools.rows import facts, item_row


def list_item_links(source: JamaSource, wanted: str, cursor: str = "") -> ItemLinkList:
    """List an item's relationships, upstream first. Raises InputError, NotFoundError, SourceError."""
    item = find_item(source, wanted)
    links, ends, note = _around(source, item)
    scope, begun = ("links", item["id"]), read_cursor(cursor, "links", item["id"])

    def show(link: Row) -> ItemLinkRow:
        end = link["fromItem" if link["direction"] == "upstream" else "toItem"]
        other = item_row(source, ends[end]) if end in ends else None
        return ItemLinkRow(
            **_link(source, link),
            direction=link["direction"],
            item_id=str(end),
            key=other.key if other else "",
            name=other.name if other else "",
            type=other.type if other else "",
            status=other.status if other else "",
            url=other.url if other else "",
        )

    taken = take(Walk(held(links), begun), begun, show)
    return ItemLinkList(**facts(taken, scope, note), relationships=taken.shown)


def list_project_links(source: JamaSource, project: str, item: str = "", cursor: str = "") -> LinkList:
    """List a project's relationships, or those of one of its items. Raises InputError, NotFoundError, SourceError."""
    number = int(find_project(source, project)["id"])
    if item.strip():
        return _of_item(source, number, find_item(source, item), cursor)
    scope, begun = ("project links", number), read_cursor(cursor, "project links", number)
    rows, linked, total = _by_last_id(source, number, begun)
    ends = {**linked, **_missing(source, rows[:PAGE], linked)}

    shown = [_link_row(source, link, ends) for link in rows[:PAGE]]
    after = begun.before + len(shown)
    following = None
    if len(rows) > PAGE:
        following = Cursor(total, after, after, (int(rows[PAGE - 1]["id"]),))
    taken = Taken(shown, total if following else after, len(shown), following)
    return LinkList(**facts(taken, scope), relationships=shown)


def _by_last_id(source: JamaSource, project: int, begun: Cursor) -> tuple[list[Row], dict[int, Row], int]:
    """Return more rows than a page, or all that are left; the ends that Jama sent along; and its count."""
    rows: list[Row] = []
    ends: dict[int, Row] = {}
    total, last = begun.total, begun.anchors[0] if begun.anchors else 0
    params: dict[str, Any] = {"project": project, "maxResults": PAGE + 1, "include": ["data.fromItem", "data.toItem"]}
    while len(rows) <= PAGE:
        envelope = source.client.get("/relationships", {**params, "lastId": last})
        if any(row["id"] <= last for row in rows_of(envelope)):
            # A Jama from before the cursor ignores it: there the rows are counted off.
            envelope = source.client.get("/relationships", {**params, "lastId": 0, "startAt": begun.before + len(rows)})
        found = rows_of(envelope)
        # Behind a `lastId` Jama may count the rest only: the first answer's count is kept.
        total = total_of(envelope) if last == 0 else total
        ends |= _sent_along(envelope)
        rows += found
        if not found or (last == 0 and 0 <= total <= len(rows)):
            break
        last = rows[-1]["id"]
    return rows, ends, total


def _sent_along(envelope: Row) -> dict[int, Row]:
    linked = envelope.get("linked")
    items = linked.get("items") if isinstance(linked, Mapping) else None
    return {int(each["id"]): each for each in items.values()} if isinstance(items, Mapping) else {}


def _missing(source: JamaSource, links: Iterable[Row], known: Mapping[int, Row]) -> dict[int, Row]:
    """Read the ends that Jama did not send along: test runs, for one, and nothing of what is not visible."""
    wanted = {link[end] for link in links for end in ("fromItem", "toItem")} - known.keys()
    found = ((each, source.client.one(f"{ITEMS}/{each}", optional=True)) for each in sorted(wanted))
    return {each: row for each, row in found if row}


def _of_item(source: JamaSource, project: int, item: Row, cursor: str) -> LinkList:
    if item.get("project") != project:
        raise InputError(
            f"item {item['id']} is in project {item.get('project')}, not in {project}",
            f"Pass that project, or use get_{source.name}_item_relationships.",
        )
    links, ends, note = _around(source, item)
    scope, begun = ("item links", item["id"]), read_cursor(cursor, "item links", item["id"])
    both = {**ends, item["id"]: item}
    taken = take(Walk(held(links), begun), begun, lambda link: _link_row(source, link, both))
    return LinkList(**facts(taken, scope, note), relationships=taken.shown)


def _around(source: JamaSource, item: Row) -> tuple[list[Row], dict[int, Row], str]:
    """Return an item's relationships, the items at their other ends, and a note."""
    name = line(source.reader.type_of(item).name)
    links: dict[int, Row] = {}
    ends: dict[int, Row] = {}
    for direction in ("upstream", "downstream"):
        paths = [
            part_of(item, source.reader.type_of(item), f"{direction}{part}") for part in ("relationships", "related")
        ]
        try:
            found, others = (source.client.every(path) if path else [] for path in paths)
        except NotFoundError:
            # The item is there, or it would not have been found: its type has no relationships.
            paths, found, others = [None], [], []
        links |= {row["id"]: {**row, "direction": direction} for row in found}
        ends |= {row["id"]: row for row in others}
        if None in paths:
            return list(links.values()), ends, f"Items of the type {name} have no relationships."
    return list(links.values()), ends, ""


def _link(source: JamaSource, link: Row) -> dict[str, Any]:
    return {
        "relationship_id": str(link["id"]),
        "relationship_type": line(source.master.relationship_type(link.get("relationshipType"))),
        "suspect": bool(link.get("suspect")),
    }


def _link_row(source: JamaSource, link: Row, ends: Mapping[int, Row]) -> LinkRow:
    upstream, downstream = (ends.get(link[end]) or {} for end in ("fromItem", "toItem"))
    return LinkRow(
        **_link(source, link),
        from_id=str(link["fromItem"]),
        from_key=line(upstream.get("documentKey")),
        from_name=line(source.reader.name(upstream)),
        to_id=str(link["toItem"]),
        to_key=line(downstream.get("documentKey")),
        to_name=line(source.reader.name(downstream)),
    )
