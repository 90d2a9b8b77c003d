"""The command that compares pipelines on judged queries."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reqall.app import App
from reqall.core.errors import InputError
from reqall.core.wording import did_you_mean, one_of
from reqall.experiments.plan import LinkQueries, OtherRun, Plan
from reqall.experiments.report import Report
from reqall.invocation import AsJson, opened, print_json

Folders = Annotated[
    list[Path] | None, typer.Argument(help="BEIR-style folders: corpus.jsonl, queries.jsonl, qrels.tsv")
]
Pipelines = Annotated[str, typer.Option(help="Pipelines, divided by commas (default)")]
Baseline = Annotated[str, typer.Option(help="Pipeline that the others are compared with; else the first")]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", "-m", help="Such as nDCG@10; may be repeated, the first is compared by")
]
Experiment = Annotated[Path | None, typer.Option(help="YAML file with collections, pipelines and grids")]
FromLinks = Annotated[str, typer.Option(help="Synced project whose trace links are the judgements")]
LinkTypes = Annotated[list[str] | None, typer.Option(help="With --from-links: only such links; may be repeated")]
FromTypes = Annotated[list[str] | None, typer.Option(help="With --from-links: items to ask with; may be repeated")]
ToTypes = Annotated[list[str] | None, typer.Option(help="With --from-links: items to find; may be repeated")]
Runs = Annotated[
    list[str] | None,
    typer.Option(help="Run file of another system, [COLLECTION=]FILE in the form of TREC; may be repeated"),
]
Save = Annotated[Path | None, typer.Option(help="Folder for run files and judgements in the form of TREC")]
Html = Annotated[Path | None, typer.Option(help="File for a report with charts")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Search anew, also what an earlier run has found")]


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(name="eval")(evaluate)


def evaluate(
    folders: Folders = None,
    pipeline: Pipelines = "",
    baseline: Baseline = "",
    metric: Metrics = None,
    experiment: Experiment = None,
    from_links: FromLinks = "",
    link_type: LinkTypes = None,
    from_type: FromTypes = None,
    to_type: ToTypes = None,
    run: Runs = None,
    save: Save = None,
    html: Html = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Compare pipelines on judged queries: metrics, significance, latency.

    What was found is kept, so that an interrupted run goes on. See docs/how-to/compare-pipelines.md.
    """
    from reqall.experiment import run as run_experiment
    from reqall.terminal import watching

    links = LinkQueries(from_links, tuple(link_type or ()), tuple(from_type or ()), tuple(to_type or ()))
    if not from_links and (link_type or from_type or to_type):
        raise InputError("--link-type, --from-type and --to-type choose among the links of --from-links", "add it")
    with opened() as app, watching() as watch:
        plan = _plan(app, experiment, pipeline, baseline, tuple(metric or ()))
        asked = replace(plan, folders=(*plan.folders, *(folders or ())), links=links if from_links else None)
        asked = replace(asked, baseline=baseline or plan.baseline, runs=tuple(map(_other_run, run or ())), fresh=fresh)
        report = run_experiment(app, asked, watch)
    for warning in report.warnings:
        typer.echo(f"warning: {warning}", err=True)
    _hand_over(report, save, html, as_json=as_json)


def _hand_over(report: Report, runs: Path | None, html: Path | None, *, as_json: bool) -> None:
    from reqall.experiments.page import page
    from reqall.experiments.records import record
    from reqall.experiments.runs import save
    from reqall.experiments.tables import tables
    from reqall.terminal import output

    if runs:
        save(report, runs)
    if html:
        _write(html, page(report))
    if as_json:
        print_json(record(report))
        return
    for table in tables(report):
        output().print(table)


def _plan(app: App, experiment: Path | None, pipeline: str, baseline: str, metrics: tuple[str, ...]) -> Plan:
    """Make a plan of a file, of the pipelines named, or of both; a baseline of the configuration comes first."""
    from reqall.experiments.file import read_experiment

    known = app.config.pipelines
    names = [name.strip() for name in pipeline.split(",") if name.strip()]
    if not experiment:
        names = names or ["default"]
    for name in names:
        if name not in known:
            raise InputError(f"no pipeline {name!r}{did_you_mean(name, known)}", f"there are: {one_of(known)}")
    if baseline in known and baseline not in names:
        names = [baseline, *names]
    named = {name: known[name] for name in names}
    plan = read_experiment(experiment, app.config, app.host, app.environment) if experiment else Plan(named)
    return replace(plan, pipelines={**named, **plan.pipelines}, metrics=metrics or plan.metrics)


def _other_run(text: str) -> OtherRun:
    collection, divider, file = text.rpartition("=")
    return OtherRun(Path(file), collection) if divider and not Path(text).exists() else OtherRun(Path(text))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror})", "name a file in a folder of yours") from error
