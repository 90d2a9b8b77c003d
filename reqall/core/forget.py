"""Removes a project from the catalog and from every index, in one transaction."""

from dataclasses import dataclass

from reqall.core.assemble import Assembly
from reqall.core.batch import Committed
from reqall.core.errors import InputError, JobError, ReqallError
from reqall.core.jobs import Jobs, Lease
from reqall.core.protocols import SqlConnection

# Whatever else names a project goes with it: links, jobs, and what later versions add.
_TABLES = r"""
SELECT tables.name FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' AND columns.name = 'project_id' AND tables.name <> 'document'
    AND tables.name NOT LIKE 'ix\_%' ESCAPE '\' AND tables.sql NOT LIKE 'CREATE VIRTUAL%'"""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed; `behind` names indexes elsewhere that could not be reached yet."""

    project_id: str
    documents: int
    links: int
    behind: tuple[str, ...] = ()


def forget(assembly: Assembly, jobs: Jobs, project_id: str) -> Forgotten:
    """Remove a project's documents, chunks, entries, links and jobs. Raises InputError while a job of it runs."""
    job, lease = jobs.claim("forget", project_id)
    if lease is None:
        raise InputError(
            f"{project_id} cannot be forgotten: job {job.job_id} ({job.kind}) of it is running",
            f"wait for its end, or cancel it: `reqall jobs --cancel {job.job_id}`",
        )
    removed: list[Forgotten] = []

    def work(held: Lease) -> str:
        removed.append(_remove(assembly, project_id, held))
        return f"{removed[-1].documents} documents forgotten"

    ended = jobs.run(lease, work)
    if ended.status != "DONE":
        raise JobError(f"{project_id} was not forgotten: {ended.error or ended.message}")
    with assembly.database.writing() as tx:
        tx.execute("DELETE FROM job WHERE id = ?", (ended.job_id,))
    return removed[-1]


def _remove(assembly: Assembly, project_id: str, held: Lease) -> Forgotten:
    indexer = assembly.indexer()
    links = len(assembly.catalog.links(project_id))

    def within(tx: SqlConnection, done: Committed) -> None:
        held.advance(tx, phase="deletions", deleted=held.job.deleted + done.deleted)
        for (table,) in list(tx.execute(_TABLES)):
            others = " AND id <> ?" if table == "job" else ""  # its own job ends after this
            tx.execute(
                f"DELETE FROM {table} WHERE project_id = ?{others}", (project_id, held.job.job_id)[: 1 + bool(others)]
            )
        assembly.catalog.delete_project(tx, project_id)

    done = indexer.commit((), assembly.catalog.document_ids(project_id), eager=False, within=within)
    behind = []
    for index in indexer.indexes:
        if index.recaller.storage == "external":
            try:
                if indexer.applied(index) is not None:
                    indexer.level(index, lambda tx, _done: held.advance(tx))
            except JobError:
                raise
            except ReqallError:  # its embedder or engine is away; the next sync tells why
                behind.append(index.name)
    return Forgotten(project_id, done.deleted, links, tuple(behind))
