"""What hangs on one item: children, synchronised copies, versions, comments and attachments."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.tools.cursor import read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line, rich
from reqall.plugins.sources.jama.tools.kinds import part_of
from reqall.plugins.sources.jama.tools.lookup import find_item
from reqall.plugins.sources.jama.tools.paging import Fetch, Taken, Walk, held, served, take
from reqall.plugins.sources.jama.tools.results import (
    AttachmentList,
    AttachmentRow,
    CommentList,
    CommentRow,
    ItemList,
    SyncedList,
    SyncedRow,
    VersionList,
    VersionRow,
)
from reqall.plugins.sources.jama.tools.rows import Facts, facts, field_of, item_row, number, person, when

M = TypeVar("M", bound=BaseModel)


def list_children(source: JamaSource, wanted: str, cursor: str = "") -> ItemList:
    """List the items right below one. Raises InputError, NotFoundError, SourceError."""
    page, shown = _page(source, wanted, "children", cursor, lambda row: item_row(source, row))
    return ItemList(**page, items=shown)


def list_synced(source: JamaSource, wanted: str, cursor: str = "") -> SyncedList:
    """List the copies that are synchronised with an item. Raises InputError, NotFoundError, SourceError."""
    item = find_item(source, wanted)

    def show(row: Row) -> SyncedRow:
        path = f"/items/{item['id']}/synceditems/{row['id']}/syncstatus"
        said = (source.client.one(path, optional=True) or {}).get("inSync")
        in_sync = ("yes" if said else "no") if isinstance(said, bool) else "unknown"
        return SyncedRow(
            **item_row(source, row).model_dump(), project_id=str(row.get("project") or ""), in_sync=in_sync
        )

    page, shown = _page(source, str(item["id"]), "synceditems", cursor, show, item=item)
    return SyncedList(**page, items=shown)


def list_versions(source: JamaSource, wanted: str, cursor: str = "") -> VersionList:
    """List the versions of an item of any kind. Raises InputError, NotFoundError, SourceError."""
    item = find_item(source, wanted)
    scope, begun = ("versions", item["id"]), read_cursor(cursor, "versions", item["id"])

    def show(row: Row) -> VersionRow:
        return VersionRow(
            version=number(row.get("versionNumber")),
            created=when(row, "createdDate"),
            author=person(source, row.get("createdBy")),
            comment=rich(row.get("comment")),
            changes=rich(row.get("changeDetails")),
        )

    taken = take(Walk(served(source.client, f"/abstractitems/{item['id']}/versions"), begun), begun, show)
    return VersionList(**facts(taken, scope), versions=taken.shown)


def list_comments(source: JamaSource, wanted: str, cursor: str = "") -> CommentList:
    """List the comments on an item, replies below what they answer. Raises InputError, NotFoundError, SourceError."""

    def show(row: Row) -> CommentRow:
        body = row.get("body")
        text = "(deleted)" if row.get("deleted") else rich(body.get("text") if isinstance(body, dict) else body)
        return CommentRow(
            comment_id=str(row["id"]),
            reply_to=str(row.get("inReplyTo") or ""),
            author=person(source, row.get("createdBy")),
            created=when(row, "createdDate"),
            kind=line(row.get("commentType")),
            status=line(row.get("status")),
            text=text,
        )

    def threads(path: str) -> Fetch:
        return held(in_threads(source.client.every(path)))

    page, shown = _page(source, wanted, "comments", cursor, show, fetch=threads)
    return CommentList(**page, comments=shown)


def list_attachments(source: JamaSource, wanted: str, cursor: str = "") -> AttachmentList:
    """List the files that are attached to an item. Raises InputError, NotFoundError, SourceError."""

    def show(row: Row) -> AttachmentRow:
        return AttachmentRow(
            attachment_id=str(row["id"]),
            key=line(row.get("documentKey")),
            file_name=line(row.get("fileName") or field_of(row, "name")),
            mime_type=line(row.get("mimeType")),
            size=number(row.get("fileSize")),
            description=rich(field_of(row, "description")),
            created=when(row, "createdDate"),
            author=person(source, row.get("createdBy")),
            url=source.reader.url(row),
        )

    page, shown = _page(source, wanted, "attachments", cursor, show)
    return AttachmentList(**page, attachments=shown)


def in_threads(rows: list[Row]) -> list[Row]:
    """Return comments by date, each reply right below what it answers; none is lost."""
    rows = sorted(rows, key=lambda row: (str(row.get("createdDate") or ""), row["id"]))
    known = {row["id"] for row in rows}
    replies: dict[object, list[Row]] = {}
    for row in rows:
        parent = row.get("inReplyTo")
        replies.setdefault(parent if parent in known and parent != row["id"] else None, []).append(row)
    ordered: list[Row] = []
    ahead = replies.pop(None, [])[::-1]
    while ahead:
        row = ahead.pop()
        ordered.append(row)
        ahead += replies.pop(row["id"], [])[::-1]
    # What is left answers itself in a circle.
    return ordered + [row for circle in replies.values() for row in circle]


def _page(
    source: JamaSource,
    wanted: str,
    part: str,
    cursor: str,
    show: Callable[[Row], M],
    *,
    item: Row | None = None,
    fetch: Callable[[str], Fetch] | None = None,
) -> tuple[Facts, list[M]]:
    """Return a page of a part of an item; an empty one, with a note, where its kind has no such part."""
    row = item or find_item(source, wanted)
    schema = source.reader.type_of(row)
    scope, path = (part, row["id"]), part_of(row, schema, part)
    begun = read_cursor(cursor, *scope)
    if path is None:
        note = f"Jama's API has no {part} for items of the type {line(schema.name)}."
        nothing: Taken[M] = Taken([], 0, 0, None)
        return facts(nothing, scope, note), []
    walk = Walk(fetch(path) if fetch else served(source.client, path), begun)
    taken = take(walk, begun, show)
    return facts(taken, scope), taken.shown
