"""The commands that start syncs and backfills and tell how far they are."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from reqall.answers import job_answer
from reqall.app import App
from reqall.core.errors import JobError
from reqall.core.jobs import Job, Jobs, is_enough
from reqall.invocation import AsJson, Project, opened, print_json

Started = TypeVar("Started", Job, Job | None)

INTERRUPTED = 130
"""Exit code of a command that Ctrl+C ended, as shells have it."""


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    for command in (sync, backfill, status, jobs):
        cli.command()(command)


def sync(
    project: Project,
    full: Annotated[
        bool, typer.Option("--full", help="Read everything again; unchanged text is not embedded again")
    ] = False,
    source: Annotated[str, typer.Option(help="Which configured source, if several")] = "",
    allow_removals: Annotated[
        bool,
        typer.Option("--allow-removals", help="Remove also more than a fifth of the project, if the source lost it"),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read a project from its source and index it; later runs read only what changed.

    A sync of it that runs already is followed to its end. Ctrl+C cancels a sync that this command began.
    """
    with opened() as app:
        job = _followed(app, project, full=full, source=source, allow_removals=allow_removals)
    if as_json:
        print_json(job_answer(job).model_dump())
    if job.status != "DONE":
        raise JobError(f"sync of {project} ended with {job.status}: {job.error or job.message}")
    if not as_json:
        typer.echo(f"{project}: {job.message}; {job.embedded} texts embedded, {job.requests} requests")


def backfill(as_json: AsJson = False) -> None:
    """Bring every index level from the database, without asking a source: one that is new, or that stayed behind.

    A running server does it by itself. Ctrl+C cancels it; what is done stays.
    """
    with opened() as app:
        job = _watched(app, lambda: app.backfill(background=True))
    if as_json:
        print_json(job_answer(job).model_dump() if job else {})
    if job is not None and job.status != "DONE":
        raise JobError(f"the backfill ended with {job.status}: {job.error or job.message}")
    if not as_json:
        typer.echo(job.message if job else "every index is level")


def status(
    project: Annotated[str, typer.Argument(help="Project id, key or name; without it all")] = "",
    as_json: AsJson = False,
) -> None:
    """Show how fresh every initialised project is, and how far its indexes are."""
    from reqall.status import status_of
    from reqall.terminal import print_status

    with opened() as app:
        answer = status_of(app, project)
    if as_json:
        print_json(answer.model_dump())
    else:
        print_status(answer)


def jobs(
    cancel: Annotated[str, typer.Option(metavar="ID", help="Cancel this job; what it committed stays")] = "",
    as_json: AsJson = False,
) -> None:
    """List sync jobs of all processes, the newest first."""
    from reqall.terminal import print_jobs

    with opened() as app:
        listed = [app.jobs.cancel(cancel)] if cancel else app.jobs.history()
    if as_json:
        print_json([job_answer(job).model_dump() for job in listed])
    else:
        print_jobs(listed)


def _followed(app: App, project: str, *, full: bool, source: str, allow_removals: bool) -> Job:
    """Start a sync, or follow the one that runs.

    When what ran did less than is wanted (a repair, or a sync where all is to be read), this comes after it.
    """

    def start() -> Job:
        return app.sync(project, full=full, source=source, background=True, allow_removals=allow_removals)

    while True:
        job = _watched(app, start)
        if is_enough(job.kind, "full" if full else "sync") and job.allow_removals >= allow_removals:
            return job


def _watched(app: App, start: Callable[[], Started]) -> Started:
    """Show the job that `start` begins or finds until it has ended; one whose process ends on the way is taken over."""
    from reqall.terminal import watch_job

    while (job := start()) is not None:
        try:
            if not app.jobs.runs_here(job.job_id) and not app.jobs.get(job.job_id).ended:
                typer.echo(f"job {job.job_id} of another process is running; following it", err=True)
            job = watch_job(app.jobs, job)
        except KeyboardInterrupt:
            typer.echo(_interrupted(app.jobs, job), err=True)
            raise typer.Exit(INTERRUPTED) from None
        if job.ended:
            break
    return job


def _interrupted(jobs: Jobs, job: Job) -> str:
    if not jobs.runs_here(job.job_id):
        return f"job {job.job_id} belongs to another process and goes on; `reqall jobs --cancel {job.job_id}` ends it"
    cancelled = jobs.cancel(job.job_id)
    jobs.wait(timeout=10)
    return f"job {job.job_id} {cancelled.message}"
