"""Which tools are offered, and what their definitions cost."""

import json
import subprocess
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters

from reqall import InputError, SourceTool
from reqall.app import PACKAGED, App, Overrides
from reqall.core.environment import Environment
from reqall.server import build
from reqall.serving.toolsets import ALL, Selection, chosen

TOOLS = [
    SourceTool("search_x", "", "", str, toolset="search", lean=True),
    SourceTool("init_x", "", "", str, toolset="sync", lean=True),
    SourceTool("redo_x", "", "", str, toolset="sync"),
    SourceTool("get_x", "", "", str, lean=True),
    SourceTool("list_x", "", "", str),
]

CHARACTERS_PER_TOKEN = 4
"""A common estimate: no tokenizer of the hosts' models is public."""


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (ALL, "search_x init_x redo_x get_x list_x"),
        (Selection(["sync"]), "init_x redo_x"),
        (Selection(["lean"]), "search_x init_x get_x"),
        (Selection(["lean", "sync"]), "search_x init_x redo_x get_x"),
        (Selection(["lean"], ["list_x"]), "search_x init_x get_x list_x"),
        (Selection(tools=["list_x", "get_x"]), "get_x list_x"),
        (Selection(without=["init_x"]), "search_x redo_x get_x list_x"),
        (Selection(["sync"], ["init_x"], ["init_x"]), "redo_x"),
    ],
)
def test_tools_are_chosen_and_leaving_out_goes_last(selection, kept):
    assert [tool.name for tool in chosen(TOOLS, selection)] == kept.split()


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (Selection(["serach"]), "no toolset 'serach'; did you mean 'search'"),
        (Selection(tools=["get_y"]), "no tool 'get_y'; did you mean 'get_x'"),
        (Selection(without=["gone"]), "no tool 'gone'"),
    ],
)
def test_a_name_that_is_not_there_is_refused(selection, told):
    with pytest.raises(InputError, match=told):
        chosen(TOOLS, selection)


@pytest.fixture
def listed(tmp_path):
    """Asks a server of the packaged configuration for its tools, as they are sent."""

    def ask(selection):
        app = App(Overrides(str(PACKAGED), "default", str(tmp_path / "c.db")), Environment({}, tmp_path / ".env"))
        try:
            tools = anyio.run(build(app, selection).list_tools)
        finally:
            app.close()
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]

    return ask


@pytest.mark.parametrize(("selection", "budget"), [(ALL, 9000), (Selection(["lean"]), 4000)], ids=["all", "lean"])
def test_the_definitions_stay_within_their_budget(listed, selection, budget):
    sent = json.dumps({"tools": listed(selection)}, separators=(",", ":"), ensure_ascii=False)
    assert len(sent) / CHARACTERS_PER_TOKEN < budget


def test_the_lean_set_does_the_main_job(listed):
    assert {tool["name"] for tool in listed(Selection(["lean"]))} >= {
        "list_jama_projects",
        "init_jama_project",
        "get_sync_progress",
        "search_jama_semantics",
        "get_jama_item",
    }


def test_the_command_line_chooses(home):
    command = ["-m", "reqall", "serve", "--toolsets", "search", "--tools", "get_jama_item"]

    async def names():
        async with Client(StdioServerParameters(command=sys.executable, args=command, env=home)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    found = anyio.run(names)
    assert found > {"get_jama_item", "search_jama_semantics"}
    assert "init_jama_project" not in found


def test_the_command_line_refuses_an_unknown_name(home):
    process = subprocess.run(
        [sys.executable, "-m", "reqall", "serve", "--exclude-tools", "get_jama_itm"],
        env=home,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert (process.returncode, process.stdout) == (1, "")
    assert "did you mean 'get_jama_item'" in process.stderr
