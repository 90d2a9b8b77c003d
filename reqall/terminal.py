"""What people see in a terminal: progress on stderr, results on stdout."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from reqall.answers import HitAnswer, SearchAnswer
from reqall.core.host import PluginHost
from reqall.core.jobs import Job, Jobs
from reqall.core.types import native_id
from reqall.setup import Finding

POLL_SECONDS = 0.1

_MARKS = {"ok": "[green]ok[/]     ", "note": "[yellow]note[/]   ", "problem": "[red]problem[/]"}


def output() -> Console:
    """Return a console for results; lines are cut by the terminal, not by us, when piped."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


@contextmanager
def watching() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on stderr; the function takes (what, done, total)."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars: dict[str, int] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in bars:
                for bar in progress.task_ids:
                    progress.remove_task(bar)
                bars[what] = progress.add_task(escape(what), total=total or None)
            progress.update(progress.task_ids[-1], completed=done, total=total or None)

        yield show


def watch_job(jobs: Jobs, job: Job) -> Job:
    """Show a job's progress until it ends."""
    with watching() as show:
        while not (job := jobs.get(job.job_id)).ended:
            show(f"{native_id(job.project_id)} {job.phase}", job.done, job.total)
            time.sleep(POLL_SECONDS)
    jobs.wait(timeout=10)
    return job


def print_hits(answer: SearchAnswer) -> None:
    """Print hits: a line of facts, then the text that answers."""
    console = output()
    for rank, hit in enumerate(answer.results, start=1):
        console.print(_headline(rank, hit), soft_wrap=True)
        for line in hit.text.splitlines()[:3]:
            console.print(f"    [dim]{escape(line[:160])}[/]", soft_wrap=True)
        for found in hit.found_by:
            console.print(
                f"    [cyan]{found.index} #{found.rank} ({found.score:g}) by: {escape(found.query[:80])}[/]",
                soft_wrap=True,
            )
    if not answer.results:
        console.print("nothing found: use other words, or fewer filters")
    for warning in answer.warnings:
        Console(stderr=True).print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
    total = sum(milliseconds for stage, milliseconds in answer.timings.items() if "." not in stage)
    console.print(
        f"[dim]{answer.returned} of {answer.total_in_pool} candidates, {total:.0f} ms, pipeline {answer.pipeline}[/]"
    )


def _headline(rank: int, hit: HitAnswer) -> str:
    facts = " · ".join(part for part in (hit.item_type_name, hit.status, hit.strategy, f"{hit.score:.4f}") if part)
    return (
        f"{rank:2}. [bold]{escape(hit.document_key or hit.document_id)}[/] {escape(hit.name)} [dim]({escape(facts)})[/]"
    )


def print_plugins(host: PluginHost) -> None:
    """Print what is offered, then what was left out and why."""
    table = Table("kind", "name", "package", "version", "summary", box=None, header_style="bold")
    for offer in host.offers():
        plugin = offer.plugin
        table.add_row(
            offer.kind, offer.registration.name, plugin.distribution, plugin.version, escape(offer.registration.summary)
        )
    output().print(table)
    for plugin in host.plugins:
        if plugin.state != "loaded":
            output().print(f"[red]{plugin.state}[/] {escape(str(plugin))}", soft_wrap=True)


def print_findings(findings: Sequence[Finding]) -> None:
    """Print a check, a line each."""
    for finding in findings:
        output().print(f"{_MARKS[finding.level]} {escape(finding.subject)}: {escape(finding.message)}", soft_wrap=True)


def print_scores(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print a table of collections, pipelines and metrics, with the mean over collections."""
    metrics = list(next(iter(next(iter(scores.values())).values())))
    table = Table("collection", "pipeline", *metrics, box=None, header_style="bold")
    for collection, pipelines in scores.items():
        for pipeline, values in pipelines.items():
            table.add_row(collection, pipeline, *(f"{values[metric]:.4f}" for metric in metrics))
    if len(scores) > 1:
        for pipeline in next(iter(scores.values())):
            means = (sum(found[pipeline][metric] for found in scores.values()) / len(scores) for metric in metrics)
            table.add_row("mean", pipeline, *(f"{mean:.4f}" for mean in means), style="bold")
    output().print(table)
