"""What a source keeps that tells which links changed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pytest

from reqall import Link, Page, Project, Source, SupportsLinkChanges
from reqall.testing.contracts.source_setting import (
    Edit,
    SourceSetting,
    documents_of,
    first,
    last_watermark,
    needed,
    walk,
)

Changes = Page[tuple[str, Sequence[Link]]]


class LinkChangesContract(SourceSetting):
    """Laws of `SupportsLinkChanges`. Override the fixture `source`, and `edit_links` where you can."""

    @pytest.fixture
    def edit_links(self) -> Edit | None:
        """Return what adds or removes a link and gives the id of a document at one of its ends; None skips."""
        return None

    def test_changed_documents_come_with_all_their_links(self, source: Source, project: Project) -> None:
        """Upstream and downstream, as a walk of all links has them."""
        watermark, known = _watermark(source, project), _links_by_document(source, project)
        asked = first(sorted(documents_of(source, project)), 5)
        found = _require_changes(source, project, watermark, asked)
        missing = [key for key in asked if key not in found]
        assert not missing, (
            f"documents in `changed` come with their links, also where they have none; missing: {missing}"
        )
        for key, links in found.items():
            assert set(links) == known[key], f"links of {key} differ from those of links(): {set(links) ^ known[key]}"

    def test_a_changed_link_is_told(self, source: Source, project: Project, edit_links: Edit | None) -> None:
        """Of the documents at its ends at least one comes, with the links that it has now."""
        edit = needed(edit_links, "edit_links")
        watermark = _watermark(source, project)
        shown = _shown(source, project)
        edited = edit()
        found = _require_changes(source, project, watermark, [], shown)
        known = _links_by_document(source, project)
        assert edited in found, f"links of {edited} changed since {watermark!r}, and changed_links() lacks it"
        for key, links in found.items():
            assert set(links) == known[key], f"links of {key} differ from those of links(): {set(links) ^ known[key]}"


def _require_changes(
    source: Source,
    project: Project,
    watermark: str,
    changed: Sequence[str],
    shown: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Sequence[Link]]:
    assert isinstance(source, SupportsLinkChanges), "the source has no method changed_links"
    page = source.changed_links(project, watermark, changed, shown or {})
    if page is None:
        pytest.skip("the source cannot tell here which links changed")
    found = dict(page.items)
    assert len(found) == len(page.items), "a document comes twice"
    for key, links in found.items():
        strange = [link for link in links if key not in (link.from_id, link.to_id)]
        assert not strange, f"links that do not touch {key} came with it: {strange[:2]}"
        assert len(set(links)) == len(links), f"a link of {key} comes twice"
    return found


def _watermark(source: Source, project: Project) -> str:
    walk(source.links(project))
    watermark = last_watermark(source, project)
    if watermark is None:
        pytest.skip("the source gives no watermark: every sync walks all links")
    return watermark


def _links_by_document(source: Source, project: Project) -> dict[str, set[Link]]:
    found: dict[str, set[Link]] = defaultdict(set)
    for link in walk(source.links(project)):
        found[link.from_id].add(link)
        found[link.to_id].add(link)
    return found


def _shown(source: Source, project: Project) -> dict[str, list[str]]:
    """Map documents to the other ends of their links."""
    links = _links_by_document(source, project)
    return {
        key: sorted({end for link in links[key] for end in (link.from_id, link.to_id)} - {key})
        for key in documents_of(source, project)
    }
