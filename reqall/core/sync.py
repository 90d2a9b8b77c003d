"""Source -> catalog: full and incremental walks and deletions, then links; then the indexes catch up.

Every page is one committed batch. Hashes decide what is new: a page that comes twice costs
nothing. The watermark is stored only when the walk is complete, so a broken sync is walked again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from reqall.core.batch import Committed
from reqall.core.catalog import Catalog
from reqall.core.indexing import Indexer
from reqall.core.jobs import Lease
from reqall.core.levelling import embedding_beside, level_all
from reqall.core.linking import Linking
from reqall.core.protocols import (
    Source,
    SqlConnection,
    SupportsCount,
    SupportsDeletions,
    SupportsPresence,
    SupportsWaiting,
)
from reqall.core.removals import REMOVED_UNASKED, Withheld, withheld
from reqall.core.rows import storable_text
from reqall.core.types import Document, Page, Project

SWEEP_INTERVAL = timedelta(days=7)
"""How often all ids, and all links, are compared with the source's, though nothing says that they differ."""


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
    written: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    swept: bool = False
    withheld: Withheld | None = None
    mode: str = ""

    def run(self, *, full: bool) -> str:
        """Bring the project level; a line about what was done is returned. Raises ReqallError."""
        if not isinstance(self.source, SupportsWaiting):
            return self._run(full=full)
        self.source.on_wait = lambda told: self.lease.report(message=told)
        try:
            return self._run(full=full)
        finally:
            self.source.on_wait = None

    def _run(self, *, full: bool) -> str:
        state = self.catalog.project(self.project.id)
        since = None if full or state is None else state.watermark
        self.mode = "incremental" if since else "full"
        links_were_level = self.catalog.has_level_links(self.project.id)
        self.lease.report(phase="documents", message=self.mode)
        with self.catalog.database.writing() as tx:
            self.lease.advance(tx)
            self.catalog.write_project(tx, self.project)
        watermark = self._documents(since)
        watermark = self._reconcile(since, watermark)
        with embedding_beside(self.indexer, self.lease) as beside:
            self._links(since if links_were_level and not self.swept else None)
            is_swept = not self.withheld and (self.swept or since is None)
            if self.withheld:
                # What is not shown now may change unseen: the next sync starts no later than this one did.
                watermark = since = state.watermark if state else None
            with self.catalog.database.writing() as tx:
                self.lease.advance(tx)
                self.catalog.write_synced(tx, self.project.id, watermark or since, self.clock(), swept=is_swept)
            level_all(self.indexer, self.lease, beside)
        if self.withheld:
            raise self.withheld.error(self.project)
        job = self.lease.job
        return f"{job.changed} changed, {job.deleted} deleted, {self.catalog.count(self.project.id)} documents in all"

    def _documents(self, since: str | None) -> str | None:
        watermark = None
        for page in self.source.documents(self.project, since):
            ids = [storable_text(document.id) for document in page.items]
            self.seen.update(ids)
            before = self.catalog.hashes(ids)
            # A first or full walk commits at the speed of the source; vectors follow in one go.
            self._commit(page.items, (), page, eager=since is not None)
            self.written.update(key for key, now in self.catalog.hashes(ids).items() if before.get(key) != now)
            watermark = page.watermark or watermark
        return watermark

    def _commit(self, documents: Sequence[Document], deleted: Iterable[str], page: Page[Any], *, eager: bool) -> None:
        def within(tx: SqlConnection, done: Committed) -> None:
            job = self.lease.job
            if done.written or done.deleted:
                self.catalog.mark_links(tx, self.project.id, level=False)
            self.lease.advance(
                tx,
                done=len(self.seen),
                total=max(page.total or 0, len(self.seen)),
                embedded=job.embedded + done.embedded,
                deleted=job.deleted + done.deleted,
                changed=job.changed + done.written,
                requests=job.requests + page.requests,
                message=self.mode,
            )

        self.indexer.commit(documents, deleted, eager=eager, within=within)

    def _reconcile(self, since: str | None, watermark: str | None) -> str | None:
        """Find what the source no longer has, and what pages that shifted hid from the walk.

        A sweep of ids confirms every removal, but a few that the source tells of, which are looked
        up; what it shows and the catalog lacks is walked again.
        """
        self.lease.report(phase="deletions", message=self.mode)
        stored = set(self.catalog.document_ids(self.project.id))
        told = set() if since is None else self._told(since)
        suspects = stored - self.seen if since is None else told & stored
        self.gone |= told - stored - self.seen  # it came and went since the last sync; links may have been here before
        if since is not None and isinstance(self.source, SupportsPresence) and 0 < len(suspects) <= REMOVED_UNASKED:
            found = self.source.present(self.project, sorted(suspects))
            self._remove(suspects - set(map(storable_text, found.items)), found.requests)
            stored, suspects = stored - self.gone, set()
        if not suspects and not self._is_sweep_due(since) and not self._miscounted(len(stored)):
            return watermark
        self.swept, swept = True, set[str]()
        requests = 0
        for page in self.source.document_ids(self.project):
            swept.update(map(storable_text, page.items))
            requests += page.requests
        gone = (suspects | (stored - self.seen)) - swept
        self.withheld = None if self.lease.job.allow_removals else withheld(gone, len(stored))
        self._remove(set() if self.withheld else gone, requests)
        # What came while we walked lies behind the watermark; only what was missed needs it all.
        for start in dict.fromkeys((watermark or since, None)):
            if swept - stored - self.seen:
                self.lease.report(phase="documents", message=self.mode)
                watermark = self._documents(start) or watermark
        return watermark

    def _remove(self, gone: set[str], requests: int) -> None:
        self.gone |= gone
        self._commit((), gone, Page((), total=self.lease.job.total, requests=requests), eager=False)

    def _is_sweep_due(self, since: str | None) -> bool:
        """Tell whether it is a week since all ids were compared: what nothing tells of is found then."""
        swept = self.catalog.swept(self.project.id)
        return since is not None and (swept is None or abs(self.clock() - swept) >= SWEEP_INTERVAL)

    def _miscounted(self, stored: int) -> bool:
        return isinstance(self.source, SupportsCount) and self.source.count(self.project) != stored

    def _told(self, since: str) -> set[str]:
        """Ask for deletions, where the source tells them."""
        if not isinstance(self.source, SupportsDeletions):
            return set()
        told: set[str] = set()
        requests = 0
        for page in self.source.deleted(self.project, since):
            told.update(map(storable_text, page.items))
            requests += page.requests
        self.lease.report(requests=self.lease.job.requests + requests)
        return told

    def _links(self, since: str | None) -> None:
        with self.catalog.database.writing() as tx:
            self.lease.advance(tx, phase="links", message=self.mode)
            self.catalog.mark_links(tx, self.project.id, level=False)
        linking = Linking(self.source, self.catalog, self.project, self.lease)
        if since is None or not linking.changed(since, self.written, self.seen, self.gone):
            linking.all(self.withheld.ids if self.withheld else ())
