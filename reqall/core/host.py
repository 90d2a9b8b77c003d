"""Finds plugins and asks each, alone, what it offers: a broken one is named and left out.

Each plugin gets a pluggy manager of its own. So no plugin can abort another's hook call, the order
of installation means nothing, and a half-registered plugin leaves nothing behind. A name that two
of them offer is nobody's; reqall's own components keep theirs.
"""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pluggy

from reqall.core import hookspecs
from reqall.core.errors import PluginError, ReqallError
from reqall.core.plugin import BUILT_IN, Candidate, Choice, Offer, Plugin, built_in, installed_plugins, strictness
from reqall.core.registration import KINDS, PluginOptions, Registration
from reqall.core.wording import did_you_mean, one_of

__all__ = ["BUILT_IN", "HOOKS", "Offer", "Plugin", "PluginHost", "strictness"]

HOOKS = {f"register_{kind}s": kind for kind in KINDS}
"""The hooks by name, and what each offers."""

_MEND = "mend or uninstall it, or block it: `-NAME` in REQALL_PLUGINS"
_REASON_LENGTH = 300

_Loaded: TypeAlias = tuple[Plugin, Sequence[Offer]]


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

        `allowed` names the plugins or distributions that may be loaded, or with a `-` before them
        those that may not; None allows all. `strict` makes any failure or conflict a PluginError.
        """
        self.plugins: list[Plugin] = []
        self._offers: dict[tuple[str, str], Offer] = {}
        self._rivals: list[Offer] = []
        for module in built_ins:
            self._take_built_in(_load(built_in(module), strict=True))
        candidates = installed_plugins(hookspecs.PROJECT) if installed else []
        choice = Choice(None if allowed is None else tuple(allowed))
        self.unknown = choice.unknown(candidates)
        self._settle([_admit(candidate, choice, strict=strict) for candidate in candidates], strict=strict)

    def offers(self, kind: str | None = None) -> list[Offer]:
        """List what can be used, sorted by kind and name."""
        return [self._offers[key] for key in sorted(self._offers) if kind in (None, key[0])]

    def rivals(self) -> list[Offer]:
        """List what cannot be used because of its name, sorted by that; each says why."""
        return sorted(self._rivals, key=lambda offer: (*offer.key, offer.plugin.name))

    def names(self, kind: str) -> list[str]:
        """List the names of one kind."""
        return [offer.registration.name for offer in self.offers(kind)]

    def find(self, kind: str, name: str) -> Registration[Any]:
        """Return the registration; a PluginError says what is installed and what was left out."""
        if offer := self._offers.get((kind, name)):
            return offer.registration
        if rivals := [offer.plugin for offer in self.rivals() if offer.key == (kind, name)]:
            raise PluginError(
                f"the {kind} name {name!r} is offered by {' and by '.join(plugin.origin for plugin in rivals)}",
                f"block all but one of them: {' or '.join(_blocking(rivals))} in REQALL_PLUGINS",
            )
        others = [other for other in KINDS if (other, name) in self._offers]
        hint = f"; that is the name of a component of kind {others[0]!r}" if others else ""
        hint = hint or did_you_mean(name, self.names(kind))
        raise PluginError(f"no {kind} named {name!r}{hint}", self.remedy(kind))

    def describe(self, kind: str, name: str) -> str:
        """Name a component and the package that it comes from."""
        offer = self._offers.get((kind, name))
        return f"{kind} {name!r}" + (f" of {offer.plugin.distribution} {offer.plugin.version}" if offer else "")

    def remedy(self, kind: str) -> str:
        """Say what is installed of a kind, and which plugins were left out."""
        left_out = [str(plugin) for plugin in self.plugins if plugin.state != "loaded"]
        text = f"installed {kind}s: {one_of(self.names(kind))}"
        return text + (f"; left out: {'; '.join(left_out)}" if left_out else "")

    def _take_built_in(self, loaded: _Loaded) -> None:
        plugin, offers = loaded
        self.plugins.append(plugin)
        for offer in offers:
            if other := self._offers.get(offer.key):
                told = f"the {offer.kind} name {offer.registration.name!r} is taken by {other.plugin.origin}"
                raise PluginError(f"{plugin.origin}: {told}", "this is a defect of reqall")
            self._offers[offer.key] = offer

    def _settle(self, loaded: Sequence[_Loaded], *, strict: bool) -> None:
        """Decide who gets a name when all are there: reqall's own first, else its only claimant, else nobody."""
        claims: dict[tuple[str, str], list[Plugin]] = {}
        for offer in (offer for _, offers in loaded for offer in offers):
            claims.setdefault(offer.key, []).append(offer.plugin)
        for plugin, offers in loaded:
            refused = {o.key: why for o in offers if (why := self._refusal(o, claims[o.key]))}
            judged = replace(plugin, state="conflict", reason="; ".join(refused.values())) if refused else plugin
            if strict and refused:
                raise PluginError(str(judged), _MEND)
            self.plugins.append(judged)
            for offer in offers:
                if offer.key in refused:
                    self._rivals.append(replace(offer, plugin=judged, reason=refused[offer.key]))
                else:
                    self._offers[offer.key] = replace(offer, plugin=judged)

    def _refusal(self, offer: Offer, claimants: Sequence[Plugin]) -> str:
        """Say why a name cannot be used; empty when it can."""
        owner = self._offers.get(offer.key)
        others = [owner.plugin] if owner else [plugin for plugin in claimants if plugin is not offer.plugin]
        by = " and by ".join(plugin.origin for plugin in others)
        return f"its {offer.kind} {offer.registration.name!r} cannot be used: that is offered by {by}" if others else ""


def _admit(candidate: Candidate, choice: Choice, *, strict: bool) -> _Loaded:
    obstacle = choice.obstacle(candidate)
    return (candidate.plugin("blocked", obstacle), ()) if obstacle else _load(candidate, strict=strict)


def _load(candidate: Candidate, *, strict: bool) -> _Loaded:
    try:
        registrations, notices = _ask(candidate)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit and the panics of native extensions too
        failed = candidate.plugin("failed", _reason(error))
        if strict:
            own = candidate.distribution == BUILT_IN
            raise PluginError(str(failed), "reinstall reqall" if own else _MEND) from error
        return failed, ()
    plugin = candidate.plugin("loaded", notices=notices)
    return plugin, [Offer(kind, registration, plugin) for kind, registration in registrations]


def _blocking(rivals: Sequence[Plugin]) -> list[str]:
    """Return what blocks each: its name, or its distribution where the names are the same."""
    names = [plugin.name for plugin in rivals]
    return [f"`-{p.name if names.count(p.name) == 1 else p.distribution}`" for p in rivals]


def _ask(candidate: Candidate) -> tuple[list[tuple[str, Registration[Any]]], tuple[str, ...]]:
    """Register the plugin with a fresh manager; what its hooks return, and which of them will be gone."""
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
    found = [(kind, each) for hook, kind in HOOKS.items() if hook in callers for each in _call(hook, callers[hook])]
    for number, (kind, registration) in enumerate(found):
        if (kind, registration.name) in [(other, each.name) for other, each in found[:number]]:
            raise PluginError(f"offers the {kind} name {registration.name!r} twice")
    specs = [caller.spec for caller in callers.values() if caller.spec is not None]
    return found, tuple(str(spec.warn_on_impl) for spec in specs if spec.warn_on_impl is not None)


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
