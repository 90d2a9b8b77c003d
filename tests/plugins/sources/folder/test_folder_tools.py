"""The tools of a folder: what they answer, and that no argument leads out of it."""

import asyncio
import json

import pytest
from mcp import Client

from reqall import InputError, NotFoundError, Services
from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.plugins.sources.folder import register_sources
from reqall.plugins.sources.folder.browse import PAGE, TEXT_CHARACTERS
from reqall.plugins.sources.folder.source import FolderSource
from reqall.server import build


@pytest.fixture
def tools(shelf):
    """The registration's own tools, by name without the source's."""
    (registration,) = register_sources()
    options = registration.options(path=shelf.root, url_prefix="https://example.org/")
    made = registration.build(options, Services(name="docs"))
    assert isinstance(made, FolderSource)
    found = {tool.name.replace("_docs_", "_"): tool for tool in registration.tools("docs", lambda: made)}

    class Tools:
        def names(self):
            return list(found)

        def ask(self, name, *arguments, **named):
            return found[name].call(*arguments, **named)

        def told(self, name, answer):
            return found[name].summary(answer)

    return Tools()


@pytest.fixture
def filled(shelf):
    shelf.put("docs/stk.md", "---\nid: STK-1\ntitle: Be safe\nstatus: Approved\n---\nSafe.\n", at=1000)
    shelf.put("docs/srs/req.md", "# Brakes\n\n## REQ-1 Stop {refines=STK-1 children=NO-1}\n\nIt stops.\n", at=2000)
    shelf.put("docs/srs/tests.md", '# Tests\n\n## TC-1 Try {verifies="REQ-1 NO-2"}\n', at=2000)
    shelf.put("b.sdoc", "broken")
    return shelf


def test_the_names_are_those_of_the_source(tools):
    assert tools.names() == [
        *("list_projects", "list_files", "get_item", "get_item_children", "get_item_relations"),
    ]


def test_the_project_and_what_of_it_cannot_be_read(filled, tools):
    answer = tools.ask("list_projects")
    (project,) = answer.projects
    assert (project.project_id, project.name, project.documents, project.files) == ("docs:specs", "specs", 7, 3)
    assert project.unreadable == ["b.sdoc:1: an SDoc file begins with [DOCUMENT]"]
    assert tools.told("list_projects", answer) == "specs: 7 documents"


def test_files(filled, tools):
    answer = tools.ask("list_files")
    assert [(row.path, row.documents) for row in answer.files] == [
        *(("docs/srs/req.md", 2), ("docs/srs/tests.md", 2), ("docs/stk.md", 1)),
    ]
    assert answer.files[2].modified == "1970-01-01T00:16:40Z"
    assert [row.path for row in tools.ask("list_files", folder="docs/srs/").files] == [
        *("docs/srs/req.md", "docs/srs/tests.md"),
    ]
    assert tools.told("list_files", answer).splitlines() == [
        *("3 of 3", "docs/srs/req.md | 2", "docs/srs/tests.md | 2", "docs/stk.md | 1"),
    ]


@pytest.mark.parametrize("item_id", ["STK-1", "stk-1", "docs:STK-1", " STK-1 "])
def test_an_item(filled, tools, item_id):
    item = tools.ask("get_item", item_id)
    assert (item.item_id, item.key, item.name, item.type, item.status) == (
        *("docs:STK-1", "STK-1", "Be safe", "Requirement", "Approved"),
    )
    assert (item.place, item.parent_id, item.url) == ("docs/stk.md:1", "docs:docs", "https://example.org/docs/stk.md")
    assert (item.sections, item.fields, item.truncated) == ({"description": "Safe."}, {"file": "docs/stk.md"}, False)
    assert tools.told("get_item", item) == "STK-1 | Requirement | Approved | Be safe (docs/stk.md:1)"


def test_the_server_publishes_them(filled, tmp_path):
    """Over the protocol, from a configuration: the answer fits the schema, which is short."""
    config = tmp_path / "docs.yaml"
    config.write_text(
        "version: 1\nsources: {docs: {use: folder, with: {path: "
        f"{json.dumps(str(filled.root))}"
        "}}}\nindexes: {words: {use: sqlite_fts5}}\npipelines: {default: {recall: [{index: words}]}}\n",
        encoding="utf-8",
    )
    settings = {"REQALL_CONFIG": str(config), "JAMA_MCP_DB_PATH": str(tmp_path / "c.db"), "SYNC_INTERVAL_HOURS": "0"}
    app = App(Overrides(), Environment(settings, tmp_path / ".env"))

    async def ask():
        async with Client(build(app)) as client:
            listed = (await client.list_tools()).tools
            answer = await client.call_tool("get_docs_item_relations", {"item_id": "TC-1"})
            refused = await client.call_tool("get_docs_item", {"item_id": "../../etc/passwd"})
        return listed, answer, refused

    try:
        listed, answer, refused = asyncio.run(ask())
    finally:
        app.close()
    own = [tool for tool in listed if tool.name.startswith(("list_docs", "get_docs"))]
    assert len(own) == 5
    assert sum(len(json.dumps(tool.model_dump(mode="json", exclude_none=True))) for tool in own) < 8000
    assert answer.structured_content["relations"][0]["item"]["key"] == "REQ-1"
    assert refused.is_error


def test_long_texts_are_cut(shelf, tools):
    shelf.put("a.md", "word " * TEXT_CHARACTERS + "\n\n# More\n\nend\n")
    item = tools.ask("get_item", "a.md")
    assert item.truncated
    assert sum(map(len, item.sections.values())) == TEXT_CHARACTERS


def test_children(filled, tools):
    assert [row.key for row in tools.ask("get_item_children").items] == ["docs"]
    assert [row.key for row in tools.ask("get_item_children", item_id="docs").items] == ["docs/srs", "STK-1"]
    assert tools.ask("get_item", "docs/srs").place == "docs/srs"
    answer = tools.ask("get_item_children", item_id="docs/srs/req.md")
    assert [(row.key, row.place) for row in answer.items] == [("REQ-1", "docs/srs/req.md:3")]
    assert tools.told("get_item_children", answer) == "1 of 1\nREQ-1 | Requirement | Stop"


def test_relations(filled, tools):
    answer = tools.ask("get_item_relations", "REQ-1")
    assert [(row.direction, row.type, row.item.key, row.suspect) for row in answer.relations] == [
        ("upstream", "refines", "STK-1", False),
        ("downstream", "verifies", "TC-1", False),
    ]
    assert answer.unknown == ["NO-1"]
    assert tools.ask("get_item_relations", "TC-1").unknown == ["NO-2"]
    assert tools.told("get_item_relations", answer).splitlines()[1:] == [
        "upstream | refines | STK-1 | Requirement | Approved | Be safe",
        "downstream | verifies | TC-1 | Requirement | Try",
    ]


def test_pages(shelf, tools):
    for number in range(PAGE + 5):
        shelf.put(f"{number:03}.md", "# x\n")
    first = tools.ask("list_files")
    assert (first.total, first.returned, first.next_offset) == (PAGE + 5, PAGE, PAGE)
    assert tools.told("list_files", first).startswith(f"{PAGE} of {PAGE + 5} (go on with offset {PAGE})")
    rest = tools.ask("list_files", offset=first.next_offset)
    assert (rest.returned, rest.next_offset) == (5, -1)
    assert {row.path for row in first.files} | {row.path for row in rest.files} == {
        f"{number:03}.md" for number in range(PAGE + 5)
    }
    assert tools.ask("get_item_children", offset=PAGE).returned == 5
    assert tools.ask("list_files", offset=1000).files == []
    with pytest.raises(InputError, match="below 0"):
        tools.ask("list_files", offset=-1)


@pytest.mark.parametrize(
    "path",
    [
        *("..", "../", "../outside", "docs/../../outside", "/etc", "/etc/passwd", "../outside/secret.md", "~", "C:\\"),
        *("docs/..", ".", "\x00", "docs\\srs", "file:///etc/passwd", "docs:../outside/secret.md"),
    ],
)
def test_no_argument_leads_out_of_the_folder(filled, tools, tmp_path, path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("# Secret\n", encoding="utf-8")
    for name, argument in (("list_files", "folder"), ("get_item_children", "item_id")):
        with pytest.raises(NotFoundError):
            tools.ask(name, **{argument: path})
    for name in ("get_item", "get_item_relations"):
        with pytest.raises(NotFoundError):
            tools.ask(name, path)
