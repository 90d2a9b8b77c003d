"""Jama as a source of documents and links."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from reqall import (
    Document,
    InputError,
    ItemType,
    Link,
    NotFoundError,
    Page,
    Project,
    SourceAuthError,
    native_id,
)
from reqall.plugins.sources.jama.checking import problems
from reqall.plugins.sources.jama.http.address import is_set
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.http.client import JamaClient, Listing
from reqall.plugins.sources.jama.http.connection import Certificates
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.reading.activity import Activity
from reqall.plugins.sources.jama.reading.definitions import digest
from reqall.plugins.sources.jama.reading.deletions import deleted_items
from reqall.plugins.sources.jama.reading.items import ItemReader, moment
from reqall.plugins.sources.jama.reading.links import relationships_of_changed
from reqall.plugins.sources.jama.reading.resolve import MasterData
from reqall.plugins.sources.jama.reading.schema import ATTACHMENT
from reqall.plugins.sources.jama.reading.watermark import Mark, Watermark

ITEMS = "/abstractitems"

STABLE_SORT = ("createdDate.asc", "documentKey.asc")
"""The order of a walk: a creation date never changes, new items come last, and no two items are alike in both."""


class JamaSource:
    """Reads one Jama; thread-safe. `name` is the source's name in the configuration."""

    def __init__(
        self,
        options: JamaOptions,
        name: str = "jama",
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._options = options
        self._certificates = Certificates(*map(_given, (options.ca_bundle, options.client_cert, options.client_key)))
        self.client = JamaClient(
            options.url,
            options.client_id,
            options.client_secret.get_secret_value(),
            timeout=options.timeout,
            deadline=options.deadline,
            page_size=options.page_size,
            parallel_pages=options.parallel_pages,
            requests_per_second=options.requests_per_second,
            patience=options.patience,
            certificates=self._certificates,
            sleep=sleep,
            clock=clock,
        )
        self.master = MasterData(self.client, clock)
        self._activities: dict[str, Activity] = {}

    @property
    def reader(self) -> ItemReader:
        """What makes documents of items. Raises ConfigError when the address is wrong."""
        return ItemReader(self.name, self.client.base, self.master)

    @property
    def on_wait(self) -> Callable[[str], None] | None:
        """Who is told, on whichever thread waits, that a request of the calling thread is held back; None is nobody.

        With somebody to be told, a request is held back for as long as the option `patience` says.
        """
        return self.client.on_wait

    @on_wait.setter
    def on_wait(self, told: Callable[[str], None] | None) -> None:
        self.client.on_wait = told

    def projects(self) -> list[Project]:
        """List the visible projects; folders of projects are left out."""
        return [self.project_of(row) for row in self.master.projects(fresh=True)]

    def project_of(self, row: Row) -> Project:
        """Return a row of `/projects` as a project."""
        fields = row.get("fields") or {}
        key = row.get("projectKey") or fields.get("projectKey") or ""
        return Project(f"{self.name}:{row['id']}", self.name, str(key), str(fields.get("name") or key))

    def documents(self, project: Project, since: str | None) -> Iterator[Page[Document]]:
        """Walk all items but attachments, or those with activity at or after `since` (inclusive).

        All too when, once a day, the item types or picklists turn out to have changed since. The
        watermark is the newest activity date seen so far, but at most five minutes before Jama's
        own time when the walk began: it is a place to start from once the walk is complete.
        """
        sent = self.client.sent
        mark, params, listings = self._begun(project, Mark.of(since))
        reader, watermark = self.reader, Watermark(mark.date)
        total: int | None = None
        for listing in listings:
            rows = self._without_attachments(listing.rows)
            if total is None and listing.total is not None:
                whole = len(listing.rows) >= listing.total
                total = len(rows) if whole else listing.total - self.attachments(params)
            watermark.see(listing)
            self._activity(project).see(listing, watermark.date)
            items = [reader.document(row, project.id) for row in rows]
            sent, before = self.client.sent, sent
            yield Page(items, replace(mark, date=watermark.date).text, total, sent - before)

    def _begun(self, project: Project, mark: Mark) -> tuple[Mark, dict[str, object], Iterator[Listing]]:
        """Begin a walk: the mark with definitions as they are, what selects the items, and the pages."""
        params, changed = self._in(project), {"lastActivityDate": mark.date} if mark.date else {}
        listings = self.client.pages(ITEMS, {**params, **changed, "sortBy": STABLE_SORT})
        first = next(listings)
        if mark.is_old(now := moment(first.served)):
            definitions = digest(self.master, self._number(project))
            is_same = definitions == mark.definitions
            mark = mark.looked(definitions, now)
            if changed and not is_same:
                return mark, params, self.client.pages(ITEMS, {**params, "sortBy": STABLE_SORT})
        return mark, {**params, **changed}, chain([first], listings)

    def document_ids(self, project: Project) -> Iterator[Page[str]]:
        """Walk the ids of all documents; Jama has no shorter form of a list, so only this costs little."""
        sent = self.client.sent
        for listing in self.client.pages(ITEMS, {**self._in(project), "sortBy": STABLE_SORT}):
            ids = [f"{self.name}:{row['id']}" for row in self._without_attachments(listing.rows)]
            sent, before = self.client.sent, sent
            yield Page(ids, requests=sent - before)

    def deleted(self, project: Project, since: str | None) -> Iterator[Page[str]]:
        """Walk the ids of items that were deleted at or after `since`, with all that went with them."""
        sent = self.client.sent
        for ids, listing in deleted_items(self.client, self._number(project), Mark.of(since).date):
            sent, before = self.client.sent, sent
            yield Page([f"{self.name}:{each}" for each in ids], total=listing.total, requests=sent - before)

    def links(self, project: Project) -> Iterator[Page[Link]]:
        """Walk the project's relationships, from upstream to downstream; they have no dates."""
        sent = self.client.sent
        total: int | None = None
        for listing in self.client.relationships(self._number(project)):
            total = listing.total if total is None else total
            links = self._links(listing.rows)
            sent, before = self.client.sent, sent
            yield Page(links, total=total, requests=sent - before)
        self._activity(project).settle()

    def changed_links(
        self, project: Project, since: str, changed: Sequence[str], shown: Mapping[str, Sequence[str] | None]
    ) -> Page[tuple[str, Sequence[Link]]] | None:
        """Return the relationships around items that changed, or whose relationships did.

        None when the items are many, or when Jama's activities do not tell.
        """
        sent, activity, date = self.client.sent, self._activity(project), Mark.of(since).date or ""
        items = [int(native_id(each)) for each in changed]
        numbered = {
            int(native_id(each)): None if ends is None else [int(native_id(end)) for end in ends]
            for each, ends in shown.items()
        }
        fresh = {each: numbered[each] for each in activity.fresh(numbered)}
        try:
            found = relationships_of_changed(self.client, self._number(project), date, items, fresh)
        except (SourceAuthError, NotFoundError):
            return None
        if found is None:
            return None
        links = [(f"{self.name}:{item}", self._links(rows)) for item, rows in found.items()]
        activity.settle()
        return Page(links, requests=self.client.sent - sent)

    def present(self, project: Project, document_ids: Sequence[str]) -> Page[str]:
        """Return those of the documents that are in the project, each asked for by itself."""
        sent, number = self.client.sent, self._number(project)
        paths = [f"{ITEMS}/{native_id(each)}" for each in document_ids]
        rows = self.client.in_parallel(lambda path: self.client.one(path, optional=True), paths)
        found = [each for each, row in zip(document_ids, rows, strict=True) if row and row.get("project") == number]
        return Page(found, requests=self.client.sent - sent)

    def count(self, project: Project) -> int:
        """Count the documents: all items less the attachments."""
        params = self._in(project)
        return self.client.total(ITEMS, params) - self.attachments(params)

    def describe(self, project: Project) -> list[ItemType]:
        """List the project's item types but attachments, with the labels of their fields."""
        types = self.master.item_types_of(self._number(project)).values()
        return [each.described() for each in types if each.category != ATTACHMENT]

    def validate(self, *, live: bool) -> list[str]:
        """Return one line per problem with the settings; `live` also asks Jama for its projects."""
        return problems(self._options, self._certificates, self.client, live=live)

    def attachments(self, params: dict[str, object]) -> int:
        """Count the attachments among the items that `params` select."""
        types = sorted(self.master.attachment_types())
        return self.client.total(ITEMS, {**params, "itemType": types}) if types else 0

    def _without_attachments(self, rows: list[Row]) -> list[Row]:
        types = self.master.attachment_types() if rows else frozenset[int]()
        return [row for row in rows if row.get("itemType") not in types]

    def _activity(self, project: Project) -> Activity:
        return self._activities.setdefault(project.id, Activity())

    def _links(self, rows: Iterable[Row]) -> list[Link]:
        return [self._link(row) for row in rows if row.get("fromItem") and row.get("toItem")]

    def _link(self, row: Row) -> Link:
        return Link(
            from_id=f"{self.name}:{row['fromItem']}",
            to_id=f"{self.name}:{row['toItem']}",
            type=self.master.relationship_type(row.get("relationshipType")),
            suspect=bool(row.get("suspect")),
        )

    def _in(self, project: Project) -> dict[str, object]:
        return {"project": self._number(project)}

    def _number(self, project: Project) -> int:
        try:
            return int(native_id(project.id))
        except ValueError as error:
            raise InputError(f"{project.id!r} is no project of the source {self.name!r}") from error


def _given(value: str) -> str:
    return value.strip() if is_set(value) else ""
