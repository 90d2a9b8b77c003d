"""Answers of the browse tools."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from reqall import Project
from reqall_reqif.collection import Collection
from reqall_reqif.identity import Entry
from reqall_reqif.merging import UNPLACED
from reqall_reqif.reading.exchange import ObjectType
from reqall_reqif.reading.values import told
from reqall_reqif.source import ReqifSource
from reqall_reqif.tools.lookup import find_object, find_project, try_object, try_project
from reqall_reqif.tools.pages import cut
from reqall_reqif.tools.results import (
    ObjectList,
    ObjectRow,
    RelationList,
    RelationRow,
    SpecificationList,
    SpecificationRow,
    SpecObjectDetail,
    TypeList,
    TypeRow,
)

_MOST_TEXT = 20_000
"""Characters of all texts of one object."""


def list_specifications(source: ReqifSource, cursor: str = "") -> SpecificationList:
    """List the specifications of all files, with what was odd in them. Raises InputError, SourceError."""
    collection = source.collection()
    page = cut(collection.projects(), cursor, collection.watermark, "specifications")
    rows = [_specification(collection, project) for project in page.rows]
    note = "; ".join(collection.merged.notes)
    return SpecificationList(total=page.total, returned=len(rows), cursor=page.cursor, note=note, specifications=rows)


def get_object(source: ReqifSource, wanted: str) -> SpecObjectDetail:
    """Read an object in full. Raises InputError, NotFoundError, SourceError."""
    collection = source.collection()
    entry = find_object(source, collection, wanted)
    document = collection.document(entry)
    room = [_MOST_TEXT]
    sections = {name: _within(text, room) for name, text in document.sections.items()}
    fields = {name: _within(told(value), room) for name, value in document.fields.items()}
    above = list(_above(collection, entry))
    return SpecObjectDetail(
        **_row(collection, entry).model_dump(),
        identifier=entry.found.id,
        project_id=document.project_id,
        parent_id=(document.parent_id or "").partition(":")[2],
        path=[each.name or each.key for each in reversed(above)],
        created=_when(document.created),
        sections=sections,
        fields=fields,
        file=entry.found.place,
        truncated=room[0] < 0,
    )


def list_children(source: ReqifSource, wanted: str, cursor: str = "") -> ObjectList:
    """List what stands right below an object, or at the top of a specification. Raises InputError, NotFoundError."""
    collection = source.collection()
    merged = collection.merged
    entry = try_object(source, collection, wanted)
    project = None if entry else try_project(source, collection, wanted)
    if project:
        specification = collection.specification(project)
        below = merged.roots.get(specification.id if specification else UNPLACED, [])
    else:
        entry = entry or find_object(source, collection, wanted)
        below = merged.children.get(entry.found.id, [])
    page = cut(below, cursor, collection.watermark, "children", wanted.strip())
    rows = [_row(collection, collection.entries[each]) for each in page.rows]
    return ObjectList(total=page.total, returned=len(rows), cursor=page.cursor, note="", objects=rows)


def list_relations(source: ReqifSource, wanted: str, cursor: str = "") -> RelationList:
    """List the relations of an object, upstream first. Raises InputError, NotFoundError, SourceError."""
    collection = source.collection()
    entry = find_object(source, collection, wanted)
    rows = sorted(_relations(source, collection, entry), key=lambda row: row.direction != "upstream")
    page = cut(rows, cursor, collection.watermark, "relations", entry.native)
    return RelationList(
        total=page.total, returned=len(page.rows), cursor=page.cursor, note="", relations=list(page.rows)
    )


def list_types(source: ReqifSource, wanted: str = "", cursor: str = "") -> TypeList:
    """List the types of objects, of all files or of one specification. Raises InputError, NotFoundError."""
    collection = source.collection()
    projects = [find_project(source, collection, wanted)] if wanted.strip() else collection.projects()
    counts: Counter[str] = Counter()
    types: dict[str, ObjectType] = {}
    for project in projects:
        for entry in collection.members(project):
            counts[entry.found.type.id] += 1
            types.setdefault(entry.found.type.id, entry.found.type)
    listed = sorted(types.values(), key=lambda each: (each.name.casefold(), each.id))
    page = cut(listed, cursor, collection.watermark, "types", *(project.id for project in projects))
    rows = [
        TypeRow(
            type_id=each.id,
            name=each.name,
            objects=counts[each.id],
            attributes={definition.name: definition.kind for definition in each.definitions},
        )
        for each in page.rows
    ]
    return TypeList(total=page.total, returned=len(rows), cursor=page.cursor, note="", types=rows)


def _specification(collection: Collection, project: Project) -> SpecificationRow:
    specification = collection.specification(project)
    place = specification.place if specification else ""
    exchange = next((each for each in collection.exchanges if each.place == place), None)
    return SpecificationRow(
        project_id=project.id,
        key=project.key,
        name=project.name,
        type=specification.type_name if specification else "",
        objects=len(collection.members(project)),
        changed=_when(specification.changed if specification else None),
        exported=_when(exchange.created if exchange else None),
        tool=exchange.tool if exchange else "",
        file=place,
    )


def _row(collection: Collection, entry: Entry) -> ObjectRow:
    return ObjectRow(
        object_id=entry.native,
        key=entry.key,
        name=entry.name,
        type=entry.found.type.name,
        status=entry.parts.status or "",
        modified=_when(entry.parts.modified),
        children=len(collection.merged.children.get(entry.found.id, [])),
    )


def _relations(source: ReqifSource, collection: Collection, entry: Entry) -> Iterable[RelationRow]:
    for relation in collection.merged.relations:
        for own, other, is_source in (
            (relation.source, relation.target, True),
            (relation.target, relation.source, False),
        ):
            if own == entry.found.id:
                end = collection.entries[other]
                upstream = source.upstream == ("target" if is_source else "source")
                yield RelationRow(
                    direction="upstream" if upstream else "downstream",
                    relation_type=relation.type_name,
                    suspect=relation.suspect,
                    group=relation.group,
                    object_id=end.native,
                    key=end.key,
                    name=end.name,
                    type=end.found.type.name,
                    status=end.parts.status or "",
                    project_id=collection.project_id(end),
                )


def _above(collection: Collection, entry: Entry) -> Iterable[Entry]:
    while entry.place.parent:
        entry = collection.entries[entry.place.parent]
        yield entry


def _within(text: str, room: list[int]) -> str:
    """Return the text, or its beginning where less than that fits into what is left of the room."""
    left = max(room[0], 0)
    room[0] -= len(text)
    return text if len(text) <= left else f"{text[:left].rstrip()} [cut: {len(text) - left} more characters]".strip()


def _when(time: datetime | None) -> str:
    return time.isoformat(timespec="seconds") if time else ""
