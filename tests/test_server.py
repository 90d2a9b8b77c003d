"""The MCP server as a stock client meets it: over stdio, in both eras of the protocol."""

import sys
import time

import anyio
import pytest
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def anyio_backend():
    return "asyncio"


def server(settings, **changes):
    return StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env={**settings, **changes})


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = "".join(block.text for block in result.content)
    assert not result.is_error, text
    return result.structured_content


async def failure(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    text = "".join(block.text for block in result.content)
    assert "Traceback" not in text
    return text


@ERAS
async def test_a_client_lists_inits_polls_and_searches(jama, empty_home, mode):
    async with Client(server(empty_home), mode=mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names >= {
            "search_jama_semantics",
            "query_jama_native_metadata",
            "init_jama_project",
            "get_sync_progress",
            "list_jama_projects",
            "get_jama_item",
            "validate_setup",
        }
        projects = await call(client, "list_jama_projects")
        assert {project["key"] for project in projects["projects"]} == {"AIP", "ADS"}
        job = await call(client, "init_jama_project", project_id=52)
        assert job["project_id"] == "52"
        deadline = time.monotonic() + 90
        while job["status"] not in ("DONE", "ERROR"):
            assert time.monotonic() < deadline
            await anyio.sleep(0.2)
            job = await call(client, "get_sync_progress", job_id=job["job_id"])
        assert job["status"] == "DONE", job
        answer = await call(
            client,
            "search_jama_semantics",
            project_id=52,
            query="how do clocks stay in step",
            sub_queries=["time synchronisation with NTP"],
            top_k=5,
        )
        assert answer["project_id"] == "52"
        assert answer["sub_queries_used"][0] == "how do clocks stay in step"
        assert "ADS-SYSR-22" in [hit["document_key"] for hit in answer["results"]]
        assert answer["returned"] == len(answer["results"]) == 5


async def test_errors_say_what_to_do(empty_home):
    async with Client(server(empty_home)) as client:
        text = await failure(client, "search_jama_semantics", project_id="51", query="alarm")
        assert "init_jama_project" in text
        text = await failure(client, "init_jama_project", project_id="NOPE")
        assert "AIP" in text
        text = await failure(client, "get_sync_progress", job_id="1234")
        assert "1234" in text


async def test_limits_name_both_numbers(home):
    async with Client(server(home)) as client:
        text = await failure(client, "search_jama_semantics", project_id="AIP", query="alarm", top_k=20, candidate_k=10)
        assert "20" in text
        assert "10" in text
        for query in ("", "?!…", "x" * 10_000):
            assert await failure(client, "search_jama_semantics", project_id="AIP", query=query)


async def test_without_settings_the_tools_are_listed_and_say_what_is_missing(empty_home):
    bare = {name: value for name, value in empty_home.items() if not name.startswith("JAMA_CLIENT")}
    async with Client(server(bare)) as client:
        assert "list_jama_projects" in {tool.name for tool in (await client.list_tools()).tools}
        assert "JAMA_CLIENT_ID" in await failure(client, "list_jama_projects")
        setup = await call(client, "validate_setup")
        assert not setup["ready"]


async def test_schemas_are_plain_objects(home):
    """Hosts drop a tool, or all tools, over a union at the root or in array items."""
    async with Client(server(home)) as client:
        for tool in (await client.list_tools()).tools:
            assert tool.input_schema["type"] == "object"
            assert tool.output_schema["type"] == "object"
            assert tool.annotations.read_only_hint is not None
            for name, schema in tool.input_schema["properties"].items():
                assert "anyOf" not in schema, (tool.name, name)
                assert "anyOf" not in schema.get("items", {}), (tool.name, name)
                assert schema.get("description"), (tool.name, name)


async def test_setup_is_checked_live(home):
    async with Client(server(home)) as client:
        setup = await call(client, "validate_setup", live=True)
        assert setup["ready"], setup
    async with Client(server(home, JAMA_CLIENT_SECRET="wrong")) as client:
        setup = await call(client, "validate_setup", live=True)
        assert not setup["ready"]
        assert "wrong" not in str(setup)
