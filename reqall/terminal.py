"""What people see in a terminal: progress on stderr, results on stdout."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from reqall.answers import HitAnswer, JobAnswer, SearchAnswer, StatusAnswer
from reqall.core.host import Plugin, PluginHost
from reqall.core.jobs import Job, Jobs
from reqall.core.types import native_id
from reqall.setup import Finding
from reqall.status import pace_in_words

POLL_SECONDS = 0.1

_STYLES = {"loaded": "", "blocked": "dim", "conflict": "yellow", "failed": "red"}
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


@contextmanager
def fetching(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a download on stderr: bytes, rate and the time left; the function takes (bytes done, in all)."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(escape(what), total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total or None)


def watch_job(jobs: Jobs, job: Job) -> Job:
    """Show a job's progress until it ends, or until its process does (then it is QUEUED)."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=None, pace="")
        while (job := jobs.get(job.job_id)).status == "RUNNING":
            what = f"{native_id(job.project_id)} {job.phase}: {job.message}".removesuffix(": ").strip()
            progress.update(
                bar, description=escape(what), completed=job.done, total=job.total or None, pace=pace_in_words(job)
            )
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
        if hit.score_parts:
            parts = ", ".join(f"{part} {value:.3f}" for part, value in hit.score_parts.items())
            console.print(f"    [cyan]{hit.strategy}: {escape(parts)}[/]", soft_wrap=True)
        for found in hit.found_by:
            console.print(
                f"    [cyan]{found.index} #{found.rank} ({found.score:g}) weight {found.weight:g}"
                f" by: {escape(found.query[:80])}[/]",
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
    """Print what is offered; of what cannot be used the reason stands in place of the summary."""
    table = Table("name", "kind", "package", "version", "state", "summary", box=None, header_style="bold")
    for offer in (*host.offers(), *host.rivals()):
        state, told = ("conflict", offer.reason) if offer.reason else ("loaded", offer.registration.summary)
        _add_row(table, offer.registration.name, offer.kind, offer.plugin, state, told)
    for plugin in host.plugins:
        if plugin.state in ("failed", "blocked"):
            _add_row(table, plugin.name, "plugin", plugin, plugin.state, plugin.reason)
    console = output()
    console.print(table)
    notices = [f"{plugin.origin}: {notice}" for plugin in host.plugins for notice in plugin.notices]
    notices += [f"REQALL_PLUGINS names {name!r}, and no plugin or distribution is called so" for name in host.unknown]
    for notice in notices:
        console.print(f"[yellow]note[/] {escape(notice)}", soft_wrap=True)


def _add_row(table: Table, name: str, kind: str, plugin: Plugin, state: str, told: str) -> None:
    cells = (name, kind, plugin.distribution, plugin.version, state, told)
    table.add_row(*map(escape, cells), style=_STYLES[state])


def print_findings(findings: Sequence[Finding]) -> None:
    """Print a check, a line each."""
    for finding in findings:
        output().print(f"{_MARKS[finding.level]} {escape(finding.subject)}: {escape(finding.message)}", soft_wrap=True)


def print_jobs(jobs: Sequence[Job]) -> None:
    """Print jobs, one to a row."""
    table = Table("job", "project", "kind", "status", "phase", "done", "started", "", box=None, header_style="bold")
    for job in jobs:
        facts = (pace_in_words(job), job.error or job.message)
        table.add_row(
            job.job_id,
            job.project_id or "(all)",
            job.kind,
            job.status,
            job.phase,
            f"{job.done}/{job.total}",
            job.started or "",
            escape("; ".join(filter(None, facts))),
        )
    output().print(table if jobs else "no jobs yet")


def print_status(answer: StatusAnswer) -> None:
    """Print projects, each with what its indexes lack and what its sync does."""
    console = output()
    for project in answer.projects:
        title = f"[bold]{escape(f'{project.project_id} {project.project_key}')}[/] {escape(project.name)}"
        console.print(f"{title}: {project.documents} documents, {project.freshness}", soft_wrap=True)
        for job in project.job:
            console.print(f"    {_doing(job)}", soft_wrap=True)
        if project.last_error:
            console.print(f"    [red]last job failed:[/] {escape(project.last_error)}", soft_wrap=True)
        for index in project.indexes:
            if index.problem:
                console.print(
                    f"    [red]index {escape(index.index)}[/] is not kept: {escape(index.problem)}", soft_wrap=True
                )
            else:
                console.print(
                    f"    index {escape(index.index)}: {index.documents_behind} documents behind", soft_wrap=True
                )
    if not answer.projects:
        console.print("no project is initialised: `reqall sync PROJECT` does that")
    for job in answer.backfill:
        console.print(f"indexes of all projects: {_doing(job)}", soft_wrap=True)
    console.print(f"a running server syncs them by themselves: {answer.schedule}", soft_wrap=True)
    for plugin in answer.plugins_left_out:
        console.print(f"[red]plugin left out:[/] {escape(plugin)}", soft_wrap=True)


def _doing(job: JobAnswer) -> str:
    doing = " ".join(filter(None, (job.phase, f"{job.done}/{job.total}", pace_in_words(job))))
    return f"job {job.job_id} {job.status}: {doing}"
