"""The source `folder`: requirements documents that live in a folder tree, beside code."""

import logging
from collections.abc import Iterator, Sequence
from typing import TypeVar

from reqall import Document, ItemType, Link, Page, Project, Services, SourceError
from reqall.plugins.sources.folder.corpus import Corpus
from reqall.plugins.sources.folder.options import FolderOptions
from reqall.plugins.sources.folder.reading import FolderReading

T = TypeVar("T")

TOLD = 5
"""So many of the things that are wrong are named; the others are counted."""

_log = logging.getLogger(__name__)


class FolderSource:
    """One folder, one project. Every walk reads the folder as it is.

    A file that cannot be read ends a walk with SourceError, after the documents of all others: so they are
    up to date, and what the broken file held stays as it was until it is mended.
    """

    def __init__(self, options: FolderOptions, services: Services) -> None:
        """Touch no file yet."""
        self._name = services.name or "folder"
        self._options = options
        self._reading = FolderReading(options)

    def projects(self) -> Sequence[Project]:
        """List the one project. Raises SourceError when the folder is not there, or has no name."""
        self._reading.tree.require()
        return [self._project()]

    def documents(self, project: Project, since: str | None) -> Iterator[Page[Document]]:  # noqa: ARG002 - there is one
        """Walk all documents; none when the folder is as it was at the watermark. Raises SourceError at the end."""
        corpus = self.corpus()
        unchanged = since == corpus.watermark and not corpus.problems
        yield from self._pages([] if unchanged else corpus.documents, corpus.watermark)
        _require_whole(corpus)

    def links(self, project: Project) -> Iterator[Page[Link]]:  # noqa: ARG002 - there is one
        """Walk the links; one to an id that no file has is left out and told in the log. Raises SourceError."""
        corpus = self.corpus()
        _require_whole(corpus)
        if corpus.dangling:
            _log.warning("%s: no file has the ids of %d links: %s", self._name, *_counted(corpus.dangling))
        for duplicate in corpus.duplicates[:TOLD]:
            _log.warning("%s: %s", self._name, duplicate)
        yield from self._pages(corpus.links, corpus.watermark)

    def document_ids(self, project: Project) -> Iterator[Page[str]]:  # noqa: ARG002 - there is one
        """Walk the ids. Raises SourceError while a file cannot be read: its documents are not gone."""
        corpus = self.corpus()
        _require_whole(corpus)
        yield from self._pages([document.id for document in corpus.documents], corpus.watermark)

    def describe(self, project: Project) -> Sequence[ItemType]:  # noqa: ARG002 - there is one
        """List the types of documents and their fields."""
        return self.corpus().types()

    def count(self, project: Project) -> int:  # noqa: ARG002 - there is one
        """Count the documents. Raises SourceError while a file cannot be read."""
        corpus = self.corpus()
        _require_whole(corpus)
        return len(corpus.documents)

    def present(self, project: Project, document_ids: Sequence[str]) -> Page[str]:  # noqa: ARG002 - there is one
        """Return those of the documents that are there. Raises SourceError while a file cannot be read."""
        corpus = self.corpus()
        _require_whole(corpus)
        return Page([each for each in document_ids if each in corpus.entries])

    def validate(self, *, live: bool) -> Sequence[str]:
        """Say whether the folder is there; `live` also which files cannot be read and which ids are used twice."""
        try:
            self.projects()
            corpus = self.corpus() if live else None
        except SourceError as error:
            return [error.message]
        if corpus is None:
            return []
        return [*(problem.message for problem in corpus.problems), *corpus.duplicates]

    def corpus(self) -> Corpus:
        """Read the folder. Raises SourceError when it is not there; of files it tells in `problems`."""
        return self._reading.corpus(self._project())

    def _project(self) -> Project:
        name = self._options.name or self._reading.tree.root.resolve().name
        if not name:
            raise SourceError(f"{self._reading.tree.root} has no name of its own", "Set the option name.")
        return Project(f"{self._name}:{name}", self._name, name, name)

    def _pages(self, items: Sequence[T], watermark: str) -> Iterator[Page[T]]:
        size = self._options.page_size
        for start in range(0, max(len(items), 1), size):
            yield Page(items[start : start + size], watermark=watermark)


def _require_whole(corpus: Corpus) -> None:
    """Raise SourceError when files could not be read: what they hold must not be taken for gone."""
    if corpus.problems:
        count, told = _counted([problem.message for problem in corpus.problems])
        raise SourceError(
            f"{count} of the folder's files cannot be read: {told}" if count > 1 else told,
            f"{corpus.problems[0].remedy} Or add the file to the option exclude. All other files were read; until"
            " then nothing is removed, and links stay as they are.",
        )


def _counted(lines: Sequence[str]) -> tuple[int, str]:
    more = f" and {len(lines) - TOLD} more" if len(lines) > TOLD else ""
    return len(lines), "; ".join(lines[:TOLD]) + more
