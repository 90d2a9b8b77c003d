"""Item types with their fields."""

from difflib import get_close_matches

from reqall import InputError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.schema import FieldSchema, TypeSchema
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.tools.cursor import read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line
from reqall.plugins.sources.jama.tools.lookup import called, did_you_mean, find_project
from reqall.plugins.sources.jama.tools.paging import Walk, held, take
from reqall.plugins.sources.jama.tools.results_lists import ItemTypeList, ItemTypeRow
from reqall.plugins.sources.jama.tools.rows import facts

_MOST_CHOICES = 30


def list_item_types(source: JamaSource, project: str = "", cursor: str = "") -> ItemTypeList:
    """List all item types, or those that a project uses. Raises InputError, NotFoundError, SourceError."""
    number = int(find_project(source, project)["id"]) if project.strip() else 0
    types = source.master.item_types_of(number) if number else source.master.item_types()
    return _listed(source, list(types.values()), ("item types", number), cursor)


def find_item_types(source: JamaSource, name: str, cursor: str = "") -> ItemTypeList:
    """Find item types by name, key or id, the best match first; of a single one also the choices of its fields.

    Raises InputError, SourceError.
    """
    wanted = line(name).casefold()
    if not wanted:
        raise InputError("no name was given", f"Pass a name; list_{source.name}_item_types lists all types.")
    types = list(source.master.item_types().values())
    names = {each.id: [str(each.id), *called(each)] for each in types}
    found = [each for each in types if wanted in names[each.id]]
    if not found:
        close = get_close_matches(wanted, {text for texts in names.values() for text in texts}, n=5, cutoff=0.6)
        found = [each for each in types if any(wanted in text for text in names[each.id][1:])]
        found += [each for each in types if each not in found and not set(close).isdisjoint(names[each.id][1:])]
    note = "" if found else _nothing(source, name, types)
    return _listed(source, found, ("item types", wanted), cursor, note, choices=len(found) == 1)


def _listed(
    source: JamaSource,
    types: list[TypeSchema],
    scope: tuple[object, ...],
    cursor: str,
    note: str = "",
    *,
    choices: bool = False,
) -> ItemTypeList:
    known = {each.id: each for each in types}
    rows: list[Row] = [{"id": each.id} for each in types]
    begun = read_cursor(cursor, *scope)

    def show(row: Row) -> ItemTypeRow:
        each = known[row["id"]]
        return ItemTypeRow(
            type_id=str(each.id),
            name=line(each.name),
            key=line(each.type_key),
            category=line(each.category),
            fields=[_field(source, definition, choices=choices) for definition in each.fields.values()],
        )

    taken = take(Walk(held(rows), begun), begun, show)
    return ItemTypeList(**facts(taken, scope, note), item_types=taken.shown)


def _field(source: JamaSource, definition: FieldSchema, *, choices: bool) -> str:
    kind = line(definition.kind)
    if choices and definition.picklist is not None:
        options = source.client.every(f"/picklists/{definition.picklist}/options", optional=True)
        names = [line(option.get("name")) for option in options if option.get("active", True)]
        more = [f"{len(names) - _MOST_CHOICES} more"] if len(names) > _MOST_CHOICES else []
        kind = f"{kind}: {', '.join([*names[:_MOST_CHOICES], *more])}"
    return f"{line(definition.name)}: {line(definition.label)} ({kind})"


def _nothing(source: JamaSource, name: str, types: list[TypeSchema]) -> str:
    hint = did_you_mean(line(name), [line(each.name) for each in types])
    return f"No item type is called so. {hint}list_{source.name}_item_types lists them all."
