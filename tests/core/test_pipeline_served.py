"""Misbehaving components in a server: its client gets the answer of the others, and is told who is missing."""

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.anyio

UNRULY = Path(__file__).with_name("distributions") / "unruly.py"

CONFIG = """\
version: 1
sources:
  jama: {use: jama, with: {url: '${JAMA_URL}', client_id: '${JAMA_CLIENT_ID}', client_secret: '${JAMA_CLIENT_SECRET}'}}
indexes:
  words: {use: sqlite_fts5}
  one: {use: exits}
  two: {use: sleeps}
  three: {use: lies}
pipelines:
  default:
    expand: {use: stumbles}
    recall: [{index: one}, {index: two, timeout: 0.5}, {index: words}, {index: three}]
    rerank: {use: sleeps, timeout: 0.5}
  fused: {recall: [{index: words}], fuse: {use: stumbles}}
  strict: {timeout: 0.5, recall: [{index: words}, {index: two, required: true}]}
"""


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def settings(home, tmp_path):
    """A copy of the synced home, with the package unruly 0.7 installed and in use."""
    site = tmp_path / "site"
    record = site / "unruly-0.7.dist-info"
    record.mkdir(parents=True)
    shutil.copy(UNRULY, site)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: unruly\nVersion: 0.7\n")
    (record / "entry_points.txt").write_text("[reqall]\nunruly = unruly\n")
    config = tmp_path / "unruly.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    path = os.pathsep.join([str(site), *filter(None, [home.get("PYTHONPATH")])])
    source, target = sqlite3.connect(home["JAMA_MCP_DB_PATH"]), sqlite3.connect(tmp_path / "catalog.db")
    source.backup(target)
    source.close()
    target.close()
    changed = {"PYTHONPATH": path, "REQALL_CONFIG": str(config), "JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db")}
    return home | changed | {"SYNC_INTERVAL_HOURS": "0"}


async def test_a_client_gets_the_answer_of_the_others_and_is_told_who_is_missing(settings):
    server = StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env=settings)
    async with Client(server) as client:

        async def ask(**arguments):
            given = {"project_id": "AIP", "query": "occlusion alarm"} | arguments
            return await client.call_tool("search_jama_semantics", given)

        result = await ask()
        assert not result.is_error
        answer = result.structured_content
        again = (await ask()).structured_content
        told = [(await ask(pipeline=name)) for name in ("fused", "strict")]
    assert answer["results"]
    assert {hit["strategy"] for hit in answer["results"]} == {"rrf"}
    subjects, reasons = zip(*(warning.split(": ", 1) for warning in answer["warnings"]), strict=True)
    assert subjects == (
        "expander 'stumbles' of unruly 0.7 was left out, only the query itself was used",
        "index 'one' (recaller 'exits' of unruly 0.7) was left out",
        "index 'two' (recaller 'sleeps' of unruly 0.7) was left out",
        "index 'three' (recaller 'lies' of unruly 0.7) was left out",
        "reranker 'sleeps' of unruly 0.7 was left out, the order is the fused one",
    )
    assert reasons == (
        "unexpected ValueError; the log has the details",
        "it raised SystemExit",
        "it did not answer within 0.5 s",
        "it returned documents that the catalog never had: 1",
        "it did not answer within 0.5 s",
    )
    assert again["results"] == answer["results"]
    assert "an earlier call of it has not returned" in again["warnings"][2]
    texts = ["".join(block.text for block in each.content) for each in told if each.is_error]
    assert len(texts) == 2
    assert "fuser 'stumbles' of unruly 0.7: unexpected ValueError" in texts[0]
    assert "index 'two' (recaller 'sleeps' of unruly 0.7): it did not answer within 0.5 s" in texts[1]
    assert "text of an item" not in "".join([*answer["warnings"], *texts])
