"""Short lists: releases, tags and baselines of a project, and the users."""

from reqall import SourceAuthError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.tools.cursor import Cursor, read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line, rich
from reqall.plugins.sources.jama.tools.lookup import find_project
from reqall.plugins.sources.jama.tools.paging import UNKNOWN, Taken, Walk, served, take
from reqall.plugins.sources.jama.tools.results_lists import (
    BaselineList,
    BaselineRow,
    ReleaseList,
    ReleaseRow,
    TagList,
    TagRow,
    UserList,
    UserRow,
)
from reqall.plugins.sources.jama.tools.rows import facts, number, person, when


def list_releases(source: JamaSource, project: str, cursor: str = "") -> ReleaseList:
    """List a project's releases. Raises InputError, NotFoundError, SourceError."""
    walk, scope, begun = _of_project(source, "/releases", project, cursor)

    def show(row: Row) -> ReleaseRow:
        return ReleaseRow(
            release_id=str(row["id"]),
            name=line(row.get("name")),
            description=rich(row.get("description")),
            date=line(row.get("releaseDate")),
            active=bool(row.get("active")),
            archived=bool(row.get("archived")),
            items=number(row.get("itemCount")),
        )

    taken = take(walk, begun, show)
    return ReleaseList(**facts(taken, scope), releases=taken.shown)


def list_tags(source: JamaSource, project: str, cursor: str = "") -> TagList:
    """List a project's tags. Raises InputError, NotFoundError, SourceError."""
    walk, scope, begun = _of_project(source, "/tags", project, cursor)
    taken = take(walk, begun, lambda row: TagRow(tag_id=str(row["id"]), name=line(row.get("name"))))
    return TagList(**facts(taken, scope), tags=taken.shown)


def list_baselines(source: JamaSource, project: str, cursor: str = "") -> BaselineList:
    """List a project's baselines. Raises InputError, NotFoundError, SourceError."""
    walk, scope, begun = _of_project(source, "/baselines", project, cursor)

    def show(row: Row) -> BaselineRow:
        return BaselineRow(
            baseline_id=str(row["id"]),
            name=line(row.get("name")),
            description=rich(row.get("description")),
            created=when(row, "createdDate"),
            author=person(source, row.get("createdBy")),
        )

    taken = take(walk, begun, show)
    return BaselineList(**facts(taken, scope), baselines=taken.shown)


def list_users(source: JamaSource, cursor: str = "") -> UserList:
    """List the users, inactive ones included; an empty list with a note where that is refused. Raises SourceError."""
    begun = read_cursor(cursor, "users")
    walk = Walk(served(source.client, "/users", {"includeInactive": "true"}), begun)

    def show(row: Row) -> UserRow:
        return UserRow(
            user_id=str(row["id"]),
            name=line(f"{row.get('firstName') or ''} {row.get('lastName') or ''}"),
            username=line(row.get("username")),
            email=line(row.get("email")),
            active=bool(row.get("active", True)),
        )

    try:
        taken = take(walk, begun, show)
    except SourceAuthError:
        # Of wrong credentials the caller must hear; only a list that is forbidden by itself is left out.
        source.client.total("/projects", {})
        nothing: Taken[UserRow] = Taken([], UNKNOWN, 0, None)
        note = "Jama does not let you list its users: people stay numbers where only their id is known."
        return UserList(**facts(nothing, ("users",), note), users=[])
    return UserList(**facts(taken, ("users",)), users=taken.shown)


def _of_project(source: JamaSource, path: str, project: str, cursor: str) -> tuple[Walk, tuple[object, ...], Cursor]:
    identifier = find_project(source, project)["id"]
    scope = (path, identifier)
    begun = read_cursor(cursor, *scope)
    return Walk(served(source.client, path, {"project": identifier}), begun), scope, begun
