import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import SecretStr

from reqall import (
    InputError,
    Project,
    Services,
    Source,
    SourceAuthError,
    SourceError,
    SupportsCount,
    SupportsValidation,
)
from reqall.plugins.sources import jama as plugin
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.reading.items import moment
from reqall.plugins.sources.jama.reading.watermark import Mark
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TINY = Project("jama:2", "jama", "TNY", "Tiny")


def since(source, date):
    """A watermark at that date, with the definitions as they are now."""
    *_, last = source.documents(TINY, None)
    return replace(Mark.of(last.watermark), date=date).text


def walk(pages):
    return [item for page in pages for item in page.items]


def test_the_plugin_registers_one_source(jama):
    (registration,) = plugin.register_sources()
    options = JamaOptions(
        url=jama.url, client_id=jama.client_id, client_secret=SecretStr(jama.client_secret), page_size=2
    )
    source: Source = registration.build(options, Services(name="plant"))
    assert registration.name == "jama"
    assert [project.id for project in source.projects()] == ["plant:2", "plant:3"]
    for ability in (SupportsCount, SupportsValidation):
        assert isinstance(source, ability)


def test_registering_imports_nothing_heavy():
    code = (
        "import sys; from reqall.plugins.sources import jama; "
        "(it,) = jama.register_sources(); it.tools('jama', None);"
        "print(sorted({'requests', 'bs4', 'lxml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_projects_are_listed_without_folders(jama, source_of):
    assert source_of(jama.url).projects() == [TINY, Project("jama:3", "jama", "OTH", "Other")]


def test_all_items_but_attachments_are_documents(source_of):
    with JamaSimulator(project=tiny_project(120)) as jama:
        source = source_of(jama.url)
        pages = list(source.documents(TINY, None))
        documents = walk(pages)
        ids = [document.id for document in documents]
        assert {*ids} == {f"jama:{n}" for n in [*range(100, 107), *range(1001, 1121)]}
        assert len(ids) == 127
        assert {page.total for page in pages} == {127}
        assert source.count(TINY) == 127
        assert sorted(walk(source.document_ids(TINY))) == sorted(ids)
        assert sum(page.requests for page in pages) + 1 <= len(jama.requests)
        assert jama.writes == []


def test_pages_tell_what_they_cost(source_of):
    with JamaSimulator(project=tiny_project(120)) as jama:
        source = source_of(jama.url)
        costs = [page.requests for page in source.documents(TINY, None)]
        assert sum(costs) == len(jama.requests)
        assert costs[1:] == [1, 1]
        before = len(jama.requests)
        assert sum(page.requests for page in source.links(TINY)) == len(jama.requests) - before
        before = len(jama.requests)
        assert sum(page.requests for page in source.document_ids(TINY)) == len(jama.requests) - before == 3


def test_an_incremental_walk_costs_by_changes(source_of):
    with JamaSimulator(project=tiny_project(300)) as jama:
        source = source_of(jama.url)
        watermark = list(source.documents(TINY, None))[-1].watermark
        jama.world.edit(1007, name="Changed")
        before = len(jama.requests)
        (page,) = source.documents(TINY, watermark)
        assert {document.name for document in page.items} >= {"Changed"}
        assert page.total == len(page.items) <= 2
        assert len(jama.requests) - before == 1


def test_an_incremental_walk_includes_the_watermark_itself(jama, source_of):
    source = source_of(jama.url)
    (page,) = source.documents(TINY, since(source, "2024-01-01T00:03:00.000+0000"))
    assert [document.key for document in page.items] == ["TNY-REQ-3", "TNY-REQ-4", "TNY-REQ-5"]
    assert Mark.of(page.watermark).date == "2024-01-01T00:05:00.000+0000"


def test_a_walk_without_changes_keeps_the_watermark(jama, source_of):
    source = source_of(jama.url)
    (page,) = source.documents(TINY, since(source, "2025-01-01T00:00:00.000+0000"))
    assert (page.items, page.total) == ([], 0)
    assert Mark.of(page.watermark).date == "2025-01-01T00:00:00.000+0000"


def _rename_status(world):
    option = world.collections["picklistoptions"][300]
    option["name"] = "Renamed"


def _rename_field(world):
    world.collections["itemtypes"][24]["fields"][0]["label"] = "Renamed"


@pytest.mark.parametrize("change", [_rename_status, _rename_field])
def test_definitions_that_changed_are_seen_once_a_day_and_all_items_walked(source_of, change):
    """No item has a new date, yet what is read of them differs."""
    with JamaSimulator(project=tiny_project(120)) as jama:
        source = source_of(jama.url)
        *_, last = source.documents(TINY, None)
        change(jama.world)
        jama.world.clock.advance(3600)
        assert len(walk(source.documents(TINY, last.watermark))) < 10
        jama.world.clock.advance(86_400)
        *pages, last = source.documents(TINY, last.watermark)
        assert len(walk([*pages, last])) > 120
        before = len(jama.requests)
        assert len(walk(source.documents(TINY, last.watermark))) < 10
        assert len(jama.requests) - before == 1


def test_a_watermark_of_a_date_alone_is_walked_whole_once(source_of):
    """As versions before wrote it."""
    with JamaSimulator(project=tiny_project(120)) as jama:
        source = source_of(jama.url)
        *pages, last = source.documents(TINY, "2025-01-01T00:00:00.000+0000")
        assert len(walk([*pages, last])) > 120
        assert walk(source.documents(TINY, last.watermark)) == []


def test_what_changes_during_a_walk_is_found_by_the_next(source_of):
    """Item 1001 is read, then changed; then a later page brings an even newer change."""
    with JamaSimulator(project=tiny_project(120)) as jama:

        def meanwhile(world, path, start):
            if path.endswith("/abstractitems") and start == 49:
                world.edit(1001, name="Missed")
                world.clock.advance(60)
                world.edit(1100, name="Newer")

        jama.faults.before_page = meanwhile
        source = source_of(jama.url, parallel_pages=1)
        pages = list(source.documents(TINY, None))
        assert {document.name for document in walk(pages)} >= {"Newer"}
        assert "Missed" not in {document.name for document in walk(pages)}
        jama.faults.before_page = None
        again = walk(source.documents(TINY, pages[-1].watermark))
        assert {document.name for document in again} >= {"Missed", "Newer"}


def test_a_watermark_leaves_time_for_what_is_not_visible_yet(jama, source_of):
    jama.world.edit(1001, name="Just now")
    began = jama.world.clock.now()
    (page,) = source_of(jama.url).documents(TINY, None)
    assert moment(Mark.of(page.watermark).date) <= began - timedelta(minutes=5) + timedelta(seconds=2)


def test_deletions_during_a_walk_hide_nothing(source_of):
    with JamaSimulator(project=tiny_project(120)) as jama:

        def meanwhile(world, path, start):
            if path.endswith("/abstractitems") and start == 49:
                world.delete(1001)
                world.delete(1002)

        jama.faults.before_page = meanwhile
        ids = [document.id for document in walk(source_of(jama.url).documents(TINY, None))]
        assert len(ids) == len(set(ids))
        assert {f"jama:{n}" for n in range(1003, 1121)} <= set(ids)


def test_items_that_come_and_go_during_a_walk_hide_none(source_of):
    """For each one that goes, an old one is restored behind the reader: the count does not tell."""
    with JamaSimulator(project=tiny_project(300)) as jama:
        for number in range(1001, 1041):
            jama.world.delete(number)

        def meanwhile(world, path, start):
            if path.endswith("/abstractitems") and 0 < start < 200:
                gone, back = 1042 + start % 29, 1001 + start % 39
                if gone in world.items and back not in world.items:
                    world.delete(gone)
                    world.restore(back)

        jama.faults.before_page = meanwhile
        ids = [document.id for document in walk(source_of(jama.url, page_size=20).documents(TINY, None))]
        assert len(ids) == len(set(ids))
        assert {f"jama:{n}" for n in range(1071, 1301)} <= set(ids)


def test_every_walk_has_a_fixed_order(jama, source_of):
    source = source_of(jama.url)
    list(source.documents(TINY, None))
    list(source.document_ids(TINY))
    walks = [seen.params for seen in jama.requests if seen.path.endswith("/abstractitems")]
    assert [params["sortBy"] for params in walks] == [["createdDate.asc", "documentKey.asc"]] * 2


def test_waits_are_told_to_whoever_asks(jama, source_of, waits):
    source, told = source_of(jama.url), []
    assert source.on_wait is None
    source.on_wait = told.append
    jama.faults.fail(429, path="/abstractitems")
    list(source.documents(TINY, None))
    assert len(told) == len(waits) == 1
    assert told[0].startswith(("waiting 3 s", "waiting 4 s"))
    assert "HTTP 429 to GET /abstractitems" in told[0]


def test_options_have_the_advised_limits():
    options = JamaOptions()
    assert (options.requests_per_second, options.parallel_pages, options.page_size) == (8, 8, 50)
    assert (options.ca_bundle, options.client_cert) == ("${JAMA_CA_BUNDLE:-}", "${JAMA_CLIENT_CERT:-}")


def test_links_go_from_upstream_to_downstream(source_of):
    with JamaSimulator(project=tiny_project(120)) as jama:
        jama.world.edit(1001, name="Suspicious")
        pages = list(source_of(jama.url).links(TINY))
        links = walk(pages)
        assert len(links) == len({link.from_id for link in links}) == 120
        assert {link.to_id for link in links} == {"jama:103"}
        assert {link.type for link in links} == {"Related to"}
        assert [link.from_id for link in links if link.suspect] == ["jama:1001"]
        assert pages[0].total == 120


def test_item_types_are_described_without_attachments(jama, source_of):
    types = {each.name: each for each in source_of(jama.url).describe(TINY)}
    assert "Attachment" not in types
    assert types["Requirement"].id == "24"
    assert types["Requirement"].fields["priority"] == "Priority"
    assert types["Requirement"].fields["description"] == "Description"


def test_master_data_are_kept_for_ten_minutes(jama, source_of, ticks):
    source = source_of(jama.url)
    mark = None

    def asked():
        before = len(jama.requests)
        assert len(walk(source.documents(TINY, mark))) > 5
        return {seen.path.rpartition("/")[2] for seen in jama.requests[before:]} - {"token"}

    assert asked() == {"abstractitems", "itemtypes", "options", "users", "releases"}
    mark = since(source, "2024-01-01T00:00:00.000+0000")
    ticks.now = 599
    assert asked() == {"abstractitems"}
    ticks.now = 601
    assert asked() == {"abstractitems", "itemtypes", "options", "users", "releases"}


def test_threads_share_master_data(jama, source_of):
    source, gate = source_of(jama.url), threading.Barrier(4)

    def read(_):
        gate.wait()
        return walk(source.documents(TINY, None))

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(read, range(4)))
    assert all(result == results[0] for result in results)
    assert [seen.path for seen in jama.requests].count("/rest/v1/itemtypes") == 1


def test_the_demo_project_is_read_whole(demo, source_of):
    source = source_of(demo.url)
    for project in source.projects():
        documents = walk(source.documents(project, None))
        assert len(documents) == source.count(project) > 50
        texts = [text for document in documents for text in document.sections.values()]
        assert not [text for text in texts if re.search(r"</?(p|span|div|td|li|img|br)\b|&nbsp;|style=", text)]
        assert not [d.key for d in documents if not d.name or not d.key or d.modified is None]
        known = {document.id for document in documents}
        assert all(document.parent_id in known for document in documents if document.parent_id)
        assert len(walk(source.links(project))) > 10


def test_a_project_of_another_source_is_refused(jama, source_of):
    with pytest.raises(InputError, match="no project of the source"):
        source_of(jama.url).count(Project("reqif:a", "reqif", "a", "a"))


def test_an_error_in_the_middle_of_a_walk_comes_out(source_of):
    with JamaSimulator(project=tiny_project(120)) as jama:
        pages = source_of(jama.url).documents(TINY, None)
        next(pages)
        jama.faults.fail(*["truncated"] * 9, path="/abstractitems")
        with pytest.raises(SourceError, match="GET /abstractitems"):
            list(pages)


def test_refused_item_types_are_an_error_and_no_loss(jama, source_of):
    jama.faults.forbidden_paths.append("/itemtypes")
    with pytest.raises(SourceAuthError, match="/itemtypes"):
        list(source_of(jama.url).documents(TINY, None))


def test_settings_that_are_missing_are_told_one_by_one(source_of):
    unset = {"client_id": "", "client_secret": SecretStr("${JAMA_CLIENT_SECRET}")}
    problems = source_of("", **unset).validate(live=True)
    assert [line.split()[0] for line in problems] == ["JAMA_URL", "JAMA_CLIENT_ID", "JAMA_CLIENT_SECRET"]
    assert "https://" in source_of("x.jamacloud.com").validate(live=False)[0]


def test_a_live_check_talks_to_jama_and_an_offline_one_does_not(jama, source_of):
    assert source_of(jama.url).validate(live=False) == []
    assert jama.requests == []
    assert source_of(jama.url).validate(live=True) == []
    (line,) = source_of(jama.url, client_secret=SecretStr("wrong")).validate(live=True)
    assert "JAMA_CLIENT_SECRET" in line
    assert "\n" not in line


def test_a_user_without_projects_is_told(source_of):
    with JamaSimulator(project=tiny_project() | {"projects": [], "items": [], "relationships": []}) as jama:
        (line,) = source_of(jama.url).validate(live=True)
        assert "no project" in line
