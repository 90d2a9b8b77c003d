"""What is installed: the plugins that entry points name, which of them may be loaded, and what came of each."""

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Literal, TypeAlias

from reqall.core.environment import Environment
from reqall.core.registration import Registration
from reqall.core.version import __version__

BUILT_IN = "reqall"
"""The distribution that built-in plugins come from."""

VARIABLE = "REQALL_PLUGINS"
"""Names the plugins that may be loaded, or with a `-` before them those that may not."""

State: TypeAlias = Literal["loaded", "failed", "blocked", "conflict"]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin that was found, and what came of it.

    `conflict` is loaded, but for some names that another one offers too. `reason` says why it is not
    simply loaded; `notices` name what it uses and what will be gone.
    """

    name: str
    distribution: str
    version: str
    state: State
    reason: str = ""
    notices: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """The plugin and where it came from."""
        return f"plugin {self.name!r} of {self.distribution} {self.version}"

    def __str__(self) -> str:
        """Name the plugin as a reader of an error wants it: where it came from and what is wrong."""
        return f"{self.origin}: {self.reason}" if self.reason else self.origin


@dataclass(frozen=True, slots=True)
class Offer:
    """A registration and the plugin that made it; `reason` says why it cannot be used, empty when it can."""

    kind: str
    registration: Registration[Any]
    plugin: Plugin
    reason: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What a configuration finds it by."""
        return self.kind, self.registration.name


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin before it is loaded."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]

    def plugin(self, state: State, reason: str = "", notices: tuple[str, ...] = ()) -> Plugin:
        """Say what came of it."""
        return Plugin(self.name, self.distribution, self.version, state, reason, notices)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which plugins may be loaded: names, or names with a `-` before them; None allows all, nothing none."""

    words: tuple[str, ...] | None = None

    def obstacle(self, candidate: Candidate) -> str:
        """Say why a plugin may not be loaded; empty when it may."""
        words = self.words
        if words is None:
            return ""
        if any(is_called(candidate, word[1:]) for word in words if word.startswith("-")):
            return f"blocked by {VARIABLE}"
        named = [word for word in words if not word.startswith("-")]
        if (named or not words) and not any(is_called(candidate, word) for word in named):
            return f"not in the allow-list {VARIABLE}"
        return ""

    def unknown(self, candidates: Iterable[Candidate]) -> list[str]:
        """List the names that no plugin has."""
        known = list(candidates)
        names = [word.removeprefix("-") for word in self.words or ()]
        return [name for name in names if not any(is_called(candidate, name) for candidate in known)]


def is_called(found: Candidate | Plugin, name: str) -> bool:
    """Tell whether a name is that of an entry point or of its distribution, however it is spelt (PEP 503)."""
    return _normal(name) in (_normal(found.name), _normal(found.distribution))


def built_in(module: str) -> Candidate:
    """Make a candidate of one of reqall's own modules."""
    name = module.rpartition("plugins.")[2]
    return Candidate(name, BUILT_IN, __version__, lambda: importlib.import_module(module))


def installed_plugins(group: str) -> list[Candidate]:
    """List plugins from entry points, sorted, so that the file system's order means nothing."""
    found = []
    for point in entry_points(group=group):
        name = point.dist.name if point.dist else "unknown distribution"
        version = point.dist.version if point.dist else "?"
        found.append(Candidate(point.name, name, version, point.load))
    return sorted(found, key=lambda candidate: (candidate.name, candidate.distribution))


def strictness(environment: Mapping[str, str]) -> dict[str, Any]:
    """Read REQALL_PLUGINS and REQALL_STRICT_PLUGINS from the environment; an emptied list allows no plugin."""
    is_emptied = isinstance(environment, Environment) and VARIABLE in environment.emptied
    listed = "" if is_emptied else environment.get(VARIABLE)
    allowed = None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]
    return {
        "allowed": allowed,
        "strict": environment.get("REQALL_STRICT_PLUGINS", "").lower() in ("1", "true", "yes", "on"),
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
