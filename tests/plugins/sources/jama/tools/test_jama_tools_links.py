"""Relationships of items and projects, and test runs."""

import pytest

from reqall import InputError
from reqall.plugins.sources.jama.tools import browse_runs
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

OF_ITEM, OF_PROJECT, RUNS = (
    "get_jama_item_relationships",
    "list_jama_project_relationships",
    "list_jama_test_runs",
)


def test_both_directions_with_the_other_end(jama, tool):
    jama.world.relate(103, 1002)
    result = tool(jama.url, OF_ITEM, item_id="TNY-TC-1")
    rows = [(row.direction, row.key, row.suspect, row.relationship_type) for row in result.relationships]
    assert rows == [
        *(("upstream", f"TNY-REQ-{n}", False, "Related to") for n in range(1, 6)),
        ("downstream", "TNY-REQ-2", False, "Related to"),
    ]
    first = result.relationships[0]
    assert (first.item_id, first.name, first.type, first.status) == (
        *("1001", "Volume step 1"),
        *("Requirement", "Approved"),
    )
    assert first.url.endswith("#/items/1001?projectId=2")
    assert result.total == 6


def test_suspect_links_and_items_without_any(jama, tool):
    jama.world.edit(1001, name="Changed")
    (row,) = tool(jama.url, OF_ITEM, item_id=1001).relationships
    assert row.suspect
    nothing = tool(jama.url, OF_ITEM, item_id=102)
    assert (nothing.relationships, nothing.total, nothing.note) == ([], 0, "")
    for kind in (105, 107):
        none = tool(jama.url, OF_ITEM, item_id=kind)
        assert none.relationships == []
        assert "have no relationships" in none.note


def test_an_end_that_is_not_visible_keeps_its_id(tool):
    project = tiny_project()
    link = {"id": 500, "fromItem": 1001, "toItem": 4711, "relationshipType": 99, "suspect": True}
    project["relationships"].append(link)
    with JamaSimulator(project=project) as jama:
        rows = tool(jama.url, OF_ITEM, item_id=1001).relationships
        hidden = next(row for row in rows if row.relationship_id == "500")
        assert (hidden.item_id, hidden.key, hidden.name, hidden.url) == ("4711", "", "", "")
        assert (hidden.relationship_type, hidden.suspect) == ("99", True)
        found = tool(jama.url, OF_PROJECT, project_id=2).relationships
        hidden = next(row for row in found if row.relationship_id == "500")
        assert (hidden.from_key, hidden.to_id, hidden.to_key) == ("TNY-REQ-1", "4711", "")


def test_a_type_that_refuses_relationships_has_none_but_a_failure_is_told(answering, tool, envelope):
    status = {"upstreamrelationships": 404}

    def reply(path, _):
        if path.endswith("/abstractitems/5"):
            return 200, {}, {"meta": {}, "data": {"id": 5, "itemType": 31, "project": 2, "fields": {}, "type": "items"}}
        if path.rpartition("/")[2] in status:
            return status[path.rpartition("/")[2]], {}, {"meta": {"message": "no widget"}}
        return None if path.endswith("/token") else (200, {}, envelope([], 0))

    server = answering(reply)
    assert "have no relationships" in tool(server.url, OF_ITEM, item_id=5).note
    status["upstreamrelationships"] = 500
    with pytest.raises(Exception, match="500"):
        tool(server.url, OF_ITEM, item_id=5)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("total", ["all", "remaining", "absent"])
@pytest.mark.parametrize("size", [0, 1, 19, 20, 21, 40, 61])
def test_project_relationships_come_whole_in_pages(chain, legacy, total, size):
    switches = {"legacy_relationships": legacy, "relationship_total": total}
    with JamaSimulator(project=tiny_project(size), **switches) as jama:
        rows, pages = chain(jama.url, OF_PROJECT, "relationships", project_id="TNY")
        assert [row.relationship_id for row in rows] == [str(number) for number in range(1, size + 1)]
        assert all(page.returned == 20 for page in pages[:-1])
        assert all((row.to_key, row.to_name) == ("TNY-TC-1", "Volume up") for row in rows)
        assert [row.from_key for row in rows] == [f"TNY-REQ-{n}" for n in range(1, size + 1)]


def test_project_relationships_that_come_and_go_between_pages(tool):
    with JamaSimulator(project=tiny_project(50)) as jama:
        first = tool(jama.url, OF_PROJECT, project_id=2)
        for gone in (1, 20, 21, 22):
            jama.world.unrelate(gone)
        new = jama.world.relate(1001, 1002)
        found = [row.relationship_id for row in first.relationships]
        page = first
        while page.cursor:
            page = tool(jama.url, OF_PROJECT, project_id=2, cursor=page.cursor)
            found += [row.relationship_id for row in page.relationships]
        assert found == [*(str(n) for n in range(1, 51) if n not in (21, 22)), str(new)]


def test_ends_that_are_test_runs_have_names_too(jama, tool):
    jama.world.relate(106, 1001)
    row = tool(jama.url, OF_PROJECT, project_id=2).relationships[-1]
    assert (row.from_key, row.from_name, row.to_key) == ("TNY-TSTRN-1", "Volume up", "TNY-REQ-1")


def test_the_relationships_of_one_item_in_its_project(tool, chain):
    with JamaSimulator(project=tiny_project(45)) as jama:
        rows, _ = chain(jama.url, OF_PROJECT, "relationships", project_id=2, item_id="TNY-TC-1")
        assert [row.from_key for row in rows] == [f"TNY-REQ-{n}" for n in range(1, 46)]
        assert {row.to_key for row in rows} == {"TNY-TC-1"}
        with pytest.raises(InputError, match="not in 3") as error:
            tool(jama.url, OF_PROJECT, project_id=3, item_id="TNY-TC-1")
        assert OF_ITEM in error.value.remedy


def _with_runs(cycles):
    """Plans with one cycle more each, and that many runs in each cycle; the tiny project's run is in 105."""
    project, identifier = tiny_project(1), 5_000
    tree = {item["id"]: item for item in project["items"]}
    plan = None
    for number, runs in enumerate(cycles):
        identifier += 100
        if number % 2 == 0:
            plan = {**tree[104], "id": identifier, "documentKey": f"P-{identifier}", "fields": {"name": f"P{number}"}}
            project["items"].append(plan)
        fields = {"name": f"C{number}", "testPlan": plan["id"]}
        cycle = {**tree[105], "id": identifier + 1, "documentKey": f"C-{identifier}", "fields": fields}
        project["items"].append(cycle)
        for each in range(runs):
            run = {**tree[106], "id": identifier + 2 + each, "documentKey": f"R-{identifier + 2 + each}"}
            project["items"].append({**run, "testGroup": [cycle["id"], 11]})
    return project


@pytest.mark.parametrize("cycles", [[], [0], [19], [3, 0, 16, 1, 25], [45, 0, 0, 41], [19, 20, 1]])
def test_all_runs_of_a_project(chain, cycles):
    with JamaSimulator(project=_with_runs(cycles)) as jama:
        rows, pages = chain(jama.url, RUNS, "test_runs", project_id="tiny")
        assert len(rows) == len({row.item_id for row in rows}) == sum(cycles) + 1
        assert all(page.returned == 20 for page in pages[:-1])
        assert {row.cycle for row in rows[1:]} == {f"C{n}" for n, runs in enumerate(cycles) if runs}
        for row in rows[1:]:
            assert row.plan == f"P{int(row.cycle[1:]) // 2 * 2}"


def test_a_project_of_many_empty_cycles_is_walked_in_bounded_calls(tool):
    empty = browse_runs.MOST_REQUESTS * 2
    with JamaSimulator(project=_with_runs([0] * empty + [2])) as jama:
        cursor, seen, calls = "", [], 0
        while True:
            before = len(jama.requests)
            page = tool(jama.url, RUNS, project_id=2, cursor=cursor)
            assert len(jama.requests) - before <= browse_runs.MOST_REQUESTS + 15
            seen += [row.item_id for row in page.test_runs]
            calls, cursor = calls + 1, page.cursor
            if not cursor:
                break
            assert page.total == -1
            assert "pass the cursor to go on" in page.note
        assert len(seen) == 3
        assert calls > 2
        assert page.total == 3


def test_runs_of_a_cycle(tool, chain):
    project = _with_runs([45])
    for item in project["items"]:
        if item["id"] == 106:
            item["fields"] |= {"executionDate": "2024-02-01", "assignedTo": 15}
    with JamaSimulator(project=project) as jama:
        assert not tool(jama.url, RUNS, test_cycle_id=105).test_runs[0].outdated
        jama.world.edit(103, name="Volume up and down")
        (run,) = tool(jama.url, RUNS, test_cycle_id="TNY-TSTCY-1").test_runs
        assert (run.key, run.status, run.test_case_id, run.outdated) == ("TNY-TSTRN-1", "PASSED", "103", True)
        assert (run.executed, run.tester, run.cycle, run.plan) == ("2024-02-01", "Ada Tiny", "Cycle", "Plan")
        rows, pages = chain(jama.url, RUNS, "test_runs", test_cycle_id=5101, project_id=2)
        assert len(rows) == 45
        assert {page.total for page in pages} == {45}


def test_what_is_no_cycle_is_refused(jama, tool):
    with pytest.raises(InputError, match="neither a project nor a test cycle"):
        tool(jama.url, RUNS)
    with pytest.raises(InputError, match="is no test cycle: its type is Test Plan"):
        tool(jama.url, RUNS, test_cycle_id=104)
    with pytest.raises(InputError, match="is in project 2"):
        tool(jama.url, RUNS, test_cycle_id=105, project_id=3)


def test_a_cycle_that_has_gone_is_no_silent_gap(tool):
    with JamaSimulator(project=_with_runs([30, 30])) as jama:
        cursor = tool(jama.url, RUNS, project_id=2).cursor
        jama.world.vanish(5101)
        with pytest.raises(InputError, match="have changed"):
            tool(jama.url, RUNS, project_id=2, cursor=cursor)
