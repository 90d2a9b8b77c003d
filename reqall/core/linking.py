"""Source -> catalog, the links: those around what changed where the source can tell, else all of them.

The catalog notes whether the links are level. The note goes with the first document that a sync
writes, or when it begins with the links, and comes back when they are stored: a sync that was broken
off on the way is followed by a walk through all links.
"""

from collections.abc import Collection
from dataclasses import dataclass

from reqall.core.catalog import Catalog
from reqall.core.lease import Lease
from reqall.core.protocols import Source, SupportsLinkChanges
from reqall.core.types import Link, Project


@dataclass(frozen=True, slots=True)
class Linking:
    """Brings the links of one project level under one lease."""

    source: Source
    catalog: Catalog
    project: Project
    lease: Lease

    def changed(self, since: str, written: set[str], shown: set[str], gone: set[str]) -> bool:
        """Replace the links around what changed; False when the source cannot tell what that is.

        `written` are the documents that changed, `shown` all that were walked, `gone` those removed.
        """
        if not isinstance(self.source, SupportsLinkChanges):
            return False
        inside = set(self.catalog.document_ids(self.project.id))
        ends = self.catalog.link_ends(self.project.id, sorted(shown - written - gone))
        own = inside | gone
        around = {key: linked if own.issuperset(linked) else None for key, linked in ends.items()}
        # What left for another project still has its links, and some of them may end here.
        left = (key for key, linked in self.catalog.link_ends(self.project.id, sorted(gone)).items() if linked)
        page = self.source.changed_links(self.project, since, sorted({*(written - gone), *left}), around)
        if page is None:
            return False
        replaced = {*gone, *(document_id for document_id, _ in page.items)}
        # An item that left the project may have links that no longer concern it.
        links = [link for _, links in page.items for link in links if {link.from_id, link.to_id} & inside]
        with self.catalog.database.writing() as tx:
            self.lease.advance(tx, requests=self.lease.job.requests + page.requests)
            self.catalog.replace_links_of(tx, self.project.id, replaced, links)
            self.catalog.mark_links(tx, self.project.id, level=True)
        return True

    def all(self, kept: Collection[str]) -> None:
        """Walk all links; those of documents in `kept`, which the source does not show, stay as they are."""
        links: list[Link] = []
        if kept:
            links += [link for link in self.catalog.links(self.project.id) if {link.from_id, link.to_id} & set(kept)]
        requests = 0
        for page in self.source.links(self.project):
            links.extend(page.items)
            requests += page.requests
        with self.catalog.database.writing() as tx:
            self.lease.advance(tx, requests=self.lease.job.requests + requests)
            self.catalog.replace_links(tx, self.project.id, links)
            self.catalog.mark_links(tx, self.project.id, level=True)
