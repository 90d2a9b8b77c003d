"""Finds plugins and asks each, alone, what it offers: a broken one is named and left out.

Each plugin gets a pluggy manager of its own. So no plugin can abort another's hook call, the order
of installation means nothing, and a half-registered plugin leaves nothing behind.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Literal

import pluggy

from reqall.core import hookspecs
from reqall.core.errors import PluginError
from reqall.core.registration import KINDS, Registration
from reqall.core.wording import did_you_mean, one_of

BUILT_IN = "reqall"
"""The distribution that built-in plugins come from."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin that was found: loaded, failed (with the reason) or blocked by the allow-list."""

    name: str
    distribution: str
    version: str
    state: Literal["loaded", "failed", "blocked"]
    reason: str = ""

    def __str__(self) -> str:
        """Name the plugin as a reader of an error wants it: where it came from and what is wrong."""
        told = f"plugin {self.name!r} of {self.distribution} {self.version}"
        return f"{told}: {self.reason}" if self.reason else told


@dataclass(frozen=True, slots=True)
class Offer:
    """A registration and the plugin that made it."""

    kind: str
    registration: Registration[Any]
    plugin: Plugin


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    distribution: str
    version: str
    load: Callable[[], object]


class PluginHost:
    """All that is installed, by kind and name. Built per application; nothing is global."""

    def __init__(
        self,
        built_ins: Iterable[str] = (),
        *,
        allowed: Iterable[str] | None = None,
        strict: bool = False,
        installed: bool = True,
    ) -> None:
        """Load built-in modules, then (unless `installed` is off) plugins from entry points.

        `allowed` limits the entry points by name; None allows all. `strict` makes any failure a
        PluginError.
        """
        self.plugins: list[Plugin] = []
        self._offers: dict[tuple[str, str], Offer] = {}
        for module in built_ins:
            self._load(_built_in(module), strict=True)
        allow = None if allowed is None else set(allowed)
        for candidate in _installed() if installed else ():
            if allow is not None and candidate.name not in allow:
                self.plugins.append(_plugin(candidate, "blocked", "not in the allow-list REQALL_PLUGINS"))
            else:
                self._load(candidate, strict=strict)

    def offers(self, kind: str | None = None) -> list[Offer]:
        """List what is offered, sorted by kind and name."""
        return [self._offers[key] for key in sorted(self._offers) if kind in (None, key[0])]

    def names(self, kind: str) -> list[str]:
        """List the names of one kind."""
        return [offer.registration.name for offer in self.offers(kind)]

    def find(self, kind: str, name: str) -> Registration[Any]:
        """Return the registration; a PluginError says what is installed and what was left out."""
        offer = self._offers.get((kind, name))
        if offer is None:
            raise PluginError(f"no {kind} named {name!r}{did_you_mean(name, self.names(kind))}", self.remedy(kind))
        return offer.registration

    def remedy(self, kind: str) -> str:
        """Say what is installed of a kind, and which plugins were left out."""
        left_out = [str(plugin) for plugin in self.plugins if plugin.state != "loaded"]
        text = f"installed {kind}s: {one_of(self.names(kind))}"
        return text + (f"; left out: {'; '.join(left_out)}" if left_out else "")

    def _load(self, candidate: _Candidate, *, strict: bool) -> None:
        try:
            registrations = _ask(candidate)
            self._refuse_taken(registrations)
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
            failed = _plugin(candidate, "failed", reason)
            if strict:
                raise PluginError(f"{failed}") from error
            self.plugins.append(failed)
            return
        plugin = _plugin(candidate, "loaded")
        self.plugins.append(plugin)
        for kind, registration in registrations:
            self._offers[kind, registration.name] = Offer(kind, registration, plugin)

    def _refuse_taken(self, registrations: Iterable[tuple[str, Registration[Any]]]) -> None:
        seen: set[tuple[str, str]] = set()
        for kind, registration in registrations:
            key = (kind, registration.name)
            if key in self._offers:
                raise PluginError(f"the {kind} name {registration.name!r} is taken by {self._offers[key].plugin}")
            if key in seen:
                raise PluginError(f"offers the {kind} name {registration.name!r} twice")
            seen.add(key)


def _ask(candidate: _Candidate) -> list[tuple[str, Registration[Any]]]:
    """Register the plugin with a fresh manager and collect what each hook returns.

    Results are made lists here, so that a generator that raises late does it inside our `try`.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if manager.register(candidate.load(), name=candidate.name) is None:
        raise PluginError("pluggy refused to register it")
    manager.check_pending()
    found: list[tuple[str, Registration[Any]]] = []
    for kind in KINDS:
        for result in getattr(manager.hook, f"register_{kind}s")():
            for registration in list(result):
                if not isinstance(registration, Registration):
                    raise PluginError(f"register_{kind}s gave a {type(registration).__name__}, not a Registration")
                found.append((kind, registration))
    return found


def _built_in(module: str) -> _Candidate:
    name = module.rpartition("plugins.")[2]
    return _Candidate(name, BUILT_IN, _own_version(), lambda: _import(module))


def _import(module: str) -> ModuleType:
    return importlib.import_module(module)


def _own_version() -> str:
    import reqall

    return reqall.__version__


def _installed() -> list[_Candidate]:
    """List plugins from entry points, sorted, so that the file system's order means nothing."""
    found = []
    for point in entry_points(group=hookspecs.PROJECT):
        name = point.dist.name if point.dist else "unknown distribution"
        version = point.dist.version if point.dist else "?"
        found.append(_Candidate(point.name, name, version, point.load))
    return sorted(found, key=lambda candidate: (candidate.name, candidate.distribution))


def _plugin(candidate: _Candidate, state: Literal["loaded", "failed", "blocked"], reason: str = "") -> Plugin:
    return Plugin(candidate.name, candidate.distribution, candidate.version, state, reason)


def strictness(environment: Mapping[str, str]) -> dict[str, Any]:
    """Read REQALL_PLUGINS (allow-list) and REQALL_STRICT_PLUGINS from the environment."""
    listed = environment.get("REQALL_PLUGINS")
    allowed = None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]
    return {"allowed": allowed, "strict": environment.get("REQALL_STRICT_PLUGINS", "") in ("1", "true", "yes")}
