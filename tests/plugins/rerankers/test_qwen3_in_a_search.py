"""A search with qwen3 whose weights are not there yet: the fused order with a warning, and later the model's order."""

import json
import time

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.request import SearchRequest
from reqall.testing.model_hub import ModelHub

CONFIG = """
version: 1
sources: {items: {use: jsonl, with: {path: PATH}}}
indexes: {words: {use: sqlite_fts5}}
pipelines:
  default:
    recall: [{index: words}]
    rerank: {use: qwen3, with: {model: acme/tiny, self_check: CHECKED}}
"""


@pytest.fixture
def hub(qwen3_folder, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ModelHub({"acme/tiny": qwen3_folder}) as server:
        yield server


@pytest.fixture
def opened(tmp_path, hub):
    """An App over three synced items, whose models come from the hub."""
    apps = []

    def make(*, checked):
        names = ("pump stops", "pump starts", "pump is silent")
        records = [{"_id": f"R-{place}", "title": name, "text": f"the {name}"} for place, name in enumerate(names)]
        path = tmp_path / "items.jsonl"
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        config = CONFIG.replace("PATH", json.dumps(str(path))).replace("CHECKED", str(checked).lower())
        (tmp_path / "pipelines.yaml").write_text(config, encoding="utf-8")
        settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "REQALL_HOME": str(tmp_path)}
        overrides = Overrides(config=str(tmp_path / "pipelines.yaml"), database=str(tmp_path / "catalog.db"))
        apps.append(App(overrides, Environment(settings, tmp_path / ".env")))
        job = apps[-1].sync("items")
        assert job.status == "DONE", job.error
        return apps[-1]

    yield make
    for app in apps:
        app.close()


def search(app):
    _, result = app.search(SearchRequest(("items",), "when does the pump stop"))
    return result


def when_fetched(app):
    """Search until nothing is being fetched any more."""
    for _ in range(600):
        result = search(app)
        if not any("is being fetched" in warning for warning in result.warnings):
            return result
        time.sleep(0.05)
    raise AssertionError("the download did not end")


def test_until_the_weights_are_there_the_order_is_the_fused_one(opened, hub):
    app = opened(checked=False)
    hub.pause_after = 0
    first = search(app)
    assert {hit.strategy for hit in first.hits} == {"rrf"}
    assert len(first.hits) == 3
    assert any("the model acme/tiny is being fetched from 127.0.0.1" in warning for warning in first.warnings)
    assert any("reqall models pull acme/tiny" in warning for warning in first.warnings)
    hub.go_on.set()
    second = when_fetched(app)
    assert {hit.strategy for hit in second.hits} == {"rerank"}
    assert second.warnings == ()
    assert {hit.document.id for hit in second.hits} == {hit.document.id for hit in first.hits}
    assert all(0 < hit.score < 1 for hit in second.hits)


def test_a_model_that_fails_its_self_check_is_told_and_the_order_stays(opened):
    result = when_fetched(opened(checked=True))
    assert {hit.strategy for hit in result.hits} == {"rrf"}
    assert any("failed its self-check" in warning for warning in result.warnings)
