"""How a user names a project: by id, key or name."""

from collections.abc import Iterable

from reqall.core.errors import InputError
from reqall.core.types import Project, native_id
from reqall.core.wording import one_of


def match_project(text: str, projects: Iterable[Project]) -> Project | None:
    """Find a project by id before key before name; names and keys in any case. Raises InputError when two match."""
    wanted = text.strip().casefold()
    listed = list(projects)
    for same in (
        [p for p in listed if wanted in (p.id.casefold(), native_id(p.id).casefold())],
        [p for p in listed if p.key.casefold() == wanted],
        [p for p in listed if p.name.casefold() == wanted],
    ):
        if len(same) > 1:
            raise InputError(f"{text!r} names {len(same)} projects", f"use an id: {one_of(p.id for p in same)}")
        if same:
            return same[0]
    return None
