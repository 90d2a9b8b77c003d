"""Starts jobs: the sync of one project, and the backfill of all indexes. Each runs under a lease of its own.

And says whether a project's first sync has ended.
"""

from collections.abc import Callable

from reqall.core.assemble import Assembly
from reqall.core.catalog import Catalog
from reqall.core.jobs import BACKFILL, Job, Jobs
from reqall.core.lease import Lease
from reqall.core.levelling import behind, level_all
from reqall.core.sync import Sync
from reqall.core.types import Project


def sync_project(
    assembly: Assembly,
    jobs: Jobs,
    project: Project,
    *,
    full: bool,
    background: bool,
    seen: str | None = None,
    allow_removals: bool = False,
) -> Job:
    """Sync one project; when another job already does, that one is returned.

    A sync whose process ended is taken over, and goes on as what it was begun as, if that is more.
    """
    source, catalog, indexer = assembly.source(project.source), assembly.catalog, assembly.indexer()
    job, lease = jobs.claim("full" if full else "sync", project.id, seen, allow_removals=allow_removals)
    if lease is None:
        return job

    def work(held: Lease) -> str:
        return Sync(source, catalog, indexer, project, held, jobs.clock).run(full=held.job.kind == "full")

    return _run(jobs, lease, work, background=background)


def backfill(assembly: Assembly, jobs: Jobs, *, background: bool, seen: str | None = None) -> Job | None:
    """Bring every index level from the catalog, without asking a source; None when all are.

    When another job already does, that one is returned.
    """
    indexer = assembly.indexer()
    if not behind(indexer):
        return None
    job, lease = jobs.claim(BACKFILL, "", seen)
    if lease is None:
        return job

    def work(held: Lease) -> str:
        return f"{level_all(indexer, held)} texts embedded, every index is level"

    return _run(jobs, lease, work, background=background)


def unfinished(catalog: Catalog, jobs: Jobs, project: Project) -> str:
    """Say how far a first sync is; empty when it has ended well."""
    state, job = catalog.project(project.id), jobs.latest(project.id)
    if state is None or state.synced is not None:
        return ""
    if job is None or job.ended:
        return f"project {project.key} is not indexed whole: its first sync did not finish; start it again"
    return f"project {project.key} is still being indexed: {job.phase} {job.done}/{job.total} ({job.status})"


def _run(jobs: Jobs, lease: Lease, work: Callable[[Lease], str], *, background: bool) -> Job:
    if not background:
        return jobs.run(lease, work)
    jobs.start(lease, work)
    return lease.job
