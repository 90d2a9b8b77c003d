"""Builds a component by a plugin's own code; whatever that does becomes an error that names the plugin."""

from typing import Any, TypeVar

from reqall.core.conformity import missing_members
from reqall.core.errors import PluginError
from reqall.core.guard import BLAME, blamed
from reqall.core.registration import Registration, Services

T = TypeVar("T")


def built(kind: str, registration: Registration[T], options: Any, services: Services, where: str, by: str) -> T:
    """Build a component for `where`; `by` names it and its package. Raises ReqallError."""
    with blamed(f"{where} could not be built by {by}"):
        component = registration.build(options, services)
        if lacks := missing_members(kind, component):
            raise PluginError(f"{where}: {by} built a {type(component).__name__} without {', '.join(lacks)}", BLAME)
        return component
