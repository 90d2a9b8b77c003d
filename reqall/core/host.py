"""Finds plugins and asks each, alone, what it offers: a broken one is named and left out.

Each plugin gets a pluggy manager of its own. So no plugin can abort another's hook call, the order
of installation means nothing, and a half-registered plugin leaves nothing behind.
"""

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Literal

import pluggy

from reqall.core import hookspecs
from reqall.core.errors import PluginError, ReqallError
from reqall.core.registration import KINDS, PluginOptions, Registration
from reqall.core.version import __version__
from reqall.core.wording import did_you_mean, one_of

BUILT_IN = "reqall"
"""The distribution that built-in plugins come from."""

HOOKS = {f"register_{kind}s": kind for kind in KINDS}
"""The hooks by name, and what each offers."""

_REASON_LENGTH = 300


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
            others = [other for other in KINDS if (other, name) in self._offers]
            hint = f"; that is the name of a component of kind {others[0]!r}" if others else ""
            hint = hint or did_you_mean(name, self.names(kind))
            raise PluginError(f"no {kind} named {name!r}{hint}", self.remedy(kind))
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
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit and the panics of native extensions too
            failed = _plugin(candidate, "failed", _reason(error))
            if strict:
                own = candidate.distribution == BUILT_IN
                remedy = "reinstall reqall" if own else "mend or uninstall it, or list others in REQALL_PLUGINS"
                raise PluginError(str(failed), remedy) from error
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
    """Register the plugin with a fresh manager and collect what each hook returns."""
    plugin = candidate.load()
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if manager.register(plugin, name=candidate.name) is None:
        raise PluginError("pluggy refused to register it")
    callers = {caller.name: caller for caller in manager.get_hookcallers(plugin) or ()}
    for name, caller in callers.items():
        if name not in HOOKS and not all(hook.optionalhook for hook in caller.get_hookimpls()):
            raise PluginError(f"unknown hook {name!r}{did_you_mean(name, HOOKS)}")
    bare = [name for name in HOOKS if name not in callers and callable(getattr(plugin, name, None))]
    if bare:
        raise PluginError(f"{bare[0]} lacks the decorator @hookimpl")
    if not callers and candidate.distribution != BUILT_IN:
        raise PluginError("has no hook; the entry point must name what holds the functions with @hookimpl")
    return [(kind, found) for hook, kind in HOOKS.items() if hook in callers for found in _call(hook, callers[hook])]


def _call(name: str, caller: pluggy.HookCaller) -> list[Registration[Any]]:
    """Call one hook; what it returns is made a list here, so that a generator that raises late does it here."""
    results = caller()
    if not results:
        raise PluginError(f"{name} returned None, not a list of Registrations")
    if inspect.iscoroutine(results[0]):
        results[0].close()
        raise PluginError(f"{name} is async; hooks are plain functions")
    found = list(results[0])
    for registration in found:
        if not isinstance(registration, Registration):
            raise PluginError(f"{name} gave a {type(registration).__name__}, not a Registration")
        wrong = _malformed(registration)
        if wrong:
            raise PluginError(f"{name} gave a Registration whose {wrong}")
    return found


def _malformed(registration: Registration[Any]) -> str:
    """Say which field holds what it must not; later it would break far from the plugin that is to blame."""
    options = registration.options
    if not isinstance(registration.name, str) or not registration.name.strip():
        return "name is not a text"
    if not isinstance(registration.summary, str):
        return "summary is not a text"
    if not callable(registration.build):
        return "build cannot be called"
    if not (isinstance(options, type) and issubclass(options, PluginOptions)):
        return "options are not a subclass of PluginOptions"
    return ""


def _reason(error: BaseException) -> str:
    """Tell an error in one line; our own without its type."""
    try:
        text = error.message if isinstance(error, ReqallError) else f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an exception of a plugin may fail even at telling its text
        text = type(error).__name__
    line = " ".join(text.split()).removesuffix(":")
    return line if len(line) <= _REASON_LENGTH else f"{line[:_REASON_LENGTH]}..."


def _built_in(module: str) -> _Candidate:
    name = module.rpartition("plugins.")[2]
    return _Candidate(name, BUILT_IN, __version__, lambda: _import(module))


def _import(module: str) -> ModuleType:
    return importlib.import_module(module)


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
    return {
        "allowed": allowed,
        "strict": environment.get("REQALL_STRICT_PLUGINS", "").lower() in ("1", "true", "yes", "on"),
    }
