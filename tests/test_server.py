"""The MCP server as a stock client meets it: over stdio, in both eras of the protocol."""

import subprocess
import sys
import threading
import time

import anyio
import pytest
from mcp import Client, StdioServerParameters

from reqall.testing.jama_simulator import JamaSimulator, tiny_project

PROJECT = next(p for p in tiny_project()["projects"] if not p.get("isFolder"))["projectKey"]

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
            "reinit_jama_project",
            "get_sync_progress",
            "get_sync_status",
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


@pytest.fixture
def held_jama():
    """A small Jama whose first page of items waits until it is told to go on."""
    go = threading.Event()

    def hold(_world, path, start):
        if "items" in path and start == 0:
            go.wait(30)

    with JamaSimulator(project=tiny_project(requirements=7), before_page=hold) as simulator:
        yield simulator, go
        go.set()


def aimed_at(simulator, settings):
    return settings | {
        "JAMA_URL": simulator.url,
        "JAMA_CLIENT_ID": simulator.client_id,
        "JAMA_CLIENT_SECRET": simulator.client_secret,
    }


@ERAS
async def test_a_client_that_waits_is_told_of_progress(held_jama, empty_home, mode):
    simulator, go = held_jama
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total, message))
        go.set()

    async with Client(server(aimed_at(simulator, empty_home)), mode=mode) as client:
        job = await call(client, "init_jama_project", project_id=PROJECT)
        again = await call(client, "init_jama_project", project_id=PROJECT)
        assert again["job_id"] == job["job_id"]
        arguments = {"job_id": job["job_id"], "wait_seconds": 25}
        result = await client.call_tool("get_sync_progress", arguments, progress_callback=hear)
        assert result.structured_content["status"] == "DONE", result
        assert heard
        assert heard == sorted(set(heard), key=lambda told: told[0])
        assert all(total is None or progress <= total + 1 for progress, total, _ in heard)
        assert all(message for _, _, message in heard)


async def test_a_wait_is_over_in_time_and_has_a_limit(held_jama, empty_home):
    simulator, _ = held_jama
    async with Client(server(aimed_at(simulator, empty_home))) as client:
        job = await call(client, "init_jama_project", project_id=PROJECT)
        begun = time.monotonic()
        job = await call(client, "get_sync_progress", job_id=job["job_id"], wait_seconds=0.5)
        assert 0.5 <= time.monotonic() - begun < 5
        assert job["status"] == "RUNNING"
        assert "wait_seconds" in await failure(client, "get_sync_progress", job_id=job["job_id"], wait_seconds=26)
        tool = next(t for t in (await client.list_tools()).tools if t.name == "get_sync_progress")
        assert tool.input_schema["properties"].keys() == {"job_id", "wait_seconds"}


async def test_a_server_ends_although_a_client_waits(held_jama, empty_home):
    """The call is given up, and the job is left for the next process."""
    simulator, _ = held_jama
    settings = aimed_at(simulator, empty_home)
    async with Client(server(settings)) as client:
        job = await call(client, "init_jama_project", project_id=PROJECT)
        with anyio.move_on_after(1):
            await client.call_tool("get_sync_progress", {"job_id": job["job_id"], "wait_seconds": 25})
        begun = time.monotonic()
    assert time.monotonic() - begun < 15
    held_jama[1].set()
    async with Client(server(settings)) as client:
        left = await call(client, "get_sync_progress", job_id=job["job_id"])
        assert left["status"] in ("QUEUED", "RUNNING")
        taken = await call(client, "init_jama_project", project_id=PROJECT)
        assert taken["job_id"] == job["job_id"]
        ended = await call(client, "get_sync_progress", job_id=job["job_id"], wait_seconds=25)
        assert ended["status"] == "DONE"
        assert "taken over" in ended["message"]


async def test_status_tells_how_fresh_a_project_and_its_indexes_are(home):
    async with Client(server(home, SYNC_INTERVAL_HOURS="0")) as client:
        status = await call(client, "get_sync_status")
        assert [project["project_key"] for project in status["projects"]] == ["AIP", "ADS"]
        assert status["schedule"] == "off"
        assert status["plugins_left_out"] == []
        one = await call(client, "get_sync_status", project_id=51)
        (project,) = one["projects"]
        assert project["documents"] == 232
        assert project["freshness"].startswith("synced ")
        assert project["job"] == []
        assert {(i["index"], i["documents_behind"], i["problem"]) for i in project["indexes"]} >= {
            ("words", 0, ""),
            ("meaning", 0, ""),
        }
        assert "init_jama_project" in await failure(client, "get_sync_status", project_id="NOPE")


async def test_a_project_is_read_anew_without_embedding(home):
    async with Client(server(home, SYNC_INTERVAL_HOURS="0")) as client:
        job = await call(client, "reinit_jama_project", project_id="ADS")
        assert job["kind"] == "full"
        job = await call(client, "get_sync_progress", job_id=job["job_id"], wait_seconds=25)
        assert (job["status"], job["embedded"]) == ("DONE", 0)


async def test_a_server_goes_on_with_a_first_sync_by_itself(held_jama, empty_home):
    simulator, go = held_jama
    settings = aimed_at(simulator, empty_home)
    async with Client(server(settings)) as client:
        job = await call(client, "init_jama_project", project_id=PROJECT)
    go.set()
    async with Client(server(settings)) as client:
        await client.list_tools()
        deadline = time.monotonic() + 60
        while (found := await call(client, "get_sync_progress", job_id=job["job_id"]))["status"] != "DONE":
            assert time.monotonic() < deadline, found
            await anyio.sleep(0.2)
        status = await call(client, "get_sync_status")
        assert status["schedule"] == "every 2 hours"
        assert "due in 2 hours" in status["projects"][0]["freshness"]


def test_a_wrong_interval_ends_the_server_with_a_message(empty_home):
    command = [sys.executable, "-m", "reqall.server"]
    settings = empty_home | {"SYNC_INTERVAL_HOURS": "often"}
    process = subprocess.run(
        command, env=settings, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    assert process.returncode == 1
    assert process.stdout == ""
    assert process.stderr.startswith("error: SYNC_INTERVAL_HOURS is 'often'")
