"""The tools that start syncs and tell how far they are; without MCP."""

import time
from collections.abc import Callable
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from reqall.answers import JobAnswer, StatusAnswer, job_answer
from reqall.app import App
from reqall.core.job import Job
from reqall.core.protocols import SourceTool
from reqall.status import pace_in_words, status_of

Id = Annotated[str, BeforeValidator(str)]
"""An id as number or text: a plain `str` refuses the number 51."""

Report: TypeAlias = Callable[[int, int, str], None]
"""Takes (done, total, what is going on). A tool that takes longer has a parameter `report` of this type: the server
gives it, no client sees it. Called often, it also ends a call that its client has given up."""

MAX_WAIT_SECONDS = 25
"""Below the time after which common hosts give a call up (30 s)."""

POLL_SECONDS = 0.25

ProjectId = Annotated[Id, Field(description="Project id, key or name")]


def start_tools(app: App, source: str) -> list[SourceTool]:
    """List what starts syncs of one configured source."""

    def init(project_id: ProjectId) -> JobAnswer:
        return job_answer(app.sync(project_id, source=source, background=True))

    def reinit(project_id: ProjectId) -> JobAnswer:
        return job_answer(app.sync(project_id, full=True, source=source, background=True))

    return [
        SourceTool(
            f"init_{source}_project",
            f"Make a {source} project searchable",
            f"Read a project from {source} and index it, in the background; of a project that is initialised already,"
            " only what changed. Returns a job at once, or the one that already runs: poll it with get_sync_progress"
            " until its status is DONE. Search works by words as soon as documents arrive, by meaning when the phase"
            " 'embedding' ends.",
            init,
            _told_job,
            "sync",
            lean=True,
        ),
        SourceTool(
            f"reinit_{source}_project",
            f"Read a {source} project anew",
            f"Read everything of a project from {source} again, in the background: only when search answers look wrong"
            f" although init_{source}_project has run. Unchanged text is not embedded again, and search goes on"
            " meanwhile. Returns a job as init does.",
            reinit,
            _told_job,
            "sync",
        ),
    ]


def progress_tool(app: App) -> SourceTool:
    """Tell how far a job is, after waiting for its end if asked to."""

    def progress(
        job_id: Annotated[Id, Field(description="The job_id that init returned")],
        report: Report,
        wait_seconds: Annotated[
            float, Field(description="Wait so long for the job to end, 0 to 25", ge=0, le=MAX_WAIT_SECONDS)
        ] = 0,
    ) -> JobAnswer:
        deadline = time.monotonic() + wait_seconds
        while not (job := app.jobs.get(job_id)).ended and time.monotonic() < deadline:
            report(job.done, job.total, _doing(job))
            time.sleep(min(POLL_SECONDS, max(deadline - time.monotonic(), 0)))
        return job_answer(job)

    return SourceTool(
        "get_sync_progress",
        "Progress of a sync job",
        "Tell how far a sync job is: status, phase, documents done and total, rate, seconds left of the phase. Give"
        " wait_seconds=20 and call again until the status is DONE, ERROR or CANCELLED.",
        progress,
        _told_job,
        "sync",
        lean=True,
    )


def status_tool(app: App) -> SourceTool:
    """Tell how far the projects are."""

    def status(
        project_id: Annotated[Id, Field(description="Project id, key or name; empty for all")] = "",
    ) -> StatusAnswer:
        return status_of(app, project_id)

    return SourceTool(
        "get_sync_status",
        "State of the initialised projects",
        "Tell of every initialised project how many documents it has, how fresh it is, which sync runs, and how far"
        " each index is behind; also how often they are synced by themselves, and plugins that were left out.",
        status,
        _told_status,
        "sync",
        lean=True,
    )


def _doing(job: Job | JobAnswer) -> str:
    pace = pace_in_words(job)
    return f"{job.phase} {job.done}/{job.total}" + (f", {pace}" if pace else "")


def _told_job(job: JobAnswer) -> str:
    return f"job {job.job_id}: {job.status}, {_doing(job)}. {job.error or job.message}".strip()


def _told_status(answer: StatusAnswer) -> str:
    lines = []
    for project in answer.projects:
        facts = [f"{project.documents} documents", project.freshness, *map(_told_job, project.job)]
        facts += [f"last job failed: {project.last_error}"] if project.last_error else []
        facts += [f"index {i.index} is {i.documents_behind} behind" for i in project.indexes if i.documents_behind]
        facts += [f"index {i.index} is not kept: {i.problem}" for i in project.indexes if i.problem]
        lines.append(f"{project.project_id} {project.project_key}: {'; '.join(facts)}")
    lines += [f"indexes of all projects: {_told_job(job)}" for job in answer.backfill]
    lines += [f"plugin left out: {plugin}" for plugin in answer.plugins_left_out]
    return "\n".join([*(lines or ["no project is initialised"]), f"syncs by themselves: {answer.schedule}"])
