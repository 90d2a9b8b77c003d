"""Finds projects, item types and items by what people call them: id, key or name."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from reqall import InputError, NotFoundError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.schema import TypeSchema
from reqall.plugins.sources.jama.source import ITEMS, JamaSource
from reqall.plugins.sources.jama.tools.excerpts import line

_LONGEST_ID = 18


def own_id(source: JamaSource, text: str) -> str:
    """Return an id as Jama has it: `jama:51` and `51` are the same."""
    return text.strip().removeprefix(f"{source.name}:")


def find_project(source: JamaSource, text: str) -> Row:
    """Return the project with this id, key or name, in any case. Raises InputError, NotFoundError."""
    wanted = own_id(source, text)
    if not wanted:
        raise InputError("no project was given", f"Pass a project's id, key or name; see list_{source.name}_projects.")
    rows = source.master.projects()
    matches = _matching_projects(source, rows, wanted)
    if not matches:
        # It may be younger than what is kept.
        rows = source.master.projects(fresh=True)
        matches = _matching_projects(source, rows, wanted)
    if len(matches) > 1:
        ids = ", ".join(str(row["id"]) for row in matches)
        raise InputError(f"{len(matches)} projects are called {wanted!r}", f"Pass one of their ids: {ids}.")
    if not matches:
        projects = map(source.project_of, rows)
        names = [line(name) for project in projects for name in (project.key, project.name)]
        raise NotFoundError(
            f"no visible project has the id, key or name {wanted!r}",
            f"{did_you_mean(wanted, names)}list_{source.name}_projects lists the projects.",
        )
    return matches[0]


def _matching_projects(source: JamaSource, rows: list[Row], wanted: str) -> list[Row]:
    """Ids win over keys, keys over names."""
    folded = line(wanted).casefold()
    by_id = [row for row in rows if str(row["id"]) == wanted]
    by_key = [row for row in rows if line(source.project_of(row).key).casefold() == folded]
    by_name = [row for row in rows if line(source.project_of(row).name).casefold() == folded]
    return by_id or by_key or by_name


def find_item_type(source: JamaSource, text: str) -> TypeSchema:
    """Return the item type with this id, name, plural or key, in any case. Raises InputError, NotFoundError."""
    types = source.master.item_types().values()
    wanted = text.strip()
    matches = [each for each in types if str(each.id) == wanted]
    matches = matches or [each for each in types if line(wanted).casefold() in called(each)]
    if len(matches) > 1:
        choices = ", ".join(f"{each.id} ({line(each.name)})" for each in matches)
        raise InputError(f"{len(matches)} item types are called {wanted!r}", f"Pass one of their ids: {choices}.")
    if not matches:
        names = sorted({line(each.name) for each in types})
        hint = did_you_mean(wanted, names) or f"The item types are: {', '.join(names)}."
        raise NotFoundError(f"no item type has the id or name {wanted!r}", hint.rstrip())
    return matches[0]


def called(each: TypeSchema) -> Iterator[str]:
    """Yield the names of an item type, in small letters."""
    return (line(name).casefold() for name in (each.name, each.plural, each.type_key) if name)


def find_release(source: JamaSource, project: int, text: str) -> int:
    """Return the id of the project's release with this id or name. Raises InputError, NotFoundError."""
    wanted = line(text)
    rows = source.client.every("/releases", {"project": project})
    matches = [row for row in rows if str(row["id"]) == wanted]
    matches = matches or [row for row in rows if line(row.get("name")).casefold() == wanted.casefold()]
    if len(matches) > 1:
        ids = ", ".join(str(row["id"]) for row in matches)
        raise InputError(f"{len(matches)} releases are called {wanted!r}", f"Pass one of their ids: {ids}.")
    if not matches:
        names = [line(row.get("name")) for row in rows]
        hint = did_you_mean(wanted, names) or (f"It has: {', '.join(names[:10])}. " if names else "")
        raise NotFoundError(
            f"the project has no release with the id or name {wanted!r}",
            f"{hint}list_{source.name}_releases lists them.",
        )
    return int(matches[0]["id"])


def find_item(source: JamaSource, text: str) -> Row:
    """Return the item with this id or document key. Raises InputError, NotFoundError."""
    wanted = own_id(source, text)
    if wanted.isascii() and wanted.isdigit() and len(wanted) <= _LONGEST_ID:
        row = source.client.one(f"{ITEMS}/{int(wanted)}")
        assert row is not None
        return row
    if not wanted:
        raise InputError("no item was given", "Pass an item's id (9608) or its document key (SA-REQ-20).")
    rows = source.client.every(ITEMS, {"documentKey": either_case(wanted)})
    matches = [row for row in rows if str(row.get("documentKey") or "").casefold() == wanted.casefold()]
    if not matches:
        raise NotFoundError(
            f"no visible item has the document key {wanted!r}",
            "Check the key; an item that was moved to another project has a new one.",
        )
    if len(matches) > 1:
        ids = ", ".join(str(row["id"]) for row in matches)
        raise InputError(f"{len(matches)} items have the document key {wanted!r}", f"Pass one of their ids: {ids}.")
    return matches[0]


def either_case(key: str) -> list[str]:
    """Return a document key as given and in capitals, as Jama has it; values of a parameter are alternatives."""
    return sorted({key, key.upper()})


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """Return a sentence with the names closest to what was asked for, or nothing."""
    known = {name.casefold(): name for name in names if name}
    close = get_close_matches(wanted.casefold(), known, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(repr(known[each]) for each in close)}? " if close else ""
