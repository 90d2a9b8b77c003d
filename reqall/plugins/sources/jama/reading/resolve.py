"""Turns Jama's ids into text: item types, picklist options, users, releases, relationship types.

Everything is asked for when an item first needs it, and kept for ten minutes.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from reqall import JsonValue
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.http.client import JamaClient
from reqall.plugins.sources.jama.reading.cache import ExpiringCache
from reqall.plugins.sources.jama.reading.schema import ATTACHMENT, FieldSchema, TypeSchema, parse_type
from reqall.plugins.sources.jama.text.html import one_line

T = TypeVar("T")

LIFETIME = 600.0
"""Seconds for which master data are kept."""


class MasterData:
    """What all items of a Jama share; thread-safe. `clock` counts seconds."""

    def __init__(self, client: JamaClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._cache = ExpiringCache(LIFETIME, clock, lane=lambda: client.on_wait is not None)

    def item_types(self) -> Mapping[int, TypeSchema]:
        """Return all item types by id."""
        return self._cache.get("itemtypes", lambda: _types(self._client.every("/itemtypes")))

    def item_types_of(self, project: int, *, fresh: bool = False) -> Mapping[int, TypeSchema]:
        """Return the item types that a project uses."""
        path = f"/projects/{project}/itemtypes"
        return self._get(path, lambda: _types(self._client.every(path)), fresh=fresh)

    def options(self, picklist: int, *, fresh: bool = False) -> Mapping[object, str]:
        """Return the names of a picklist's options; none where it may not be read."""
        path = f"/picklists/{picklist}/options"
        return self._get(path, lambda: _names(self._client.every(path, optional=True)), fresh=fresh)

    def attachment_types(self) -> frozenset[int]:
        """Return the ids of the item types of attachments, which are files and no documents."""
        return frozenset(each.id for each in self.item_types().values() if each.category == ATTACHMENT)

    def projects(self, *, fresh: bool = False) -> list[Row]:
        """Return the visible projects, without the folders that Jama lists among them."""
        rows = self._get("projects", lambda: self._client.every("/projects"), fresh=fresh)
        return [row for row in rows if not row.get("isFolder")]

    def relationship_type(self, identifier: object) -> str:
        """Return the name of a type of relationship, or the id as text."""
        path = "/relationshiptypes"
        names = self._cache.get(path, lambda: _names(self._client.every(path)))
        return names.get(identifier) or str(identifier)

    def resolve(self, schema: FieldSchema, value: Any, project: int) -> JsonValue:
        """Return a field's value as text or scalar; an id that nothing resolves stays a number.

        Jama sometimes boxes a single value in a list; what is no JSON scalar is None.
        """
        if schema.kind == "MULTI_LOOKUP":
            options = (self._option(schema.picklist, each) for each in (value if isinstance(value, list) else [value]))
            return [option for option in options if option is not None] or None
        if isinstance(value, list):
            resolved = (self.resolve(schema, each, project) for each in value)
            texts: list[JsonValue] = [text for text in resolved if text is not None]
            return texts if len(texts) > 1 else next(iter(texts), None)
        if schema.kind == "LOOKUP":
            return self._option(schema.picklist, value)
        if schema.kind == "USER":
            return _named(self._users(), value) if _identifier(value) is not None else _scalar(value)
        if schema.kind == "RELEASE":
            return _named(self._releases(project), value) if _identifier(value) is not None else _scalar(value)
        return _scalar(value)

    def _option(self, picklist: int | None, value: Any) -> JsonValue:
        identifier = _identifier(value)
        if identifier is None:
            return _scalar(value)
        if picklist is not None and identifier in (names := self.options(picklist)):
            return names[identifier]
        # Items keep options that their picklist lists no more.
        path = f"/picklistoptions/{identifier}"
        option = self._cache.get(path, lambda: self._client.one(path, optional=True))
        return one_line(str((option or {}).get("name") or "")) or identifier

    def _get(self, key: str, load: Callable[[], T], *, fresh: bool) -> T:
        if fresh:
            self._cache.drop(key)
        return self._cache.get(key, load)

    def _users(self) -> Mapping[object, str]:
        # Listing users may be refused: ids then stay numbers.
        inactive_too = {"includeInactive": "true"}
        return self._cache.get("users", lambda: _people(self._client.every("/users", inactive_too, optional=True)))

    def _releases(self, project: int) -> Mapping[object, str]:
        of_project = {"project": project}
        return self._cache.get(
            ("releases", project), lambda: _names(self._client.every("/releases", of_project, optional=True))
        )


def _types(rows: list[Row]) -> Mapping[int, TypeSchema]:
    return {schema.id: schema for schema in map(parse_type, rows)}


def _names(rows: list[Row]) -> Mapping[object, str]:
    return {row["id"]: one_line(str(row["name"])) for row in rows if row.get("name")}


def _people(rows: list[Row]) -> Mapping[object, str]:
    names = {row["id"]: one_line(f"{row.get('firstName') or ''} {row.get('lastName') or ''}") for row in rows}
    return {row["id"]: names[row["id"]] or str(row.get("username") or row["id"]) for row in rows}


def _named(names: Mapping[object, str], value: Any) -> JsonValue:
    identifier = _identifier(value)
    return names.get(identifier) or identifier


def _identifier(value: Any) -> int | None:
    """Return the id that a value is, as a number or as digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None


def _scalar(value: Any) -> JsonValue:
    if isinstance(value, str):
        return one_line(value) or None
    return value if isinstance(value, int | float | bool) else None
