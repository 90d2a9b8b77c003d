"""A live query of Jama by key, item type, status and keyword."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from reqall.plugins.sources.jama.answers import Row
from reqall.plugins.sources.jama.items import ItemReader, iso, moment
from reqall.plugins.sources.jama.lookup import did_you_mean, either_case, find_item_type, find_project
from reqall.plugins.sources.jama.results import ItemList, ItemRow
from reqall.plugins.sources.jama.source import ITEMS, JamaSource

MOST_WALKED = 2_000
"""Items that are read at most to compare their status, which Jama itself cannot filter by."""


@dataclass(frozen=True, slots=True)
class MetadataQuery:
    """Conditions that all must hold; an empty one does not filter."""

    project: str
    document_key: str = ""
    item_type: str = ""
    status: str = ""
    keyword: str = ""
    max_results: int = 50


def query_metadata(source: JamaSource, query: MetadataQuery) -> ItemList:
    """Ask Jama. Raises InputError, NotFoundError, SourceError."""
    project = find_project(source, query.project)
    params: dict[str, object] = {"project": project["id"]}
    if query.document_key.strip():
        params["documentKey"] = either_case(query.document_key.strip())
    if query.item_type.strip():
        params["itemType"] = find_item_type(source, query.item_type).id
    if query.keyword.strip():
        params["contains"] = query.keyword.strip()
    if query.status.strip():
        return _by_status(source, query, str(project["id"]), params)
    rows = _first(_items(source, params), query.max_results)
    total = _total(source, params, len(rows), query.max_results)
    note = "" if total else _nothing_found(query)
    return _answer(source, str(project["id"]), rows, max(total, len(rows)), note)


def _by_status(source: JamaSource, query: MetadataQuery, project: str, params: dict[str, object]) -> ItemList:
    wanted, reader = query.status.strip().casefold(), source.reader
    matches: list[Row] = []
    seen: Counter[str] = Counter()
    for row in _first(_items(source, params), MOST_WALKED + 1):
        if seen.total() == MOST_WALKED:
            note = f"Only the first {MOST_WALKED} items were compared: there may be more. Narrow it by item type."
            return _answer(source, project, matches[: query.max_results], len(matches), note, unfinished=True)
        status = reader.status(row) or ""
        seen[status] += 1
        if status.casefold() == wanted:
            matches.append(row)
    note = "" if matches else _no_such_status(query, seen)
    return _answer(source, project, matches[: query.max_results], len(matches), note)


def _items(source: JamaSource, params: dict[str, object]) -> Iterator[Row]:
    """Walk the matches in the order of the tree, attachments left out unless their type is asked for."""
    skipped = frozenset[int]() if "itemType" in params else source.master.attachment_types()
    for listing in source.client.pages(ITEMS, params):
        yield from (row for row in listing.rows if row.get("itemType") not in skipped)


def _first(rows: Iterator[Row], limit: int) -> list[Row]:
    return [row for row, _ in zip(rows, range(limit), strict=False)]


def _total(source: JamaSource, params: dict[str, object], found: int, limit: int) -> int:
    if found < limit:
        return found
    attachments = 0 if "itemType" in params else source.attachments(params)
    return source.client.total(ITEMS, params) - attachments


def _nothing_found(query: MetadataQuery) -> str:
    if query.keyword.strip():
        return "No match. Jama takes the keyword literally, as one phrase: try a single word, or a semantic search."
    return "No match."


def _no_such_status(query: MetadataQuery, seen: Counter[str]) -> str:
    if not seen:
        return _nothing_found(query)
    names = [name for name, _ in seen.most_common() if name]
    known = f"These items have: {', '.join(names[:20])}." if names else "These items have no status."
    return f"No item has the status {query.status.strip()!r}. {did_you_mean(query.status, names)}{known}"


def _answer(
    source: JamaSource, project: str, rows: list[Row], total: int, note: str, *, unfinished: bool = False
) -> ItemList:
    reader = source.reader
    return ItemList(
        project_id=project,
        items=[item_row(reader, row) for row in rows],
        total=total,
        returned=len(rows),
        truncated=unfinished or total > len(rows),
        note=note,
    )


def item_row(reader: ItemReader, row: Row) -> ItemRow:
    """Return the item as one row of a list."""
    return ItemRow(
        item_id=str(row["id"]),
        key=str(row.get("documentKey") or ""),
        name=reader.name(row),
        type=reader.type_of(row).name,
        status=reader.status(row) or "",
        modified=iso(moment(row.get("modifiedDate"))),
        url=reader.url(row),
    )
