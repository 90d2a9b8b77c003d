"""Jama as a source of documents and links."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from reqall import ConfigError, Document, InputError, ItemType, Link, Page, Project, ReqallError, native_id
from reqall.plugins.sources.jama.address import base_url, is_set
from reqall.plugins.sources.jama.answers import Row
from reqall.plugins.sources.jama.client import JamaClient, Listing
from reqall.plugins.sources.jama.items import ItemReader, moment
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.resolve import MasterData
from reqall.plugins.sources.jama.schema import ATTACHMENT

ITEMS = "/abstractitems"

STABLE_SORT = "createdDate.asc"
"""The order of a walk: a creation date never changes and new items come last, so no row moves back."""

SETTLING = timedelta(minutes=5)
"""How long before a walk began an activity may still be invisible: Jama's search index lags behind."""


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
        self.client = JamaClient(
            options.url,
            options.client_id,
            options.client_secret.get_secret_value(),
            timeout=options.timeout,
            page_size=options.page_size,
            sleep=sleep,
            clock=clock,
        )
        self.master = MasterData(self.client, clock)

    @property
    def reader(self) -> ItemReader:
        """What makes documents of items. Raises ConfigError when the address is wrong."""
        return ItemReader(self.name, self.client.base, self.master)

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

        The watermark is the newest activity date seen so far, but at most five minutes before
        Jama's own time when the walk began: it is a place to start from once the walk is complete.
        """
        reader, watermark = self.reader, _Watermark(since)
        total: int | None = None
        sent = self.client.sent
        params = {**self._in(project), **({"lastActivityDate": since} if since else {})}
        for listing in self.client.pages(ITEMS, {**params, "sortBy": STABLE_SORT}):
            rows = self._without_attachments(listing.rows)
            if total is None and listing.total is not None:
                whole = len(listing.rows) >= listing.total
                total = len(rows) if whole else listing.total - self.attachments(params)
            watermark.see(listing)
            items = [reader.document(row, project.id) for row in rows]
            sent, before = self.client.sent, sent
            yield Page(items, watermark.value, total, sent - before)

    def document_ids(self, project: Project) -> Iterator[Page[str]]:
        """Walk the ids of all documents; Jama has no shorter form of a list, so only this costs little."""
        sent = self.client.sent
        for listing in self.client.pages(ITEMS, {**self._in(project), "sortBy": STABLE_SORT}):
            ids = [f"{self.name}:{row['id']}" for row in self._without_attachments(listing.rows)]
            sent, before = self.client.sent, sent
            yield Page(ids, requests=sent - before)

    def links(self, project: Project) -> Iterator[Page[Link]]:
        """Walk the project's relationships, from upstream to downstream; they have no dates."""
        sent = self.client.sent
        total: int | None = None
        for listing in self.client.relationships(self._number(project)):
            total = listing.total if total is None else total
            links = [self._link(row) for row in listing.rows if row.get("fromItem") and row.get("toItem")]
            sent, before = self.client.sent, sent
            yield Page(links, total=total, requests=sent - before)

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
        problems = []
        try:
            base_url(self._options.url)
        except ConfigError as error:
            problems.append(_line(error))
        secret = self._options.client_secret.get_secret_value()
        for variable, value in (("JAMA_CLIENT_ID", self._options.client_id), ("JAMA_CLIENT_SECRET", secret)):
            if not is_set(value):
                problems.append(f"{variable} is not set. Create API credentials in your Jama profile.")
        if problems or not live:
            return problems
        try:
            visible = self.client.total("/projects", {})
        except ReqallError as error:
            return [_line(error)]
        return [] if visible else ["Jama shows no project to this user. Ask the Jama administrator for access."]

    def attachments(self, params: dict[str, object]) -> int:
        """Count the attachments among the items that `params` select."""
        types = sorted(self.master.attachment_types())
        return self.client.total(ITEMS, {**params, "itemType": types}) if types else 0

    def _without_attachments(self, rows: list[Row]) -> list[Row]:
        types = self.master.attachment_types() if rows else frozenset[int]()
        return [row for row in rows if row.get("itemType") not in types]

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


class _Watermark:
    """The newest activity date of a walk, as Jama writes it."""

    def __init__(self, since: str | None) -> None:
        self.value = since
        self._began: datetime | None = None

    def see(self, listing: Listing) -> None:
        """Take in a page. What changes while the walk is under way must not be stepped over."""
        self._began = self._began or moment(listing.served)
        latest = self._began - SETTLING if self._began else None
        for row in listing.rows:
            text = row.get("lastActivityDate") or row.get("modifiedDate")
            seen = moment(text)
            if seen is not None and latest is not None and seen > latest:
                seen, text = latest, latest.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
            known = moment(self.value)
            if seen is not None and (known is None or seen > known):
                self.value = text


def _line(error: ReqallError) -> str:
    return f"{error.message}. {error.remedy}".removesuffix(" ")
