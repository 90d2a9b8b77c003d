"""From a file of requirements to an answer: through the app, the command line and an MCP client."""

import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters

MIXED = """
version: 1
sources:
  specs: {use: jsonl, with: {path: PATH, project: pump}}
embedders:
  minilm: {use: minilm}
indexes:
  rust: {use: tantivy, with: {language: english, name_weight: 1.5}}
  meaning: {use: sqlite_vec, with: {embedder: minilm}, chunk: {use: sentences}}
pipelines:
  default:
    recall: [{index: rust}, {index: meaning}]
    fuse: {use: rrf}
"""

HASHED = MIXED.replace("use: minilm", "use: hashing")

STORY = [
    {"_id": "SYS-REQ-1", "title": "Volume", "text": "The mixer shall keep both channels equally loud."},
    {"_id": "SYS-REQ-2", "title": "Access", "text": "After ten idle minutes the operator has to sign in again."},
    {"_id": "SYS-REQ-3", "title": "Power", "text": "The battery shall last for eight hours."},
    {"_id": "SYS-TC-4", "title": "Verify access", "text": "Wait ten minutes. Expect the login screen."},
    {"_id": "SYS-REQ-5", "title": "泵", "text": "电池应持续八小时"},
]


@pytest.fixture
def hashing_plugin(monkeypatch, tmp_path):
    """A module that offers the embedder of reqall.testing by the name `hashing`."""
    (tmp_path / "hashing_parts.py").write_text(
        "from reqall import Registration, hookimpl\n"
        "from reqall.testing.fakes import HashingEmbedder\n\n\n"
        "@hookimpl\n"
        "def register_embedders():\n"
        "    return [Registration('hashing', 'words hashed', lambda options, services: HashingEmbedder())]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "hashing_parts"
    sys.modules.pop("hashing_parts", None)


def test_words_and_vectors_are_fused_in_an_app(reqall_app, hashing_plugin, home):
    home.write(STORY)
    trial = reqall_app(HASHED.replace("PATH", str(home.corpus)), [hashing_plugin])
    job = trial.sync("pump")
    assert job.changed == len(STORY)
    result = trial.search("login screen", "pump")
    assert result.warnings == ()
    assert result.hits[0].document.key == "SYS-TC-4"
    assert {each.arm for each in result.hits[0].provenance} == {"rust", "meaning"}
    assert trial.keys("SYS-REQ-3", "pump")[0] == "SYS-REQ-3"
    assert trial.keys("电池", "pump")[0] == "SYS-REQ-5"
    home.write([line | {"text": line["text"].replace("login", "welcome")} for line in STORY[1:]])
    trial.sync("pump")
    (arms,) = [{p.arm for p in hit.provenance} for hit in trial.search("loud channels", "pump").hits[:1]]
    assert "rust" not in arms, "a deleted document's words are still found"


def test_a_search_says_when_the_index_is_behind(reqall_app, hashing_plugin, home):
    home.write(STORY)
    trial = reqall_app(HASHED.replace("PATH", str(home.corpus)), [hashing_plugin])
    trial.sync("pump")
    (index,) = [each for each in trial.app.assembly.indexer().indexes if each.name == "rust"]
    index.recaller.drop(None)
    result = trial.search("login screen", "pump")
    (warning,) = result.warnings
    assert warning.startswith("index 'rust' does not hold 5 documents as they are now")
    assert result.hits
    trial.sync("pump")
    assert trial.search("login screen", "pump").warnings == ()


def test_a_damaged_index_is_left_out_of_a_search_and_repaired(home):
    home.write(STORY)
    home.run("sync", "pump")
    file = max(home.index_folder().glob("*.idx"), key=lambda each: each.stat().st_size)
    content = bytearray(file.read_bytes())
    content[3] ^= 0xFF
    file.write_bytes(content)
    found = home.run("check", "--deep", "pump", code=1)
    assert f"the file {file.name} is not as it was written" in found
    home.run("check", "--deep", "pump", "--repair")
    assert home.json("check", "--deep", "pump")["findings"] == []
    file = max(home.index_folder().glob("*.idx"), key=lambda each: each.stat().st_size)
    file.write_bytes(b"")
    answer = home.json("search", "battery", "--project", "pump")
    assert [hit["document_key"] for hit in answer["hits"]] == ["SYS-REQ-3"]
    assert "rust" in str(answer["warnings"])
    home.run("sync", "pump")
    assert home.json("check", "--deep", "pump")["findings"] == []


def test_words_and_meaning_by_the_command_line(home):
    home.configure(MIXED)
    home.write(STORY)
    home.run("check")
    assert "DONE" in str(home.json("sync", "pump"))
    answer = home.json("search", "automatic logout of users who do nothing", "--project", "pump")
    keys = [hit["document_key"] for hit in answer["hits"]]
    assert keys[0] in {"SYS-REQ-2", "SYS-TC-4"}
    assert len(keys) == len(STORY)
    explained = home.run("search", "battery", "--project", "pump", "--explain")
    assert "rust" in explained
    assert "meaning" in explained


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = "".join(block.text for block in result.content)
    assert not result.is_error, text
    return result.structured_content


@pytest.mark.anyio
async def test_an_mcp_client_inits_and_searches(home, requirements):
    home.write([*requirements(100), *({**line, "_id": f"X-{line['_id']}"} for line in STORY)])
    server = StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env=home.settings())
    async with Client(server) as client:
        job = await call(client, "init_specs_project", project_id="pump")
        with anyio.fail_after(60):
            while job["status"] not in ("DONE", "ERROR"):
                job = await call(client, "get_sync_progress", job_id=job["job_id"], wait_seconds=5)
        assert job["status"] == "DONE", job
        answer = await call(
            client, "search_specs_semantics", project_id="pump", query="login screen", sub_queries=["sign in again"]
        )
        assert {"X-SYS-TC-4", "X-SYS-REQ-2"} <= {hit["document_key"] for hit in answer["results"]}
        status = await call(client, "get_sync_status")
        (project,) = status["projects"]
        assert {(each["index"], each["documents_behind"], each["problem"]) for each in project["indexes"]} == {
            ("rust", 0, ""),
            ("words", 0, ""),
        }
