"""Which links the source says changed, and which items it looks up: against the simulator."""

import pytest

from reqall import Link, Project
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TINY = Project("jama:2", "jama", "TNY", "Tiny")


@pytest.fixture
def walked(jama, source_of):
    """A source that has walked the project, and the watermark an hour later."""
    source = source_of(jama.url)
    *_, last = source.documents(TINY, None)
    list(source.links(TINY))
    jama.world.clock.advance(3600)
    return source, last.watermark


def changed(source, since, *items, shown=()):
    """What the source says: item -> its links; None when it cannot tell."""
    page = source.changed_links(TINY, since, [f"jama:{item}" for item in items], dict.fromkeys(shown, ()))
    return None if page is None else {document: set(links) for document, links in page.items}


def link(upstream, downstream, *, suspect=False):
    return Link(f"jama:{upstream}", f"jama:{downstream}", "Related to", suspect)


def test_nothing_changed_costs_one_request(jama, walked):
    source, since = walked
    before = len(jama.requests)
    page = source.changed_links(TINY, since, [], {})
    assert (list(page.items), page.requests, len(jama.requests) - before) == ([], 1, 1)


def test_a_changed_item_comes_with_its_links_in_both_directions(jama, walked):
    source, since = walked
    jama.world.relate(302, 1001)
    since = jama.world.clock.stamp() if since is None else since
    before = len(jama.requests)
    page = source.changed_links(TINY, since, ["jama:1001"], {})
    assert {key: set(links) for key, links in page.items} == {"jama:1001": {link(1001, 103), link(302, 1001)}}
    assert page.requests == len(jama.requests) - before == 3


def test_ends_of_new_and_removed_relationships_are_told_by_activities(jama, walked):
    source, since = walked
    jama.world.relate(1001, 1002)
    jama.world.unrelate(3)
    assert changed(source, since) == {"jama:1001": {link(1001, 103), link(1001, 1002)}, "jama:1003": set()}


def test_test_plans_and_runs_have_links_of_their_own_kind(jama, walked):
    source, since = walked
    jama.world.relate(104, 106)
    assert changed(source, since, 106) == {"jama:104": {link(104, 106)}, "jama:106": {link(104, 106)}}


def test_an_item_whose_activity_nothing_here_explains_is_asked_for(jama, walked):
    """A relationship from another project is told in that project alone."""
    source, since = walked
    jama.world.relate(302, 1005)
    shown = [document.id for page in source.documents(TINY, since) for document in page.items]
    assert changed(source, since, shown=shown) == {"jama:1005": {link(1005, 103), link(302, 1005)}}
    shown = [document.id for page in source.documents(TINY, since) for document in page.items]
    jama.world.clock.advance(60)
    assert "jama:1005" in shown


def test_too_many_changed_items_are_not_asked_for_one_by_one(jama, walked):
    source, since = walked
    before = len(jama.requests)
    assert changed(source, since, *range(1001, 1052)) is None
    assert len(jama.requests) == before


def test_an_activity_that_names_no_item_tells_nothing(jama, walked):
    source, since = walked
    jama.world.relate(1001, 1002)
    jama.world.delete(1001)
    assert changed(source, since) is None


def test_present_is_what_is_there_and_in_the_project(jama, source_of):
    source = source_of(jama.url)
    jama.world.delete(1002)
    page = source.present(TINY, ["jama:1001", "jama:1002", "jama:300", "jama:104"])
    assert (list(page.items), page.requests) == (["jama:1001", "jama:104"], 5)  # a token, too


def test_the_other_end_of_a_known_relationship_needs_no_request(source_of):
    with JamaSimulator(project=tiny_project(60)) as jama:
        source = source_of(jama.url)
        *_, last = source.documents(TINY, None)
        list(source.links(TINY))
        jama.world.clock.advance(3600)
        jama.world.unrelate(7)
        list(source.documents(TINY, last.watermark))
        page = source.changed_links(TINY, last.watermark, [], {"jama:103": ["jama:1007"]})
        assert [document for document, _ in page.items] == ["jama:1007"]
