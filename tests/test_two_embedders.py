"""Several embedders in one pipeline: each has an index, chunks and vectors of its own, and all take part."""

import json
from importlib.util import find_spec

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.request import SearchRequest

CONFIGURATION = """
version: 1
sources: {parts: {use: jsonl, with: {path: PATH, project: parts}}}
embedders:
  whole: {use: minilm}
  short: {use: minilm, with: {max_tokens: 32, document_prefix: "part: "}}
  other: OTHER
indexes:
  whole: {use: sqlite_vec, with: {embedder: whole}, chunk: {use: sentences}}
  short: {use: sqlite_vec, with: {embedder: short}, chunk: {use: sentences}}
  other: {use: sqlite_vec, with: {embedder: other}, chunk: {use: sentences}}
pipelines:
  default: {recall: [{index: whole}, {index: short}, {index: other}]}
"""
TEXTS = {
    "pump": "The pump detects a blocked line and sounds an alarm. " * 4,
    "login": "A user who does nothing is logged out after ten minutes. " * 4,
    "door": "The door closes before the train starts to move. " * 4,
}


@pytest.fixture
def app(tmp_path):
    """A synced project under three embedders; the third is static where its extra is installed."""
    other = "{use: wordllama}" if find_spec("wordllama") else "{use: minilm, with: {max_tokens: 64}}"
    rows = [json.dumps({"_id": key, "title": key, "text": text}) for key, text in TEXTS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    text = CONFIGURATION.replace("PATH", json.dumps(str(tmp_path))).replace("OTHER", other)
    (tmp_path / "pipelines.yaml").write_text(text, encoding="utf-8")
    settings = {"REQALL_HOME": str(tmp_path), "REQALL_CONFIG": str(tmp_path / "pipelines.yaml")}
    settings |= {"JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db"), "SYNC_INTERVAL_HOURS": "0"}
    opened = App(Overrides(), Environment(settings, tmp_path / ".env"))
    assert opened.sync("parts").status == "DONE"
    yield opened
    opened.close()


def test_each_embedder_has_an_index_of_its_own(app):
    indexes = [app.assembly.index(name) for name in ("whole", "short", "other")]
    assert len({index.fingerprint for index in indexes}) == len({index.chunking for index in indexes}) == 3
    lengths = {
        index.name: [len(app.assembly.log.chunks_of([f"parts:{key}"], index.chunking)[f"parts:{key}"]) for key in TEXTS]
        for index in indexes
    }
    assert lengths["whole"] == [1, 1, 1]
    assert min(lengths["short"]) > 1


def test_all_of_them_find_and_rank(app):
    _, found = app.search(SearchRequest(("parts",), "inactivity timeout of a session"))
    assert found.warnings == ()
    assert found.hits[0].document.id == "parts:login"
    assert {each.arm for each in found.hits[0].provenance} == {"whole", "short", "other"}
    scores = {each.score for each in found.hits[0].provenance}
    assert len(scores) == 3, "two embedders gave one score"
