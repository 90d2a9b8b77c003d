"""The commands about plugins: list what is installed, and try one."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

import typer

from reqall.answers import plugins_record
from reqall.app import BUILT_INS
from reqall.core.errors import InputError, NotFoundError
from reqall.core.hookspecs import PROJECT
from reqall.core.host import PluginHost
from reqall.core.plugin import BUILT_IN, Candidate, Plugin, installed_plugins, is_called
from reqall.core.wording import did_you_mean, one_of
from reqall.invocation import AsJson, opened, print_json
from reqall.plugin_check.report import Report, Tried

_MESSAGE_LINES = 4
"""Of how a law was broken; `--json` has all of it."""


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer()
    group.callback(invoke_without_command=True)(plugins)
    group.command()(check)
    cli.add_typer(group, name="plugins")


def plugins(context: typer.Context, as_json: AsJson = False) -> None:
    """List what plugins offer, where it comes from, and why one was left out."""
    from reqall.terminal import print_plugins

    if context.invoked_subcommand is not None:
        return
    with opened() as app:
        if as_json:
            print_json(plugins_record(app.host))
        else:
            print_plugins(app.host)


def check(
    name: Annotated[str, typer.Argument(help="A plugin, its distribution, or one of reqall's own components")],
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds without a sign of life until it is ended")] = 60,
    given: Annotated[
        list[str] | None,
        typer.Option("--with", help="COMPONENT.OPTION=VALUE, as under `with` in the YAML; may be repeated"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try a plugin in a process of its own: import it, build its components, run the laws of their kinds.

    A crash, an exit and a hang are told in words; exit code 1 when anything is wrong. The laws need the
    extra `testing` of reqall.
    """
    from reqall.plugin_check.trial import try_plugin

    _require_known(name)
    report = try_plugin(name, _options(given or ()), timeout)
    if as_json:
        print_json(asdict(report) | {"failed": report.has_failed})
    else:
        for line in _told(report):
            typer.echo(line)
    if report.has_failed:
        raise typer.Exit(1)


def _require_known(name: str) -> None:
    """Refuse a name that nothing has; no plugin is imported for that."""
    candidates = installed_plugins(PROJECT)
    own = PluginHost(BUILT_INS, installed=False)
    known: list[Candidate | Plugin] = [*candidates, *own.plugins]
    names = {each for plugin in known for each in (plugin.name, plugin.distribution)}
    components = {offer.registration.name for offer in own.offers()}
    if name in components or any(is_called(plugin, name) for plugin in known):
        return
    others = sorted({candidate.name for candidate in candidates})
    raise NotFoundError(
        f"no plugin {name!r}{did_you_mean(name, names | components)}",
        f"installed plugins: {one_of(others)}; {BUILT_IN}'s own components: {one_of(sorted(components), 40)}",
    )


def _options(given: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Read COMPONENT.OPTION=VALUE; a value that begins a list or a mapping is JSON."""
    found: dict[str, dict[str, Any]] = {}
    for text in given:
        place, equals, value = text.partition("=")
        component, _, option = place.rpartition(".")
        if not (component and option and equals):
            raise InputError(
                f"--with {text!r} is not COMPONENT.OPTION=VALUE", "write such as --with jsonl.path=a.jsonl"
            )
        try:
            found.setdefault(component, {})[option] = json.loads(value) if value[:1] in ("[", "{") else value
        except ValueError as error:
            raise InputError(f"--with {place}: the value is not JSON", "close its brackets and quotes") from error
    return found


def _told(report: Report) -> Iterable[str]:
    """Tell a report: a line for each plugin and component, the broken laws below their component."""
    for plugin in report.plugins:
        yield f"{plugin.origin}: {plugin.state}" + (f": {plugin.reason}" if plugin.reason else "")
        yield from (f"    notice: {notice}" for notice in plugin.notices)
    for tried in report.components:
        yield _verdict(tried)
        for broken in tried.broken:
            yield f"    {broken.law}"
            yield from (f"        {line}" for line in broken.message.splitlines()[:_MESSAGE_LINES])
    if report.ended:
        yield f"{report.ended} {report.doing}"
        yield from (f"    | {line}" for line in report.output.splitlines())


def _verdict(tried: Tried) -> str:
    skipped = f", {tried.skipped} skipped" if tried.skipped else ""
    counts = f"{tried.laws} laws{skipped}" if tried.verdict == "PASSED" else ""
    if tried.broken:
        counts = f"{len(tried.broken)} of {len(tried.broken) + tried.laws} laws are broken{skipped}"
    told = ": ".join(part for part in (tried.verdict, counts, tried.reason) if part)
    return f"{tried.kind} {tried.name!r}: {told}"
