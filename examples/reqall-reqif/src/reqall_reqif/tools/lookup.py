"""How a user names an object or a specification: by id, IDENTIFIER, key or name."""

from collections.abc import Iterable
from difflib import get_close_matches

from reqall import InputError, NotFoundError, Project
from reqall_reqif.collection import Collection
from reqall_reqif.identity import Entry
from reqall_reqif.source import ReqifSource

_MOST_CHOICES = 10


def find_object(source: ReqifSource, collection: Collection, text: str) -> Entry:
    """Return the object with this id, IDENTIFIER or key. Raises InputError, NotFoundError."""
    found = try_object(source, collection, text)
    if found is None:
        keys = [entry.key for entry in collection.entries.values()]
        raise NotFoundError(
            f"no object has the id or key {text.strip()!r}",
            f"{did_you_mean(text, keys)}search_{source.name}_semantics finds objects by what they are about.",
        )
    return found


def try_object(source: ReqifSource, collection: Collection, text: str) -> Entry | None:
    """Return the object that is named, or None. Raises InputError when nothing or several are named."""
    wanted = _bare(source, text)
    if not wanted:
        raise InputError("no object was given", "Pass an object's id or key.")
    exact = collection.by_native.get(wanted) or collection.entries.get(wanted)
    if exact:
        return exact
    matches = [entry for entry in collection.entries.values() if entry.key.casefold() == wanted.casefold()]
    if len(matches) > 1:
        ids = ", ".join(entry.native for entry in matches[:_MOST_CHOICES])
        raise InputError(f"{len(matches)} objects have the key {wanted!r}", f"Pass one of their ids: {ids}.")
    return matches[0] if matches else None


def try_project(source: ReqifSource, collection: Collection, text: str) -> Project | None:
    """Return the specification with this id, key or name, in any case, or None. Raises InputError for several."""
    wanted = _bare(source, text).casefold()
    projects = collection.projects()
    for matches in (
        [each for each in projects if each.id.partition(":")[2].casefold() == wanted],
        [each for each in projects if each.key.casefold() == wanted],
        [each for each in projects if each.name.casefold() == wanted],
    ):
        if len(matches) > 1:
            ids = ", ".join(each.id for each in matches[:_MOST_CHOICES])
            raise InputError(f"{len(matches)} specifications are called {text!r}", f"Pass one of their ids: {ids}.")
        if matches:
            return matches[0]
    return None


def find_project(source: ReqifSource, collection: Collection, text: str) -> Project:
    """Return the specification with this id, key or name. Raises InputError, NotFoundError."""
    found = try_project(source, collection, text)
    if found is None:
        names = [name for each in collection.projects() for name in (each.key, each.name)]
        raise NotFoundError(
            f"no specification has the id, key or name {text.strip()!r}",
            f"{did_you_mean(text, names)}list_{source.name}_specifications lists them.",
        )
    return found


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """Return a sentence with the names closest to what was asked for, or nothing."""
    known = {name.casefold(): name for name in names if name}
    close = get_close_matches(wanted.strip().casefold(), known, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(repr(known[each]) for each in close)}? " if close else ""


def _bare(source: ReqifSource, text: str) -> str:
    return text.strip().removeprefix(f"{source.name}:")
