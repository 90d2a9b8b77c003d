"""The demo's data beside its items: complete, consistent, and served as described."""

import re

import pytest

from reqall.testing.jama_simulator import World
from reqall.testing.jama_simulator.run import read_project

ITEMS_OF_THE_TREE = {51: 208, 52: 93}


@pytest.fixture(scope="module")
def world() -> World:
    return World(read_project())


def test_there_is_enough_of_each_kind(world: World) -> None:
    counts = {name: len(world.every(name)) for name in ("comments", "tags", "baselines", "testgroups")}
    counts |= {kind: len(world.every(kind)) for kind in ("attachments", "testplans", "testcycles", "testruns")}
    assert counts == {
        "comments": 21,
        "tags": 8,
        "baselines": 3,
        "testgroups": 7,
        "attachments": 6,
        "testplans": 2,
        "testcycles": 3,
        "testruns": 31,
    }
    documents = (item for item in world.items.values() if item["type"] != "attachments")
    projects = [item["project"] for item in documents]
    assert (projects.count(51), projects.count(52)) == (208 + 24, 93 + 12)
    tree = [item["project"] for item in world.every("items")]
    assert {project: tree.count(project) for project in (51, 52)} == ITEMS_OF_THE_TREE


def test_every_run_is_one_of_its_plan_and_repeats_its_case(world: World) -> None:
    for run in world.every("testruns"):
        cycle, group = run["testGroup"]
        fields, case = run["fields"], world.items[run["fields"]["testCase"]]
        group = world.collections["testgroups"][group]
        assert group["testPlan"] == world.items[cycle]["fields"]["testPlan"]
        assert group["testCases"][run["sortOrderFromTestGroup"]] == case["id"]
        assert 1 <= run["testCaseVersionNumber"] <= world.versions.current(case)
        asked = [
            {name: step[name] for name in ("action", "expectedResult")} for step in case["fields"]["testCaseSteps"]
        ]
        done = [{name: step[name] for name in ("action", "expectedResult")} for step in fields["testRunSteps"]]
        assert done == asked
        assert fields["name"] == case["fields"]["name"]


def test_a_run_says_what_its_steps_say(world: World) -> None:
    seen = set()
    for run in world.every("testruns"):
        steps = {step["status"] for step in run["fields"]["testRunSteps"]}
        status = run["fields"]["testRunStatus"]
        seen.add(status)
        first = next((one for one in ("FAILED", "BLOCKED") if one in steps), None)
        assert status == (first or (steps.pop() if len(steps) == 1 else "INPROGRESS"))
        assert ("executionDate" in run["fields"]) == (status != "NOT_RUN")
    assert seen == {"PASSED", "FAILED", "BLOCKED", "NOT_RUN", "INPROGRESS"}


def test_every_reference_leads_somewhere(world: World) -> None:
    users = world.collections["users"]
    for comment in world.every("comments"):
        item = world.items[comment["location"]["item"]]
        assert item["project"] == comment["location"]["project"]
        assert item["createdDate"] < comment["createdDate"] <= item["lastActivityDate"]
        assert comment["createdBy"] in users
        if comment["inReplyTo"] is not None:
            root = world.collections["comments"][comment["inReplyTo"]]
            assert root["location"] == comment["location"]
            assert root["createdDate"] < comment["createdDate"]
    for tag in world.every("tags"):
        assert {world.items[item]["project"] for item in tag["items"]} == {tag["project"]}
    for attachment in world.every("attachments"):
        assert all(item in world.items for item in attachment["items"])
    texts = "".join(str(world.collections["comments"]) + str(run["fields"]) for run in world.every("testruns"))
    for project, item, key in re.findall(r"projectId=(\d+)&amp;docId=(\d+)\D*?>([A-Z0-9-]+)</a>", texts):
        assert (world.items[int(item)]["documentKey"], world.items[int(item)]["project"]) == (key, int(project))


def test_the_pictures_in_the_texts_are_attachments(world: World) -> None:
    texts = "".join(str(item["fields"].get("description")) for item in world.every("items"))
    pictures = re.findall(r"/attachment/(\d+)/([\w.]+)", texts)
    assert len(pictures) == 2
    for identifier, name in pictures:
        assert world.items[int(identifier)]["fileName"] == name


def test_baselines_hold_old_versions(world: World) -> None:
    frozen = {one["id"]: world.baselines.content(one) for one in world.every("baselines")}
    assert {identifier: len(content) for identifier, content in frozen.items()} == {601: 173, 602: 71, 603: 17}
    item = next(one for one in world.every("items") if one["documentKey"] == "AIP-SWR-10")
    assert item["id"] in frozen[601]
    assert "4 kPa" in world.versions.fields(item, 1)["description"]
    assert "6 kPa" in item["fields"]["description"]
