"""What every source keeps."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest

from reqall import Document, Project, Source
from reqall.testing.contracts.abilities import require_abilities_tried
from reqall.testing.contracts.source_setting import (
    Edit,
    SourceSetting,
    documents_of,
    first,
    last_watermark,
    needed,
    walk,
)

_BLOCK_TAGS = re.compile(r"</(?:p|div|span|li|ul|ol|t[dhr]|table|h[1-6])>|<br ?/?>|&nbsp;", re.IGNORECASE)


class WalkLaws(SourceSetting):
    """What holds of projects, walks and watermarks."""

    def test_projects_have_ids_of_the_source(self, source: Source) -> None:
        """`<source>:<native id>`, unique."""
        projects = list(source.projects())
        assert projects, "the source lists no project: the contract needs one with documents"
        ids = [project.id for project in projects]
        assert len(set(ids)) == len(ids), f"projects share an id: {sorted(ids)}"
        for project in projects:
            assert project.id.startswith(f"{project.source}:"), f"the id {project.id!r} lacks {project.source + ':'!r}"
            assert project.id != f"{project.source}:", f"project {project.name!r} has no native id"
            assert project.key or project.name, f"project {project.id} has neither key nor name"

    def test_documents_have_ids_of_the_source(self, source: Source, project: Project) -> None:
        """Unique in a walk, with the source's name, in the project that was asked for."""
        documents = walk(source.documents(project, None))
        assert documents, "the project has no documents: the contract needs some"
        repeated = [key for key, count in Counter(document.id for document in documents).items() if count > 1]
        assert not repeated, f"documents come twice in one walk: {first(repeated)}"
        for document in documents:
            assert document.id.startswith(f"{project.source}:"), f"{document.id!r} lacks {project.source + ':'!r}"
            assert document.source == project.source, f"{document.id} says source {document.source!r}"
            assert document.project_id == project.id, f"{document.id} says project {document.project_id!r}"

    def test_two_walks_give_the_same(self, source: Source, project: Project) -> None:
        """Else every sync would find changes."""
        before, after = documents_of(source, project), documents_of(source, project)
        differing = [key for key in before | after if before.get(key) != after.get(key)]
        assert not differing, f"two walks gave other documents, or others: {first(differing)}"

    def test_the_ids_are_those_of_the_documents(self, source: Source, project: Project) -> None:
        """The cheap walk of ids decides what is deleted from the catalog."""
        ids = walk(source.document_ids(project))
        assert len(set(ids)) == len(ids), "document_ids yields an id twice"
        known = documents_of(source, project)
        assert set(ids) == set(known), (
            f"document_ids and documents differ; ids only: {first(sorted(set(ids) - set(known)))}, "
            f"documents only: {first(sorted(set(known) - set(ids)))}"
        )

    def test_a_total_is_what_the_walk_holds(self, source: Source, project: Project) -> None:
        """Where a page tells it: progress is shown by it."""
        pages = list(source.documents(project, None))
        count = sum(len(page.items) for page in pages)
        told = {page.total for page in pages if page.total is not None}
        assert told <= {count}, f"pages tell a total of {sorted(told)}; the walk holds {count} documents"
        assert all(page.requests >= 0 for page in pages), "a page tells a negative number of requests"

    def test_a_walk_from_the_watermark_gives_what_is_known(self, source: Source, project: Project) -> None:
        """Nothing has changed: what comes is part of the whole walk and as it was."""
        known, watermark = documents_of(source, project), last_watermark(source, project)
        if watermark is None:
            pytest.skip("the source gives no watermark: every sync walks all")
        again = walk(source.documents(project, watermark))
        strange = [document.id for document in again if known.get(document.id) != document]
        assert not strange, (
            f"since the watermark {watermark!r} nothing changed, yet these are new or other: {first(strange)}"
        )

    def test_watermarks_never_go_back(self, source: Source, project: Project) -> None:
        """A walk from the watermark that finds nothing keeps it, or one that is as good."""
        watermark = last_watermark(source, project)
        if watermark is None:
            pytest.skip("the source gives no watermark: every sync walks all")
        pages = list(source.documents(project, watermark))
        later = next((page.watermark for page in reversed(pages) if page.watermark), watermark)
        count, again = len(walk(pages)), len(walk(source.documents(project, later)))
        assert again <= count, (
            f"the watermark of a walk without changes leads further back: {again} documents, not {count}"
        )

    def test_what_is_edited_comes_with_the_next_walk(
        self, source: Source, project: Project, edit_document: Edit | None
    ) -> None:
        """The walk from the last watermark holds every document that was changed since."""
        edit = needed(edit_document, "edit_document")
        watermark = last_watermark(source, project)
        edited = edit()
        found = [document.id for document in walk(source.documents(project, watermark))]
        assert edited in found, f"{edited} was edited after the walk, and the walk from its watermark lacks it"

    def test_links_name_documents(self, source: Source, project: Project) -> None:
        """By ids of the source, from one to another, one end in the project."""
        known = documents_of(source, project)
        for link in walk(source.links(project)):
            for end in (link.from_id, link.to_id):
                assert end.startswith(f"{project.source}:"), (
                    f"a link names {end!r}, which lacks {project.source + ':'!r}"
                )
            assert link.from_id != link.to_id, f"{link.from_id} is linked with itself"
            assert {link.from_id, link.to_id} & set(known), f"{link} has no end in the project {project.id}"
            assert link.type.strip(), f"the link from {link.from_id} to {link.to_id} has no type"

    def test_two_walks_of_the_links_give_the_same(self, source: Source, project: Project) -> None:
        """In whatever order."""
        before, after = Counter(walk(source.links(project))), Counter(walk(source.links(project)))
        assert before == after, f"two walks gave other links: {first((before - after) + (after - before))}"


class DocumentLaws(SourceSetting):
    """What holds of each document."""

    def test_parents_are_documents_of_the_project(self, source: Source, project: Project) -> None:
        """Or None: the path of ancestors is made of them. None of them is its own ancestor."""
        known = documents_of(source, project)
        strange = [d.id for d in known.values() if d.parent_id is not None and d.parent_id not in known]
        assert not strange, f"documents whose parent is no document of the project: {first(strange)}"
        parents = {document.id: document.parent_id for document in known.values()}
        for key in known:
            ancestors = list(_ancestors(key, parents))
            assert key not in ancestors, f"{key} is its own ancestor: {ancestors}"

    def test_the_path_is_left_empty(self, source: Source, project: Project) -> None:
        """The catalog derives it, so that renaming a folder changes one document."""
        given = [document.id for document in documents_of(source, project).values() if document.path]
        assert not given, f"documents with a path of their own: {first(given)}"

    def test_types_and_fields_are_described(self, source: Source, project: Project) -> None:
        """`describe` lists each type that documents have, with each field that is used."""
        types = {each.id: each for each in source.describe(project)}
        for document in documents_of(source, project).values():
            assert document.type_id in types, f"describe() lacks the type {document.type_id!r} of {document.id}"
            described = types[document.type_id]
            assert document.type_name == described.name, (
                f"{document.id} is a {document.type_name!r}, describe() calls its type {described.name!r}"
            )
            missing = sorted(set(document.fields) - set(described.fields))
            assert not missing, f"describe() lacks fields of {document.id}, type {described.name!r}: {missing}"

    def test_times_are_in_utc(self, source: Source, project: Project) -> None:
        """Aware, or None."""
        for document in documents_of(source, project).values():
            for name, time in (("created", document.created), ("modified", document.modified)):
                assert time is None or time.utcoffset() == timedelta(0), (
                    f"{name} of {document.id} is not aware and in UTC: {time!r}; use .astimezone(UTC)"
                )

    def test_every_document_has_a_name_or_a_key(self, source: Source, project: Project) -> None:
        """Nothing else is always there to be found by."""
        bare = [d.id for d in documents_of(source, project).values() if not (d.name.strip() or d.key.strip())]
        assert not bare, f"documents with neither name nor key: {first(bare)}"

    def test_texts_are_clean(self, source: Source, project: Project) -> None:
        """No control characters but line ends and tabs, no halves of surrogate pairs."""
        for document in documents_of(source, project).values():
            for place, text in _texts(document):
                odd = sorted({c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"})
                assert not odd, f"{place} of {document.id} holds control characters: {odd}"

    def test_texts_are_not_markup(self, source: Source, project: Project) -> None:
        """One text may speak of tags; where most sections hold them, rich text was not turned into text."""
        sections = [text for d in documents_of(source, project).values() for text in d.sections.values() if text]
        marked = [text for text in sections if _BLOCK_TAGS.search(text)]
        assert 2 * len(marked) <= len(sections), (
            f"{len(marked)} of {len(sections)} sections hold HTML tags: turn them to text"
        )

    def test_fields_are_values_of_json(self, source: Source, project: Project) -> None:
        """They are stored, and handed to clients."""
        for document in documents_of(source, project).values():
            try:
                json.dumps(dict(document.fields), allow_nan=False)
            except (TypeError, ValueError) as error:
                pytest.fail(f"fields of {document.id} are not values of JSON: {error}")

    def test_addresses_are_whole(self, source: Source, project: Project) -> None:
        """A client shows them as links."""
        for document in documents_of(source, project).values():
            url = document.url
            assert url is None or re.match(r"[a-z][a-z0-9+.-]*://\S+$", url), f"url of {document.id} is none: {url!r}"


class SourceContract(WalkLaws, DocumentLaws):
    """Laws of a `Source`. Override the fixture `source`."""

    def test_its_abilities_are_tried(self, source: Source) -> None:
        """Counting, deletions and the others have contracts of their own."""
        require_abilities_tried(source, type(self))


def _texts(document: Document) -> Iterator[tuple[str, str]]:
    yield from (("key", document.key), ("name", document.name), ("status", document.status or ""))
    yield from ((f"section {name!r}", text) for name, text in document.sections.items())
    yield from ((f"field {name!r}", text) for name, text in document.fields.items() if isinstance(text, str))


def _ancestors(key: str, parents: dict[str, str | None]) -> Iterator[str]:
    """Walk up; a circle ends where it comes to something seen before."""
    seen: set[str] = set()
    parent = parents.get(key)
    while parent is not None and parent not in seen:
        yield parent
        seen.add(parent)
        parent = parents.get(parent)
