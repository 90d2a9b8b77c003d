"""Completes project keys and the names of item types from the catalog, while a person fills in a prompt."""

from collections.abc import Iterable, Mapping

from reqall.app import App
from reqall.core.errors import ReqallError
from reqall.core.types import native_id

MAX_VALUES = 100
"""The protocol's limit of one answer."""


def complete(app: App, argument: str, begun: str, given: Mapping[str, str]) -> list[str]:
    """Return the values that an argument may have, those that begin as the person did first; none when unknown."""
    try:
        if argument == "project_id":
            return _fitting(begun, _projects(app))
        if argument == "item_type":
            return _fitting(begun, _types(app, given.get("project_id", "")))
    except ReqallError:
        return []  # a suggestion is not the place to tell that the catalog cannot be read
    return []


def _projects(app: App) -> list[str]:
    return [state.project.key or native_id(state.project.id) for state in app.assembly.catalog.projects()]


def _types(app: App, project: str) -> list[str]:
    known = [app.synced_project(project)] if project else [s.project for s in app.assembly.catalog.projects()]
    return sorted({found.name for found in app.assembly.catalog.item_types([project.id for project in known])})


def _fitting(begun: str, values: Iterable[str]) -> list[str]:
    folded = begun.casefold()
    found = [value for value in values if folded in value.casefold()]
    return sorted(found, key=lambda value: not value.casefold().startswith(folded))[:MAX_VALUES]
