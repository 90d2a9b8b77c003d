"""Brings every index that stayed behind level, as the last part of a sync or as a job of its own (`backfill`).

Nothing is asked of a source: the catalog has all that an index needs. So an index that a configuration
names for the first time, or whose embedder was down, is filled while searches on the others go on.
"""

from reqall.core.batch import Committed
from reqall.core.errors import EmbedderError
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.jobs import Lease
from reqall.core.protocols import SqlConnection


def behind(indexer: Indexer) -> list[Index]:
    """List the stored indexes that lack something; those without an embedder first, as they are soon done."""
    stored = (index for index in indexer.indexes if index.recaller.storage != "memory")
    return sorted(
        (index for index in stored if not indexer.is_level(index)), key=lambda index: index.embedder is not None
    )


def level_all(indexer: Indexer, lease: Lease) -> int:
    """Bring the indexes level under a lease; the number of texts embedded.

    One whose embedder fails does not keep the others back; the first such error is raised at the end.
    """
    begun, failures = lease.job.embedded, list[EmbedderError]()

    def within(tx: SqlConnection, done: Committed) -> None:
        job = lease.job
        lease.advance(tx, done=min(job.done + done.written, job.total), embedded=job.embedded + done.embedded)

    for index in behind(indexer):
        phase = "embedding" if index.embedder else "indexing"
        lease.report(phase=phase, done=0, total=indexer.lag(index), message=f"index {index.name}")
        try:
            indexer.level(index, within)
        except EmbedderError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return lease.job.embedded - begun
