"""As a user has it: installed, configured in YAML, synced, searched, and browsed by a client of the MCP server."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

YAML = """
version: 1
sources:
  hoist: {use: reqif, with: {path: %s}}
indexes:
  words: {use: sqlite_fts5}
pipelines:
  default: {recall: [{index: words}]}
"""

TOOLS = {
    "list_hoist_specifications",
    "get_hoist_object",
    "get_hoist_object_children",
    "get_hoist_object_relations",
    "list_hoist_object_types",
}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def home(exports, tmp_path):
    """Settings of a home whose one source reads a copy of the DOORS export."""
    files = tmp_path / "files"
    files.mkdir()
    shutil.copy(exports / "doors.reqif", files)
    config = tmp_path / "hoist.yaml"
    config.write_text(YAML % json.dumps(str(files)), encoding="utf-8")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "EMBEDDING_", "REQALL_"))
    }
    return kept | {
        "REQALL_CONFIG": str(config),
        "REQALL_HOME": str(tmp_path),
        "REQALL_STRICT_PLUGINS": "1",
        "JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db"),
    }


@pytest.fixture
def reqall(home):
    def run(*arguments, fails=False):
        done = subprocess.run(
            [sys.executable, "-m", "reqall", *arguments],
            env=home,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout if not fails else done.stdout + done.stderr

    return run


def test_the_command_line_syncs_and_finds(reqall):
    assert "reqif" in reqall("plugins")
    reqall("sync", "System requirements")
    (hit,) = json.loads(reqall("search", "torque for 250 Nm", "-p", "_system", "--json", "--top-k", "1"))["hits"]
    assert hit["document_key"] == "SYS-11"


def test_a_new_export_is_synced_and_found(reqall_app, exports, tmp_path):
    file = shutil.copy(exports / "doors.reqif", tmp_path)
    trial = reqall_app(YAML % json.dumps(str(file)))
    trial.sync("System requirements")
    trial.sync("_needs")
    both = ("System requirements", "Stakeholder needs")
    assert trial.keys("need-1", *both)[0] == "NEED-1", "by its key"
    assert trial.keys("falling load", *both)[0] == "SYS-11", "by its rationale"
    assert trial.keys("jolt", *both) == ["NEED-1"]
    links = trial.app.assembly.catalog.links("hoist:_needs")
    assert [(link.from_id, link.to_id) for link in links] == [("hoist:_1_need", "hoist:_11_brake")]

    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace("No jolt is felt", "No bump is felt"), encoding="utf-8")
    assert trial.sync("_needs").message.startswith("1 changed, 0 deleted")
    assert trial.keys("bump", *both) == ["NEED-1"]
    assert trial.sync("_needs").message.startswith("0 changed, 0 deleted")


def test_an_object_that_moves_to_another_specification_is_in_it_alone(reqall_app, exports, tmp_path):
    file = Path(shutil.copy(exports / "doors.reqif", tmp_path))
    trial = reqall_app(YAML % json.dumps(str(file)))
    text = file.read_text(encoding="utf-8")
    for specification in ("_needs", "_system"):
        trial.sync(specification)
    place = "<OBJECT><SPEC-OBJECT-REF>_1_need</SPEC-OBJECT-REF></OBJECT>"
    file.write_text(
        text.replace(place, "<OBJECT><SPEC-OBJECT-REF>gone</SPEC-OBJECT-REF></OBJECT>", 1), encoding="utf-8"
    )
    assert trial.sync("_system").message.startswith("1 changed, 0 deleted")
    assert trial.sync("_needs").message.startswith("0 changed, 0 deleted")
    assert trial.keys("jolt", "_system") == ["SYS-1"]
    assert trial.keys("jolt", "_needs") == []


def test_a_broken_file_is_an_error_with_its_line(reqall, tmp_path):
    file = tmp_path / "files" / "doors.reqif"
    file.write_text(file.read_text(encoding="utf-8")[:3000], encoding="utf-8")
    told = " ".join(reqall("sync", "System requirements", fails=True).split())
    assert "doors.reqif:" in told.replace(" ", "")
    assert "not readable as XML" in told


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = "".join(block.text for block in result.content)
    assert not result.is_error, text
    return result.structured_content


async def test_a_client_browses_syncs_and_searches(home):
    server = StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env=home)
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) >= TOOLS | {"search_hoist_semantics", "init_hoist_project"}
        for name in TOOLS:
            assert tools[name].annotations.read_only_hint
            for argument, schema in tools[name].input_schema["properties"].items():
                assert schema["description"], (name, argument)
                assert "anyOf" not in schema
        listed = await call(client, "list_hoist_specifications")
        assert [each["name"] for each in listed["specifications"]][:2] == ["Stakeholder needs", "System requirements"]
        found = await call(client, "get_hoist_object", object_id="SYS-11")
        assert found["sections"]["Rationale"] == "A falling load kills."
        below = await call(client, "get_hoist_object_children", object_id="SYS-10")
        assert [each["key"] for each in below["objects"]] == ["SYS-11", "NEED-1"]
        related = await call(client, "get_hoist_object_relations", object_id=found["object_id"])
        assert [each["key"] for each in related["relations"]] == ["NEED-1"]
        types = await call(client, "list_hoist_object_types", specification="System requirements")
        assert types["types"][0]["objects"] == 2
        job = await call(client, "init_hoist_project", project_id="_system")
        while job["status"] not in ("DONE", "ERROR"):
            await anyio.sleep(0.2)
            job = await call(client, "get_sync_progress", job_id=job["job_id"])
        assert job["status"] == "DONE", job
        answer = await call(client, "search_hoist_semantics", project_id="_system", query="brake torque")
        assert answer["results"][0]["document_key"] == "SYS-11"


async def test_a_client_is_told_what_it_can_mend(home):
    server = StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env=home)
    async with Client(server) as client:
        result = await client.call_tool("get_hoist_object", {"object_id": "SYS-12"})
        assert result.is_error
        assert "no object has the id or key 'SYS-12'" in result.content[0].text
