"""ReqIF files as a source: a specification is a project, an object a document, a relation a link."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from reqall import Document, ItemType, Link, Page, Project, SourceError
from reqall_reqif.collection import Collection
from reqall_reqif.loading import Loader
from reqall_reqif.options import ReqifOptions
from reqall_reqif.reading.files import find_files

T = TypeVar("T")


class ReqifSource:
    """Reads the files anew whenever they have changed; `name` is the source's name in the configuration.

    A watermark is a digest of all files and of the options. While it is the same, nothing has changed;
    otherwise every document is walked, and the catalog's hashes tell which ones are new. LAST-CHANGE
    alone would miss what changes without it: a move, the label of a choice, a file put in the place of
    another.
    """

    def __init__(self, options: ReqifOptions, name: str = "reqif") -> None:
        self.name = name
        self.upstream = options.upstream
        self._options = options
        self._loader = Loader(options, name)

    def collection(self) -> Collection:
        """Return all that the files say now. Raises SourceError."""
        return self._loader.load()

    def projects(self) -> list[Project]:
        """List the specifications, and one project for objects that are in none."""
        return self.collection().projects()

    def documents(self, project: Project, since: str | None) -> Iterator[Page[Document]]:
        """Walk the objects in reading order; nothing when the files are as `since` saw them."""
        collection = self.collection()
        entries = [] if since == collection.watermark else collection.members(project)
        for page in self._pages(entries):
            yield Page([collection.document(entry) for entry in page], collection.watermark, len(entries))

    def links(self, project: Project) -> Iterator[Page[Link]]:
        """Walk the relations that touch a project's objects, those to other specifications too."""
        for page in self._pages(list(self.collection().links(project))):
            yield Page(page)

    def changed_links(
        self,
        project: Project,  # noqa: ARG002 - the protocol's argument
        since: str,
        changed: Sequence[str],
        shown: Mapping[str, Sequence[str]],  # noqa: ARG002 - likewise
    ) -> Page[tuple[str, Sequence[Link]]] | None:
        """Return the relations of `changed` when the files are as `since` saw them: no others have changed.

        Else None: all relations have to be walked.
        """
        collection = self.collection()
        if since != collection.watermark:
            return None
        return Page([(each, list(collection.links_of([each]))) for each in changed])

    def document_ids(self, project: Project) -> Iterator[Page[str]]:
        """Walk the ids of a project's documents."""
        collection = self.collection()
        for page in self._pages(collection.members(project)):
            yield Page([collection.document_id(entry) for entry in page])

    def present(self, project: Project, document_ids: Sequence[str]) -> Page[str]:
        """Return those of the documents that the project has."""
        collection = self.collection()
        held = set(map(collection.document_id, collection.members(project)))
        return Page([each for each in document_ids if each in held])

    def count(self, project: Project) -> int:
        """Count a project's documents."""
        return len(self.collection().members(project))

    def describe(self, project: Project) -> Sequence[ItemType]:
        """List the types of a project's documents and the names of their attributes."""
        return self.collection().describe(project)

    def validate(self, *, live: bool) -> Sequence[str]:
        """Return a line for each file that is missing, or with `live` cannot be read."""
        if live:
            return self._loader.problems()
        try:
            find_files(self._options.path)
        except SourceError as error:
            return [f"{error.message}. {error.remedy}"]
        return []

    def _pages(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """Cut into pages; an empty walk has one empty page."""
        size = self._options.page_size
        for start in range(0, max(len(items), 1), size):
            yield items[start : start + size]
