"""Packages of two authors in one pipeline: a ReqIF source, a tantivy and a vector index, fused; asked through MCP."""

import json
import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

EXPORT = Path(__file__).parents[1] / "reqall-reqif" / "tests" / "exports" / "doors.reqif"

YAML = """
version: 1
sources:
  hoist: {use: reqif, with: {path: %s}}
embedders:
  minilm: {use: minilm}
indexes:
  words: {use: tantivy}
  meaning: {use: sqlite_vec, with: {embedder: minilm}, chunk: {use: sentences}}
pipelines:
  default: {recall: [{index: words, required: true}, {index: meaning, required: true}], fuse: {use: rrf}}
"""

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def server(tmp_path):
    """How to start a server whose home knows the export alone."""
    config = tmp_path / "hoist.yaml"
    config.write_text(YAML % json.dumps(str(EXPORT)), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "REQALL_"))}
    settings = kept | {
        "REQALL_CONFIG": str(config),
        "REQALL_HOME": str(tmp_path),
        "REQALL_STRICT_PLUGINS": "1",
        "JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db"),
    }
    return StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env=settings)


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def test_a_pipeline_of_two_packages_answers_through_mcp(server):
    async with Client(server) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools >= {"init_hoist_project", "search_hoist_semantics", "get_hoist_object"}
        assert "System requirements" in json.dumps(await call(client, "list_hoist_specifications"))
        job = await call(client, "init_hoist_project", project_id="System requirements")
        with anyio.fail_after(100):
            while job["status"] not in ("DONE", "ERROR"):
                job = await call(client, "get_sync_progress", job_id=job["job_id"], wait_seconds=20)
        assert (job["status"], job["error"]) == ("DONE", "")
        question = {"project_id": "System requirements", "query": "torque for 250 Nm", "explain": True}
        found = await call(client, "search_hoist_semantics", **question)
        first = found["results"][0]
        assert found["warnings"] == []
        assert {each["index"] for each in first["found_by"]} == {"words", "meaning"}
        assert first["strategy"] == "rrf"
