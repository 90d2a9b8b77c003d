import pytest

from reqall import Project, SupportsDeletions
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TINY = Project("jama:2", "jama", "TNY", "Tiny")
LONG_AGO = "2020-01-01T00:00:00.000+0000"


def told(source, since=None):
    return [each for page in source.deleted(TINY, since) for each in page.items]


def test_the_source_tells_deletions(jama, source_of):
    source = source_of(jama.url)
    assert isinstance(source, SupportsDeletions)
    assert told(source) == []
    jama.world.delete(1002)
    jama.world.delete(1004)
    assert sorted(told(source)) == ["jama:1002", "jama:1004"]


def test_what_went_with_a_container_is_told(jama, source_of):
    jama.world.delete(101)
    assert sorted(told(source_of(jama.url), LONG_AGO)) == sorted(
        ["jama:101", "jama:102", *(f"jama:{n}" for n in range(1001, 1006))]
    )


def test_affected_items_that_jama_has_forgotten_are_no_error(jama, source_of):
    jama.faults.affected_items_after_delete = False
    jama.world.delete(101)
    assert told(source_of(jama.url)) == ["jama:101"]


@pytest.mark.parametrize("status", [403, 404])
def test_affected_items_that_are_refused_are_no_error(jama, source_of, status):
    jama.world.delete(1001)
    jama.faults.fail(status, path="/affecteditems")
    assert told(source_of(jama.url)) == ["jama:1001"]


def test_only_what_was_deleted_since_is_told(jama, source_of):
    jama.world.delete(1001)
    jama.world.clock.advance(3600)
    since = jama.world.clock.stamp()
    jama.world.delete(1002)
    assert told(source_of(jama.url), since) == ["jama:1002"]
    assert "%2B0000" in next(seen.query for seen in jama.requests if seen.path.endswith("/activities"))


def test_other_deletions_are_no_documents(jama, source_of):
    jama.world.unrelate(1)
    jama.world.edit(1001, name="Edited")
    assert told(source_of(jama.url)) == []


def test_a_jama_that_ignores_the_filter_names_no_living_item(answering, source_of, envelope):
    kinds = [
        ("DELETE", "RELATIONSHIP"),
        ("UPDATE", "ITEM"),
        ("BATCH_DELETE", "ITEM"),
        ("DELETE", "A_NEW_TYPE"),
        (None, None),
    ]
    rows = [
        {"id": n, "item": 100 + n, "eventType": event, "objectType": kind, "date": LONG_AGO}
        for n, (event, kind) in enumerate(kinds)
    ]

    def reply(path, _):
        if path.endswith("/token"):
            return None
        return 200, {}, envelope(rows if path.endswith("/activities") else [{"id": 7}, {"id": "x"}], None)

    assert told(source_of(answering(reply).url)) == ["jama:102", "jama:7", "jama:103"]


def test_activities_that_may_not_be_read_tell_nothing(jama, source_of):
    jama.faults.forbidden_paths.append("/activities")
    jama.world.delete(1001)
    assert told(source_of(jama.url)) == []


def test_many_deletions_come_once_and_are_counted(source_of):
    with JamaSimulator(project=tiny_project(130)) as jama:
        for number in range(1001, 1121):
            jama.world.delete(number)
        source = source_of(jama.url)
        pages = list(source.deleted(TINY, None))
        ids = [each for page in pages for each in page.items]
        assert sorted(ids) == sorted(f"jama:{n}" for n in range(1001, 1121))
        assert sum(page.requests for page in pages) == len(jama.requests)
