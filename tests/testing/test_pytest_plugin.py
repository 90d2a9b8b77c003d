"""The pytest plugin: free where it is not used, and what its fixtures give an author of plugins."""

import subprocess
import sys

import pytest

MODULE = """
from reqall import DocumentRanking, Registration, hookimpl

class Backwards:
    def fuse(self, rankings, weights):
        return DocumentRanking.of((d.document_id, d.rank) for ranking in rankings for d in ranking)

@hookimpl
def register_fusers():
    return [Registration("backwards", "the worst first", lambda options, services: Backwards())]
"""

YAML = """
version: 1
sources: {parts: {use: jsonl, with: {path: "${PARTS}"}}}
indexes: {words: {use: sqlite_fts5}}
pipelines:
  default: {recall: [{index: words}]}
  backwards: {recall: [{index: words}], fuse: {use: backwards}}
"""

PARTS = '{"_id": "P-1", "text": "motor torque"}\n{"_id": "P-2", "text": "motor"}\n'


@pytest.fixture
def run(tmp_path):
    """Run pytest on a module in an empty folder; returns the finished process."""

    def call(text, *arguments, conftest=""):
        (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
        (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)

    return call


@pytest.fixture
def parts(tmp_path):
    file = tmp_path / "parts.jsonl"
    file.write_text(PARTS, encoding="utf-8")
    return str(file)


@pytest.fixture
def backwards(tmp_path, monkeypatch):
    """A module with a plugin that is not installed."""
    (tmp_path / "backwards_plugin.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "backwards_plugin"
    sys.modules.pop("backwards_plugin", None)


def test_a_run_that_does_not_use_it_imports_nothing(run):
    done = run("import sys\ndef test_it():\n    assert not [m for m in sys.modules if m.split('.')[0] == 'reqall']\n")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert "reqall-" in done.stdout, "pytest lists the plugin"
    assert "SQLite" not in done.stdout


@pytest.mark.parametrize("where", ["module", "conftest"])
def test_a_run_that_uses_it_says_once_with_what(run, where):
    test = "def test_it():\n    assert True\n"
    done = run(f"import reqall\n{test}") if where == "module" else run(test, conftest="import reqall\n")
    (line,) = [line for line in done.stdout.splitlines() if "SQLite" in line]
    assert line.startswith("reqall ")
    for told in ("(with FTS5)", "sqlite-vec ", "pluggy "):
        assert told in line


def test_a_quiet_run_is_quiet(run):
    assert "SQLite" not in run("import reqall\ndef test_it():\n    assert True\n", "-q").stdout


def test_whoever_writes_to_jama_is_found_out(run):
    done = run(
        "import requests\n"
        "def test_it(jama_simulator):\n"
        "    requests.put(f'{jama_simulator.url}/rest/v1/items/1', json={}, timeout=10)\n"
    )
    assert done.returncode == 1
    assert "only reading requests may reach Jama" in done.stdout


def test_a_contract_that_is_broken_says_what_is_wrong(run):
    done = run(
        f"{MODULE}\n"
        "import pytest\n"
        "from reqall.testing.contracts import FuserContract, RerankerContract\n"
        "class TestBackwards(FuserContract):\n"
        "    @pytest.fixture\n"
        "    def fuser(self):\n"
        "        return Backwards()\n"
        "class TestForgotten(RerankerContract):\n"
        "    pass\n",
        *("-W", "error", "-k", "one_ranking or nothing_fused or no_passages"),
    )
    assert done.returncode == 1
    assert "one ranking alone did not keep its order" in done.stdout
    assert "override the fixture `reranker` in your test class" in done.stdout
    assert "1 failed, 1 passed, " in done.stdout


def test_the_host_has_what_is_built_in(plugin_host):
    assert {"rrf", "convex"} <= set(plugin_host.names("fuser"))


def test_a_source_and_an_embedder_are_at_hand(list_source, hashing_embedder):
    list_source.put("1", "volume")
    (page,) = list_source.documents(list_source.project, None)
    assert [document.id for document in page.items] == ["list:1"]
    assert hashing_embedder.embed_query(["volume"]).shape == (1, hashing_embedder.dimensions)


def test_an_app_is_assembled_in_a_folder_of_its_own(reqall_app, backwards, parts):
    trial, other = (reqall_app(YAML, modules=[backwards], PARTS=parts) for _ in range(2))
    assert trial.sync("parts").status == "DONE"
    assert trial.keys("motor torque", "parts") == ["P-1", "P-2"]
    assert trial.keys("motor torque", "parts", pipeline="backwards") == ["P-2", "P-1"]
    assert trial.search("motor", "parts", top_k=1).hits[0].strategy == "rrf"
    assert other.app.assembly.catalog.projects() == []


def test_a_sync_that_fails_says_why(reqall_app, backwards, tmp_path, parts):
    trial = reqall_app(YAML, modules=[backwards], PARTS=parts)
    trial.sync("parts")
    (tmp_path / "parts.jsonl").write_text("nothing of JSON\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"the sync of 'parts' ended as ERROR: .*parts\.jsonl:1: not JSON"):
        trial.sync("parts")


def test_nothing_of_the_users_environment_is_read(reqall_app, backwards, monkeypatch, parts):
    monkeypatch.setenv("PARTS", parts)
    with pytest.raises(Exception, match="PARTS is not set"):
        reqall_app(YAML, modules=[backwards]).sync("parts")
