"""What all native tools have in common: names, schemas, sizes, and the endpoints they read."""

import asyncio
import json
import re
import subprocess
import sys
from typing import get_type_hints

import pytest
from mcp import Client
from mcp.server import MCPServer

from reqall import NotFoundError, ReqallError, SourceUnavailableError
from reqall.plugins.sources.jama.tools.endpoint_table import ALLOWED, endpoint_of
from reqall.plugins.sources.jama.tools.results import Result
from reqall.plugins.sources.jama.tools.tool_endpoints import ENDPOINTS
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

MOST_TOKENS = 7_000
"""Of all tools of a source in `tools/list`, at four characters a token."""


@pytest.fixture(name="tools")
def _tools(tools_of):
    return tools_of("plant", lambda: pytest.fail("listing the tools has built the source"))


def test_names_and_toolsets(tools):
    names = [each.name for each in tools]
    assert len(set(names)) == len(names)
    assert all("plant" in name and re.fullmatch(r"[a-z_]+", name) for name in names)
    assert {each.name: each.toolset for each in tools if each.name.startswith("query_")} == {
        "query_plant_native_metadata": "search",
        "query_plant_endpoint": "browse",
    }
    assert {each.toolset for each in tools if not each.name.startswith("query_")} == {"browse"}
    wanted = (
        "query_plant_native_metadata list_plant_projects find_plant_project_by_name get_plant_item "
        "get_plant_item_children get_plant_item_relationships list_plant_project_relationships "
        "get_plant_item_comments get_plant_item_attachments list_plant_releases list_plant_test_runs "
        "list_plant_item_types find_plant_item_type_by_name query_plant_endpoint"
    )
    assert set(wanted.split()) <= set(names)


def test_other_tools_are_named_after_the_source(tools):
    named = {each.name for each in tools} | {"search_plant_semantics"}
    for each in tools:
        mentioned = set(re.findall(r"\b(?:search|get|list|find|query)_[a-z_]+", each.description))
        assert mentioned <= named, each.name


def _server(tools):
    server = MCPServer("tools")
    for each in tools:
        server.add_tool(each.call, name=each.name, title=each.title, description=each.description)
    return server


async def _listed(tools):
    async with Client(_server(tools)) as client:
        return (await client.list_tools()).tools


async def _called(tools):
    async with Client(_server(tools)) as client:
        return {name: await client.call_tool(name, arguments) for name, (arguments, *_) in CALLS.items()}


def test_schemas_are_plain_and_small(tools):
    listed = asyncio.run(_listed(tools))
    shown = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in listed]
    size = len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))
    # The server adds annotations to each.
    assert (size + 125 * len(tools)) / 4 < MOST_TOKENS
    for each in shown:
        for schema in (each["inputSchema"], each["outputSchema"]):
            assert schema["type"] == "object"
            _check_plain(schema, each["name"])
        _check_described(each["inputSchema"])
        _check_described(each["outputSchema"])


def test_every_tool_answers_over_mcp(jama, source_of, tools_of, files):
    source = source_of(jama.url, **files)
    answers = asyncio.run(_called(tools_of("jama", lambda: source)))
    for name, answer in answers.items():
        assert not answer.is_error, (name, answer.content)
        assert answer.structured_content


def _check_plain(schema, name):
    text = json.dumps(schema)
    for word in ("anyOf", "oneOf", "allOf", "$ref", "$defs", '"format"', '"additionalProperties": true', '"items": {}'):
        assert word not in text, (name, word)
    assert not re.search(r'"type": \[', text), name


def _check_described(schema):
    for each in schema.get("properties", {}).values():
        assert each["description"]
        _check_described(each.get("items", {}))


def test_results_are_pydantic_models(tools):
    assert all(issubclass(get_type_hints(each.call)["return"], Result) for each in tools)


def test_listing_the_tools_imports_nothing_that_asks_jama():
    script = (
        "import sys; from reqall.plugins.sources.jama import register_sources;"
        "next(iter(register_sources())).tools('jama', None);"
        "heavy = {'requests', 'bs4', 'reqall.plugins.sources.jama.http.client'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def _base(name):
    return name.replace("_jama", "")


def _template(path):
    endpoint = endpoint_of(path.removeprefix("/rest/v1"))
    assert endpoint, path
    return endpoint.template


# Enough to make each tool read every endpoint that it is said to read.
CALLS = {
    "query_jama_native_metadata": [
        {"project_id": 2, "status": "gone", "release": "R1"},
        {"project_id": 3, "status": "Withdrawn"},
    ],
    "list_jama_projects": [{}],
    "find_jama_project_by_name": [{"name": "Tiny"}],
    "list_jama_item_types": [{}, {"project_id": 2}],
    "find_jama_item_type_by_name": [{"name": "Requirement"}],
    "list_jama_project_relationships": [
        {"project_id": 2},
        *({"project_id": 2, "item_id": item} for item in ("TNY-REQ-1", 103, 104, 106)),
    ],
    "list_jama_test_runs": [{"project_id": 2}, {"test_cycle_id": "TNY-TSTCY-1"}, {"test_cycle_id": 105}],
    "list_jama_releases": [{"project_id": 2}],
    "list_jama_tags": [{"project_id": 2}],
    "list_jama_baselines": [{"project_id": 2}],
    "list_jama_users": [{}],
    "get_jama_item": [{"item_id": "TNY-REQ-1"}, {"item_id": 1001}, {"item_id": 1002}],
    "get_jama_item_children": [{"item_id": "TNY-FLD-1"}, {"item_id": 102}],
    "get_jama_item_relationships": [{"item_id": item} for item in ("TNY-REQ-1", 103, 104, 106, 1002)],
    "get_jama_item_comments": [{"item_id": item} for item in ("TNY-REQ-1", 1001, 104, 106, 107)],
    "get_jama_item_attachments": [{"item_id": item} for item in ("TNY-REQ-1", 1001, 104, 106)],
    "get_jama_item_versions": [{"item_id": item} for item in ("OTH-REQ-2", 301)],
    "get_jama_synchronized_items": [{"item_id": item} for item in ("OTH-REQ-2", 301)],
    "query_jama_endpoint": [{"path": "/items", "params": {"project": "TNY"}}],
}


def _everything():
    """The tiny project with links of every kind of item, and a status that no picklist has any more."""
    project = tiny_project()
    for item in project["items"]:
        if item["id"] in (106, 302, 1001, 1002):
            item["fields"]["status"] = 777
            item["fields"]["assignedTo"] = 15
    runs = next(each for each in project["itemtypes"] if each["id"] == 37)
    runs["fields"].append({"name": "status", "label": "Status", "fieldType": "LOOKUP", "pickList": 61})
    for number, ends in enumerate([(1001, 104), (104, 106), (106, 1001), (1002, 106)], start=100):
        link = {"id": number, "fromItem": ends[0], "toItem": ends[1], "relationshipType": 4, "suspect": False}
        project["relationships"].append(link)
    project["comments"][0]["location"]["item"] = 1001
    return project


@pytest.mark.parametrize("name", CALLS)
def test_the_endpoints_of_each_tool_are_declared(name, tool):
    with JamaSimulator(project=_everything()) as jama:
        if name == "list_jama_users":
            jama.faults.forbidden_paths = ["/users"]
        for arguments in CALLS[name]:
            tool(jama.url, name, **arguments)
        read = {_template(seen.path) for seen in jama.requests if not seen.path.endswith("/oauth/token")}
        assert not jama.writes
    declared = set(ENDPOINTS[_base(name)])
    assert read <= declared, "a request that ENDPOINTS does not tell of"
    if name != "query_jama_endpoint":
        assert declared == read, "ENDPOINTS tells of what is not read"


def test_every_tool_declares_its_endpoints(tools):
    assert sorted(each.name.replace("_plant", "") for each in tools) == sorted(ENDPOINTS)
    assert {name.replace("_jama", "") for name in CALLS} == set(ENDPOINTS)
    assert {template for templates in ENDPOINTS.values() for template in templates} <= set(ALLOWED)


@pytest.mark.parametrize("name", [name for name, (first, *_) in CALLS.items() if "item_id" in first])
@pytest.mark.parametrize("wanted", [999999, "TNY-NONE-1", "項目-1", " ", "9" * 40, "jama:999999", "-1", "\u202e"])
def test_an_unknown_item_is_an_error_that_says_what_to_do(jama, tool, name, wanted):
    with pytest.raises(ReqallError) as error:
        tool(jama.url, name, item_id=wanted)
    assert error.value.remedy


@pytest.mark.parametrize("name", [name for name, (first, *_) in CALLS.items() if "project_id" in first])
def test_an_unknown_project_is_an_error_that_says_what_to_do(jama, tool, name):
    with pytest.raises(NotFoundError) as error:
        tool(jama.url, name, project_id="Tinny")
    assert "Did you mean 'Tiny'" in error.value.remedy
    assert "list_jama_projects" in error.value.remedy


@pytest.mark.parametrize("name", CALLS)
def test_a_failure_of_jama_is_one_of_reqalls_errors(name, tool, jama):
    jama.faults.fail(*[500] * 200, path="/rest/v1")
    with pytest.raises(SourceUnavailableError):
        tool(jama.url, name, **CALLS[name][0])
    with pytest.raises(ReqallError):
        tool("", name, **CALLS[name][0])


@pytest.mark.parametrize("name", CALLS)
def test_each_tool_tells_its_result_in_few_lines(name, tool, jama):
    result, found = tool(jama.url, name, both=True, **CALLS[name][0])
    lines = found.summary(result).splitlines()
    assert lines
    assert all(len(line) < 400 for line in lines)
    assert len(lines) <= 25
