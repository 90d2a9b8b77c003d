"""How far every initialised project is, and its indexes; from the catalog alone."""

from datetime import datetime, timedelta

from reqall.answers import IndexStatus, JobAnswer, ProjectStatus, StatusAnswer, iso, job_answer
from reqall.app import App
from reqall.core.catalog import SyncState
from reqall.core.errors import ReqallError
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.job import Job
from reqall.core.types import native_id

UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def status_of(app: App, project: str = "") -> StatusAnswer:
    """Look at one project (id, key or name), or at all. Raises NotFoundError, ConfigError."""
    wanted = app.synced_project(project).id if project else ""
    states = [state for state in app.assembly.catalog.projects() if wanted in ("", state.project.id)]
    return StatusAnswer(
        projects=[_project(app, state) for state in states],
        schedule=f"every {in_words(app.sync_interval)}" if app.sync_interval else "off",
        backfill=[job_answer(job)] if (job := app.jobs.latest("")) is not None and not job.ended else [],
        plugins_left_out=[str(plugin) for plugin in app.host.plugins if plugin.state != "loaded"],
    )


def _project(app: App, state: SyncState) -> ProjectStatus:
    project = state.project
    job = app.jobs.latest(project.id)
    return ProjectStatus(
        project_id=native_id(project.id),
        project_key=project.key,
        name=project.name,
        documents=app.assembly.catalog.count(project.id),
        last_synced=iso(state.synced),
        freshness=freshness_of(app, state),
        job=[job_answer(job)] if job is not None and not job.ended else [],
        last_error=job.error if job is not None and job.status == "ERROR" else "",
        indexes=_indexes(app, project.id),
    )


def _indexes(app: App, project_id: str) -> list[IndexStatus]:
    """Show those that are stored; one in memory is built anew by each process."""
    indexer, problems = app.assembly.indexer(), app.assembly.problems()
    stored = [index for index in indexer.indexes if index.recaller.storage != "memory"]
    return [
        *(_index(indexer, index, project_id) for index in stored),
        *(IndexStatus(index=name, documents_behind=0, problem=reason) for name, reason in problems.items()),
    ]


def _index(indexer: Indexer, index: Index, project_id: str) -> IndexStatus:
    """Show one; an engine elsewhere may be away."""
    try:
        return IndexStatus(index=index.name, documents_behind=indexer.lag(index, [project_id]), problem="")
    except ReqallError as error:
        return IndexStatus(index=index.name, documents_behind=0, problem=str(error))


def freshness_of(app: App, state: SyncState) -> str:
    """Say in words how old what is known of a project is, and what happens next."""
    return _freshness(state.synced, app.jobs.latest(state.project.id), app.clock(), app.sync_interval)


def _freshness(synced: datetime | None, job: Job | None, now: datetime, interval: timedelta | None) -> str:
    age = now - synced if synced is not None else timedelta()
    last = "never fully synced" if synced is None else f"synced {in_words(age)} ago"
    if job is not None and job.status == "RUNNING":
        return f"{last}; a sync is running"
    if job is not None and job.status == "QUEUED":
        return f"{last}; its sync was interrupted, the next one goes on with it"
    if synced is None:
        return f"{last}; start a sync to go on with it"
    if interval is None:
        return f"{last}; it is synced only when asked for"
    return f"{last}; due now" if age >= interval else f"{last}; due in {in_words(interval - age)}"


def in_words(time: timedelta) -> str:
    """Say how long, in the largest unit that fits: `2.5 hours`."""
    seconds = max(time.total_seconds(), 0.0)
    unit, size = next(((unit, size) for unit, size in UNITS if seconds >= size), UNITS[-1])
    count = round(seconds / size, 1 if seconds < 10 * size and size > 1 else None)
    return f"{count:g} {unit}" + ("" if count == 1 else "s")


def pace_in_words(job: Job | JobAnswer) -> str:
    """Say how fast a job goes and what its phase still takes: `12.5/s, 2 minutes left`; nothing when unknown."""
    if job.rate <= 0:
        return ""
    left = f", {in_words(timedelta(seconds=job.eta_seconds))} left" if job.eta_seconds else ""
    return f"{job.rate:.3g}/s{left}"
