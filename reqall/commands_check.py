"""The command that checks: settings and what is in the way, or with --deep what is stored of a project."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

import typer

from reqall.app import App
from reqall.core.batch import Committed
from reqall.core.errors import InputError, JobError
from reqall.core.integrity import Integrity, inspect
from reqall.core.jobs import Lease
from reqall.core.protocols import SqlConnection
from reqall.invocation import AsJson, opened, print_json


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(check)


def check(
    project: Annotated[str, typer.Argument(help="With --deep: project id, key or name")] = "",
    live: Annotated[bool, typer.Option("--live", help="Also log in to the sources")] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare a project's documents, chunks and index entries with each other")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --deep: mend what is wrong from the catalog; no source is asked")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show every effective setting with its origin, and what is in the way; exit code 1 when something is.

    With --deep PROJECT compare what is stored of the project instead.
    """
    if deep != bool(project) or (repair and not deep):
        raise typer.BadParameter("--deep goes with a PROJECT, and --repair with --deep")
    with opened() as app:
        is_well = _deep(app, project, repair=repair, as_json=as_json) if deep else _settings(app, live, as_json)
    if not is_well:
        raise typer.Exit(1)


def _settings(app: App, live: bool, as_json: bool) -> bool:
    from reqall.setup import check as look
    from reqall.terminal import print_findings

    findings = look(app, live=live)
    if as_json:
        print_json([{"level": f.level, "subject": f.subject, "message": f.message} for f in findings])
    else:
        print_findings(findings)
    return all(f.level != "problem" for f in findings)


def _deep(app: App, project: str, *, repair: bool, as_json: bool) -> bool:
    project_id = app.synced_project(project).id
    embedded = _repaired(app, project_id) if repair else 0
    state = inspect(app.assembly.indexer(), project_id)
    unbuilt = app.assembly.problems()
    if as_json:
        print_json(integrity_record(state) | {"embedded": embedded, "not_built": unbuilt})
    else:
        for line in _told(state, unbuilt):
            typer.echo(line)
    return not state.problems


def integrity_record(state: Integrity) -> dict[str, Any]:
    """Make a check's answer a JSON value."""
    indexes = [
        {"name": each.index.name, "state": each.state, "entries": each.entries, "behind": each.behind}
        for each in state.indexes
    ]
    return {
        "project_id": state.project_id,
        "documents": state.documents,
        "indexes": indexes,
        "findings": [asdict(finding) for finding in state.findings],
    }


def _repaired(app: App, project_id: str) -> int:
    """Compare and mend as a job, so that no sync of the project runs meanwhile; the texts embedded."""
    from reqall.core.repair import repair

    job, lease = app.jobs.claim("repair", project_id)
    if lease is None:
        raise InputError(
            f"job {job.job_id} ({job.kind}) of {project_id} is running",
            f"wait for its end, or cancel it: `reqall jobs --cancel {job.job_id}`",
        )

    def work(held: Lease) -> str:
        def within(tx: SqlConnection, done: Committed) -> None:
            held.advance(tx, phase="repair", embedded=held.job.embedded + done.embedded)

        indexer = app.assembly.indexer()
        repair(indexer, inspect(indexer, project_id), within)
        return "repaired from the catalog"

    ended = app.jobs.run(lease, work)
    if ended.status != "DONE":
        raise JobError(f"the repair of {project_id} ended with {ended.status}: {ended.error or ended.message}")
    return ended.embedded


def _told(state: Integrity, unbuilt: dict[str, str]) -> Iterable[str]:
    yield f"{state.project_id}: {state.documents} documents"
    for each in state.indexes:
        yield f"index {each.index.name}: {each.state}, {each.entries} entries in all"
    for name, problem in unbuilt.items():
        yield f"note     index {name} cannot be built here: {problem.splitlines()[0]}"
    for finding in state.findings:
        examples = f" ({', '.join(finding.examples)})" if finding.examples else ""
        yield f"{finding.level:8} {finding.subject}: {finding.message}{examples}"
    if state.problems:
        yield "`--repair` mends what the catalog can; a full sync what only the source can"
    else:
        yield "everything agrees"
