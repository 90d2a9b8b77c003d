"""Brings every index that stayed behind level, as the last part of a sync or as a job of its own (`backfill`).

Nothing is asked of a source: the catalog has all that an index needs. So an index that a configuration
names for the first time, or whose embedder was down, is filled while searches on the others go on.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from reqall.core.batch import Committed
from reqall.core.beside import Beside
from reqall.core.errors import JobError, ReqallError
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.jobs import Lease
from reqall.core.protocols import SqlConnection


def behind(indexer: Indexer) -> list[Index]:
    """List the stored indexes that lack something; those without an embedder first, as they are soon done."""
    stored = [index for index in indexer.indexes if index.recaller.storage != "memory"]
    return sorted((i for i in stored if not _is_level(indexer, i)), key=lambda index: index.embedder is not None)


@contextmanager
def embedding_beside(indexer: Indexer, lease: Lease) -> Iterator[Mapping[str, Beside]]:
    """Embed on threads of their own while a source is asked: it takes the network's time, they the processor's.

    What is yielded is for `level_all`, which waits for them. After an error they stop at their next step.
    """
    failed = False

    def within(tx: SqlConnection, done: Committed) -> None:
        if failed:
            raise JobError("the sync has failed meanwhile")
        _advance(lease, tx, done)

    found = {index.name: Beside(partial(indexer.level, index, within)) for index in behind(indexer) if index.embedder}
    for each in found.values():
        each.start()
    try:
        yield found
    except BaseException:
        failed = True
        raise
    finally:
        for each in found.values():
            each.join()


def level_all(indexer: Indexer, lease: Lease, beside: Mapping[str, Beside] | None = None) -> int:
    """Bring the indexes level under a lease; the number of texts embedded.

    One whose embedder or engine fails does not keep the others back; the first such error is raised at the end.
    Those that are levelled `beside` already are waited for.
    """
    begun, failures = lease.job.embedded, list[ReqallError]()
    for index in behind(indexer):
        phase = "embedding" if index.embedder else "indexing"
        lease.report(phase=phase, done=0, total=0, message=f"index {index.name}")
        try:
            lease.report(total=indexer.lag(index))
            if beside and index.name in beside:
                beside[index.name].ended()
            indexer.level(index, partial(_advance, lease))
            lease.report(done=lease.job.total)  # some of it may have been done beside, in another phase
        except JobError:
            raise
        except ReqallError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return lease.job.embedded - begun


def _advance(lease: Lease, tx: SqlConnection, done: Committed) -> None:
    job = lease.job
    lease.advance(tx, done=min(job.done + done.written, job.total), embedded=job.embedded + done.embedded)


def _is_level(indexer: Indexer, index: Index) -> bool:
    """Tell whether an index is level; one whose engine is away counts as behind: to level it tells what is wrong."""
    try:
        return indexer.is_level(index)
    except ReqallError:
        return False
