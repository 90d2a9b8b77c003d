"""The commands about models: which ones components run on, fetching them ahead of time, and checking them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from reqall.app import App
from reqall.core.components import expand_options, nested
from reqall.core.errors import InputError, NotFoundError, ReqallError
from reqall.core.model_store import ModelStore
from reqall.core.registration import ComponentConfig, Registration
from reqall.core.weights import HubModel
from reqall.core.wording import amount, did_you_mean, one_of
from reqall.invocation import AsJson, opened, print_json

Named = Annotated[
    list[str] | None, typer.Argument(help="A component, or a model as the list names it; none: what pipelines use")
]


@dataclass(frozen=True, slots=True)
class Needed:
    """A model and the components that run on it; `used_by` names the pipelines or embedders, if any do."""

    model: HubModel
    components: tuple[str, ...]
    used_by: tuple[str, ...]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True)
    group.callback()(models)
    group.command(name="list")(list_models)
    group.command()(pull)
    group.command()(verify)
    cli.add_typer(group, name="models")


def models() -> None:
    """See, fetch and check the models that rerankers and embedders run on."""


def list_models(as_json: AsJson = False) -> None:
    """List the models that this configuration uses, and those that components would take by default.

    Nothing is fetched, no hub is asked.
    """
    with opened() as app:
        rows = [_row(app, each) for each in needed(app)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        use = f"used by {', '.join(row['used_by'])}" if row["used_by"] else "not used by this configuration"
        state = amount(row["bytes"]) if row["bytes"] is not None else "not here"
        typer.echo(f"{row['model']} ({', '.join(row['components'])}): {state}, {use}")
        typer.echo(f"    {row['problem'] or row['folder'] or row['source']}")


def pull(name: Named = None, as_json: AsJson = False) -> None:
    """Fetch models, each file checked; a download that broke off is taken up again.

    HF_ENDPOINT names a mirror, HF_TOKEN a token for models that need one, HF_HOME where they are kept.
    """
    from reqall.terminal import fetching

    done = []
    with opened() as app:
        store = ModelStore(app.environment)
        for each in _chosen(app, name or ()):
            with fetching(each.model.name) as report:
                store.pull(each.model, report)
            done.append(_row(app, each))
    if as_json:
        print_json(done)
        return
    for row in done:
        typer.echo(f"{row['model']}: {amount(row['bytes'] or 0)} in {row['folder']}")


def verify(name: Named = None, as_json: AsJson = False) -> None:
    """Compute the checksums of models again and compare; exit code 1 when a file is not what was fetched."""
    with opened() as app:
        store = ModelStore(app.environment)
        found = {each.model.name: store.verify(each.model) for each in _chosen(app, name or ())}
    rows: list[dict[str, Any]] = [
        {"model": model, "file": file.name, "bytes": file.bytes, "problem": file.problem}
        for model, files in found.items()
        for file in files
    ]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            typer.echo(f"{row['model']} {row['file']} ({amount(int(str(row['bytes'])))}): {row['problem'] or 'ok'}")
    if wrong := [row["model"] for row in rows if row["problem"]]:
        typer.echo(f"`reqall models pull {wrong[0]}` fetches what is wrong again", err=True)
        raise typer.Exit(1)


def needed(app: App) -> list[Needed]:
    """List the models of the configuration's components first, then what other components would take."""
    found: dict[HubModel, Needed] = {}
    for kind, config, user in _components(app):
        for model in _models_of(app, app.host.find(kind, config.use), config):
            _add(found, model, config.use, user)
    for offer in app.host.offers():
        for model in _models_of(app, offer.registration, ComponentConfig(use=offer.registration.name)):
            _add(found, model, offer.registration.name, "")
    return list(found.values())


def _components(app: App) -> Iterator[tuple[str, ComponentConfig, str]]:
    for name, pipeline in app.config.pipelines.items():
        stages = [
            ("fuser", pipeline.fuse),
            ("reranker", pipeline.rerank),
            *(("expander", e) for e in pipeline.expanders),
        ]
        for kind, stage in stages:
            yield from ((kind, config, f"pipeline {name}") for kind, config in _with_nested(app, kind, stage))
    yield from (("embedder", config, f"embedder {name}") for name, config in app.config.embedders.items())


def _with_nested(app: App, kind: str, config: ComponentConfig) -> Iterator[tuple[str, ComponentConfig]]:
    """Yield a component, and those that stand in its options."""
    yield kind, config
    for option, inner in nested(app.host.find(kind, config.use).options):
        if option in config.options:
            yield from _with_nested(app, inner, ComponentConfig.model_validate(config.options[option]))


def _models_of(app: App, registration: Registration[object], config: ComponentConfig) -> Sequence[HubModel]:
    """Ask a registration for its models; without the settings that it needs there is nothing to say."""
    if registration.models is None:
        return ()
    values, unset = expand_options(registration.options, config.options, app.environment)
    try:
        return () if unset else registration.models(registration.options.model_validate(values))
    except ValidationError:
        return ()


def _add(found: dict[HubModel, Needed], model: HubModel, component: str, user: str) -> None:
    known = found.get(model, Needed(model, (), ()))
    components = tuple(dict.fromkeys((*known.components, component)))
    found[model] = Needed(model, components, tuple(filter(None, dict.fromkeys((*known.used_by, user)))))


def _chosen(app: App, names: Sequence[str]) -> list[Needed]:
    known = needed(app)
    if not names:
        if used := [each for each in known if each.used_by]:
            return used
        called = sorted({component for each in known for component in each.components})
        raise InputError("this configuration uses no model of a hub", f"name a component: {one_of(called)}")
    chosen = []
    for name in names:
        by_model = [each for each in known if each.model.name == name]
        by_component = [each for each in known if name in each.components]
        # A component means the models that pipelines give it; its default one where none does.
        found = by_model or [each for each in by_component if each.used_by] or by_component
        if not found:
            called = [*(each.model.name for each in known), *(word for each in known for word in each.components)]
            raise NotFoundError(
                f"no component or model {name!r}{did_you_mean(name, called)}", f"known: {one_of(dict.fromkeys(called))}"
            )
        chosen += [each for each in found if each not in chosen]
    return chosen


def _row(app: App, each: Needed) -> dict[str, Any]:
    store, problem, folder = ModelStore(app.environment), "", None
    try:
        folder = store.find(each.model)
        source = "a folder" if each.model.local else store.hub.host
    except ReqallError as error:
        problem, source = error.message, ""
    files = [path for path in folder.rglob("*") if path.is_file()] if folder else []
    return {
        "model": each.model.name,
        "revision": each.model.revision,
        "components": list(each.components),
        "used_by": list(each.used_by),
        "source": source,
        "folder": str(folder) if folder else None,
        "bytes": sum(path.stat().st_size for path in files) if folder else None,
        "problem": problem,
    }
