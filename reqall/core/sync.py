"""Source -> catalog: full and incremental walks, deletions, links; then the indexes catch up.

Every page is one committed batch. Hashes decide what is new: a page that comes twice costs
nothing. The watermark is stored only when the walk is complete, so a broken sync is walked again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reqall.core.catalog import Catalog
from reqall.core.indexing import Committed, Indexer
from reqall.core.jobs import Lease
from reqall.core.protocols import Source, SqlConnection, SupportsCount, SupportsDeletions
from reqall.core.types import Document, Link, Page, Project


@dataclass
class Sync:
    """One sync of one project under one lease."""

    source: Source
    catalog: Catalog
    indexer: Indexer
    project: Project
    lease: Lease
    clock: Callable[[], datetime]
    seen: set[str] = field(default_factory=set)
    changed: int = 0

    def run(self, *, full: bool) -> str:
        """Bring the project level; a line about what was done is returned. Raises ReqallError."""
        state = self.catalog.project(self.project.id)
        since = None if full or state is None else state.watermark
        self.lease.report(phase="documents", message="incremental" if since else "full")
        with self.catalog.database.writing() as tx:
            self.catalog.write_project(tx, self.project)
        watermark = self._documents(since)
        self._deletions(since)
        self._links()
        with self.catalog.database.writing() as tx:
            self.lease.advance(tx)
            self.catalog.write_synced(tx, self.project.id, watermark or since, self.clock())
        self._level()
        job = self.lease.job
        return f"{self.changed} changed, {job.deleted} deleted, {self.catalog.count(self.project.id)} documents in all"

    def _documents(self, since: str | None) -> str | None:
        watermark = None
        for page in self.source.documents(self.project, since):
            fresh: dict[str, Document] = {d.id: d for d in page.items if d.id not in self.seen}
            self.seen.update(fresh)
            # A first or full walk commits at the speed of the source; vectors follow in one go.
            self._commit(list(fresh.values()), [], page, eager=since is not None)
            watermark = page.watermark or watermark
        return watermark

    def _commit(self, documents: list[Document], deleted: Iterable[str], page: Page[Any], *, eager: bool) -> None:
        def within(tx: SqlConnection, done: Committed) -> None:
            job = self.lease.job
            self.lease.advance(
                tx,
                done=len(self.seen),
                total=max(page.total or 0, len(self.seen)),
                embedded=job.embedded + done.embedded,
                deleted=job.deleted + done.deleted,
                requests=job.requests + page.requests,
            )

        self.changed += self.indexer.commit(documents, list(deleted), eager=eager, within=within).written

    def _deletions(self, since: str | None) -> None:
        """Remove what the source no longer has; a sweep of ids confirms every removal."""
        self.lease.report(phase="deletions")
        stored = set(self.catalog.document_ids(self.project.id))
        if since is None:
            suspects = stored - self.seen
        else:
            suspects = self._told(since) & stored
            if isinstance(self.source, SupportsCount) and self.source.count(self.project) != len(stored - suspects):
                suspects = stored
        if not suspects:
            return
        requests = 0
        for page in self.source.document_ids(self.project):
            suspects = suspects.difference(page.items)
            requests += page.requests
        self._commit([], suspects, Page((), total=self.lease.job.total, requests=requests), eager=False)

    def _told(self, since: str) -> set[str]:
        if not isinstance(self.source, SupportsDeletions):
            return set()
        return {identifier for page in self.source.deleted(self.project, since) for identifier in page.items}

    def _links(self) -> None:
        self.lease.report(phase="links")
        links: list[Link] = []
        requests = 0
        for page in self.source.links(self.project):
            links.extend(page.items)
            requests += page.requests
        with self.catalog.database.writing() as tx:
            self.lease.advance(tx, requests=self.lease.job.requests + requests)
            self.catalog.replace_links(tx, self.project.id, links)

    def _level(self) -> None:
        """Bring the indexes that stayed behind level: the slow part of a first sync."""
        behind = [i for i in self.indexer.indexes if i.recaller.storage != "memory" and not self.indexer.is_level(i)]
        for index in behind:
            self.lease.report(
                phase="embedding" if index.embedder else "indexing", done=0, total=self.indexer.lag(index)
            )
            self.indexer.level(index, self._levelled)

    def _levelled(self, tx: SqlConnection, done: Committed) -> None:
        job = self.lease.job
        self.lease.advance(tx, done=min(job.done + done.written, job.total), embedded=job.embedded + done.embedded)
