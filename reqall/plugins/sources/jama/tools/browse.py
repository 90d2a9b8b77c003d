"""Projects and single items, read live."""

from difflib import get_close_matches

from reqall import InputError, JsonValue, Project, native_id
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.text.html import plain_text
from reqall.plugins.sources.jama.tools.cursor import read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line, within
from reqall.plugins.sources.jama.tools.lookup import did_you_mean, find_item
from reqall.plugins.sources.jama.tools.paging import Walk, held, take
from reqall.plugins.sources.jama.tools.results import Item, ProjectList, ProjectRow
from reqall.plugins.sources.jama.tools.rows import facts, item_row, person, when


def list_projects(source: JamaSource, cursor: str = "") -> ProjectList:
    """List the visible projects by name. Raises InputError, SourceError."""
    return _listed(_by_name(source), ("projects",), cursor)


def find_projects(source: JamaSource, name: str, *, exact: bool = False, cursor: str = "") -> ProjectList:
    """Find projects by key or name, the best match first. Raises InputError, SourceError."""
    wanted = line(name).casefold()
    if not wanted:
        raise InputError("no name was given", f"Pass a name; list_{source.name}_projects lists all projects.")
    projects = _by_name(source)
    called = {each.id: (line(each.key).casefold(), line(each.name).casefold()) for each in projects}
    ranked = [each for each in projects if wanted in called[each.id]]
    if not exact:
        ranked += [each for each in projects if any(wanted in name for name in called[each.id]) and each not in ranked]
        close = get_close_matches(wanted, {name for _, name in called.values()}, n=5, cutoff=0.6)
        ranked += [each for each in projects if called[each.id][1] in close and each not in ranked]
    note = "" if ranked else _nothing(source, name, projects)
    return _listed(ranked, ("projects", wanted, exact), cursor, note)


def get_item(source: JamaSource, wanted: str) -> Item:
    """Read the item with this id or document key. Raises InputError, NotFoundError, SourceError."""
    row, reader = find_item(source, wanted), source.reader
    document = reader.document(row, f"{source.name}:{row.get('project')}")
    sections, room = within({line(name): plain_text(text) for name, text in document.sections.items()})
    fields, room = within({line(name): plain_text(_text(value)) for name, value in document.fields.items()}, room)
    return Item(
        **item_row(source, row).model_dump(),
        type_id=document.type_id,
        project_id=native_id(document.project_id),
        parent_id=native_id(document.parent_id or ""),
        created=when(row, "createdDate"),
        created_by=person(source, row.get("createdBy")),
        modified_by=person(source, row.get("modifiedBy")),
        sections=sections,
        fields=fields,
        truncated=room < 0,
    )


def _by_name(source: JamaSource) -> list[Project]:
    return sorted(source.projects(), key=lambda project: (line(project.name).casefold(), project.id))


def _listed(projects: list[Project], scope: tuple[object, ...], cursor: str, note: str = "") -> ProjectList:
    rows: list[Row] = [
        {"id": int(native_id(each.id)), "key": line(each.key), "name": line(each.name)} for each in projects
    ]
    begun = read_cursor(cursor, *scope)
    taken = take(
        Walk(held(rows), begun),
        begun,
        lambda row: ProjectRow(project_id=str(row["id"]), key=row["key"], name=row["name"]),
        most=100,
    )
    return ProjectList(**facts(taken, scope, note), projects=taken.shown)


def _nothing(source: JamaSource, name: str, projects: list[Project]) -> str:
    hint = did_you_mean(line(name), [line(each.name) for each in projects])
    return f"No project is called so. {hint}list_{source.name}_projects lists them all."


def _text(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
