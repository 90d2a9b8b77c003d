"""A live query of Jama by key, item type, status, keyword, release and date of change."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from datetime import UTC, date, datetime, timedelta

from reqall import InputError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.schema import TypeSchema
from reqall.plugins.sources.jama.source import ITEMS, STABLE_SORT, JamaSource
from reqall.plugins.sources.jama.tools.cursor import read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line
from reqall.plugins.sources.jama.tools.lookup import (
    did_you_mean,
    either_case,
    find_item_type,
    find_project,
    find_release,
)
from reqall.plugins.sources.jama.tools.paging import PAGE, UNKNOWN, Walk, served, take
from reqall.plugins.sources.jama.tools.results import QueryResult
from reqall.plugins.sources.jama.tools.rows import facts, item_row
from reqall.plugins.sources.jama.tools.statuses import FieldStatus, status_fields, statuses

MOST_SCANNED = 1_000
"""Items that one call reads at most; the cursor goes on from there."""

_WIDE, _NARROW = 50, PAGE + 2


@dataclass(frozen=True, slots=True)
class MetadataQuery:
    """Conditions that all must hold; an empty one does not filter. Dates are inclusive."""

    project: str
    document_key: str = ""
    item_type: str = ""
    status: str = ""
    keyword: str = ""
    release: str = ""
    modified_after: str = ""
    modified_before: str = ""


def query_metadata(source: JamaSource, query: MetadataQuery, cursor: str = "") -> QueryResult:
    """Ask Jama; what Jama cannot filter by is compared here. Raises InputError, NotFoundError, SourceError."""
    project = find_project(source, query.project)
    scope = ("query", project["id"], *(part.strip() for part in astuple(query)[1:]))
    begun = read_cursor(cursor, *scope)
    kind = find_item_type(source, query.item_type) if query.item_type.strip() else None
    params = _params(source, query, project, kind)
    matcher = _Matcher(source, query.status.strip(), frozenset() if kind else source.master.attachment_types())
    if not matcher.wanted and matcher.skipped and begun.total == UNKNOWN:
        begun = begun._replace(total=_count(source, params, matcher.skipped))
    walk = Walk(served(source.client, ITEMS, params), begun, _WIDE if matcher.wanted else _NARROW)
    taken = take(
        walk,
        begun,
        lambda row: item_row(source, row, matcher.found.get(row["id"])),
        keep=matcher if matcher.wanted or matcher.skipped else None,
        scan=MOST_SCANNED,
    )
    notes = []
    if taken.following and taken.total == UNKNOWN:
        notes.append(f"Compared as far as item {taken.following.position} of {walk.total}: pass the cursor to go on.")
    if not taken.shown and not begun.before:
        kinds = [kind] if kind else list(source.master.item_types_of(int(project["id"])).values())
        notes.append(_no_match(source, query, matcher.seen, kinds))
    return QueryResult(
        **facts(taken, scope, " ".join(notes)),
        items=taken.shown,
        project_id=str(project["id"]),
        total_scanned=taken.scanned,
        truncated=taken.following is not None,
    )


@dataclass(slots=True)
class _Matcher:
    """Accepts the rows that Jama could not select; `found` is the status by which each was."""

    source: JamaSource
    wanted: str
    skipped: frozenset[int]
    found: dict[object, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, row: Row) -> bool:
        if row.get("itemType") in self.skipped:
            return False
        if not self.wanted:
            return True
        held = list(statuses(self.source.master, row, self.source.reader.type_of(row)))
        self.seen.update(each.text for each in held)
        match: FieldStatus | None = next((each for each in held if each.is_one_of(self.wanted)), None)
        if match:
            self.found[row["id"]] = match.text
        return match is not None


def _params(source: JamaSource, query: MetadataQuery, project: Row, kind: TypeSchema | None) -> dict[str, object]:
    # A creation date never changes and new items come last, so no row moves back between two pages.
    params: dict[str, object] = {"project": project["id"], "sortBy": STABLE_SORT}
    if query.document_key.strip():
        params["documentKey"] = either_case(query.document_key.strip())
    if kind:
        params["itemType"] = kind.id
    if query.keyword.strip():
        params["contains"] = query.keyword.strip()
    if query.release.strip():
        params["release"] = find_release(source, int(project["id"]), query.release)
    if dates := _dates(query.modified_after, query.modified_before):
        params["modifiedDate"] = dates
    return params


def _dates(after: str, before: str) -> list[str]:
    """Return one date or the two ends of a range, as Jama reads them (both inclusive)."""
    first, last = _moment("modified_after", after), _moment("modified_before", before, upper=True)
    if first and last and first > last:
        raise InputError("modified_after is later than modified_before", "Exchange them, or leave one out.")
    if last:
        return [_stamp(first or datetime(1970, 1, 1, tzinfo=UTC)), _stamp(last)]
    return [_stamp(first)] if first else []


def _moment(name: str, text: str, *, upper: bool = False) -> datetime | None:
    text = text.strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if upper and _is_date(text):
            moment += timedelta(days=1, milliseconds=-1)
        elif upper and not moment.microsecond:
            # Answers show whole seconds: one that is given back means all of it.
            moment += timedelta(milliseconds=999)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{name} is not a date: {text!r}", "Write ISO 8601, such as 2026-03-01 or 2026-03-01T08:30Z."
        ) from error
    return moment


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "+0000")


def _count(source: JamaSource, params: dict[str, object], skipped: Iterable[int]) -> int:
    attachments = source.client.total(ITEMS, {**params, "itemType": sorted(skipped)})
    return source.client.total(ITEMS, params) - attachments


def _no_match(source: JamaSource, query: MetadataQuery, seen: Counter[str], kinds: Iterable[TypeSchema]) -> str:
    if query.status.strip() and seen:
        names = [name for name, _ in seen.most_common(20)]
        hint = did_you_mean(query.status, [*names, *_choices(source, kinds)])
        return f"No item has the status {line(query.status)!r}. {hint}These items have: {', '.join(names)}."
    if query.keyword.strip():
        return "No match. Jama takes the keyword literally, as one phrase: try a single word, or a semantic search."
    return "No match."


def _choices(source: JamaSource, kinds: Iterable[TypeSchema]) -> list[str]:
    """Return the choices that the status fields of these item types offer."""
    picklists = {each.picklist for kind in kinds for each in status_fields(kind) if each.picklist is not None}
    lists = (source.client.every(f"/picklists/{picklist}/options", optional=True) for picklist in sorted(picklists))
    return [line(option.get("name")) for options in lists for option in options]
