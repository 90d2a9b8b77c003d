"""What the contracts of sources share: the source under test, and walks through it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeAlias, TypeVar

import pytest

from reqall import Document, Page, Project, Source

T = TypeVar("T")

Edit: TypeAlias = Callable[[], str]
"""Changes something in the source and returns the id of the document that it was done to."""


class SourceSetting:
    """Override the fixture `source`; the others only where they do not fit."""

    @pytest.fixture
    def source(self) -> Source:
        """Return the source under test, over a small project that does not change by itself."""
        raise NotImplementedError("override the fixture `source` in your test class")

    @pytest.fixture
    def project(self, source: Source) -> Project:
        """Return the project that the laws walk: the first one."""
        return next(iter(source.projects()))

    @pytest.fixture
    def edit_document(self) -> Edit | None:
        """Return what edits the text of one document of the project and gives its id; None skips what needs it."""
        return None

    @pytest.fixture
    def delete_document(self) -> Edit | None:
        """Return what deletes one document of the project and gives its id; None skips what needs it."""
        return None


def walk(pages: Iterable[Page[T]]) -> list[T]:
    """Read all pages of a walk."""
    return [item for page in _required(pages) for item in page.items]


def documents_of(source: Source, project: Project) -> dict[str, Document]:
    """Walk a project whole; documents by id."""
    return {document.id: document for document in walk(source.documents(project, None))}


def last_watermark(source: Source, project: Project) -> str | None:
    """Walk a project whole, as a first sync does; the watermark that a later one starts from is returned."""
    watermark = None
    for page in _required(source.documents(project, None)):
        watermark = page.watermark or watermark
    return watermark


def first(ids: Iterable[T], count: int = 8) -> list[T]:
    """Take a few."""
    return list(islice(ids, count))


def needed(edit: Edit | None, fixture: str) -> Edit:
    """Skip the test where the author gave no way to edit."""
    if edit is None:
        pytest.skip(f"override the fixture `{fixture}` to check this law")
    return edit


def _required(pages: Iterable[Page[T]]) -> Iterator[Page[T]]:
    for page in pages:
        assert isinstance(page, Page), f"a walk yields Pages, not {type(page).__name__}"
        yield page
