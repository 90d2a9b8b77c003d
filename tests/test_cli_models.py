"""`reqall models`: what components run on is listed, fetched and checked."""

import json
import sys
from dataclasses import dataclass

import pytest

from reqall.cli import main
from reqall.testing.model_hub import ModelHub

CONFIG = """
version: 1
sources: {items: {use: jsonl, with: {path: items.jsonl}}}
indexes: {words: {use: sqlite_fts5}}
pipelines:
  default: {recall: [{index: words}]}
  read: {recall: [{index: words}], rerank: {use: cross_encoder, with: {model: acme/pairs}}}
"""


@pytest.fixture
def hub(tmp_path):
    """Two models; what is in their files nobody reads here."""
    for name, weights in (("tiny", "model.safetensors"), ("pairs", "onnx/model.onnx")):
        folder = tmp_path / name
        (folder / weights).parent.mkdir(parents=True)
        (folder / weights).write_bytes(name.encode() * 60_000)
        for file in ("config.json", "tokenizer.json"):
            (folder / file).write_text("{}", encoding="utf-8")
    with ModelHub({"acme/tiny": tmp_path / "tiny", "acme/pairs": tmp_path / "pairs"}) as server:
        yield server


@dataclass(frozen=True)
class Done:
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def models(tmp_path, hub, monkeypatch, capsys):
    """Run `reqall models` with a configuration whose pipeline `read` uses acme/pairs."""
    (tmp_path / "pipelines.yaml").write_text(CONFIG, encoding="utf-8")
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "hf"),
        "NO_PROXY": "127.0.0.1",
        "REQALL_HOME": str(tmp_path),
        "REQALL_CONFIG": str(tmp_path / "pipelines.yaml"),
        "RERANKER_MODEL": "acme/tiny",
    }

    def run(*arguments, **changes):
        with monkeypatch.context() as patch:
            for name, value in {**settings, **changes}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["reqall", "models", *arguments])
            with pytest.raises(SystemExit) as ended:
                main()
        told = capsys.readouterr()
        return Done(int(ended.value.code or 0), told.out, told.err)

    return run


def listed(models, **changes):
    return {row["model"]: row for row in json.loads(models("list", "--json", **changes).stdout)}


def test_the_list_tells_what_is_used_and_what_is_here(models, hub):
    before = listed(models)
    assert before["acme/pairs"]["used_by"] == ["pipeline read"]
    assert before["acme/pairs"]["bytes"] is None
    assert before["acme/tiny"]["components"] == ["qwen3"]
    assert before["acme/tiny"]["used_by"] == []
    assert hub.requests == []
    pulled = models("pull")
    assert pulled.returncode == 0, pulled.stderr
    assert "acme/pairs: 300.0 kB in " in pulled.stdout
    after = listed(models)
    assert after["acme/pairs"]["bytes"] == 300_004
    assert after["acme/tiny"]["bytes"] is None
    told = models("list").stdout
    assert "acme/pairs (cross_encoder): 300.0 kB, used by pipeline read" in told
    assert "acme/tiny (qwen3): not here, not used by this configuration" in told


@pytest.mark.parametrize("name", ["qwen3", "acme/tiny"])
def test_a_component_or_a_model_can_be_named(models, name):
    pulled = json.loads(models("pull", name, "--json").stdout)
    assert [row["model"] for row in pulled] == ["acme/tiny"]
    assert models("verify", name).returncode == 0


def test_a_file_that_changed_is_found_and_fetched_again(models, tmp_path):
    models("pull")
    (file,) = (tmp_path / "hf").rglob("model.onnx")
    file.resolve().write_bytes(b"changed")
    checked = models("verify")
    assert checked.returncode == 1
    assert "onnx/model.onnx (7 B): its checksum is another one" in checked.stdout
    assert "reqall models pull acme/pairs" in checked.stderr
    assert models("pull").returncode == 0
    assert {row["problem"] for row in json.loads(models("verify", "--json").stdout)} == {""}


def test_mistakes_are_told_without_a_traceback(models):
    unknown = models("pull", "qwen")
    assert unknown.returncode == 1
    assert "did you mean 'qwen3'" in unknown.stderr
    nowhere = models("pull", "qwen3", RERANKER_MODEL="acme/none")
    assert nowhere.returncode == 1
    assert "answered 404" in nowhere.stderr
    missing = models("verify", "qwen3")
    assert missing.returncode == 1
    assert "not on this machine" in missing.stderr
    assert "neither a model of a hub nor a folder" in listed(models, RERANKER_MODEL="none")["none"]["problem"]
    assert "Traceback" not in unknown.stderr + nowhere.stderr + missing.stderr


def test_a_configuration_without_models_says_what_can_be_named(models, tmp_path):
    (tmp_path / "pipelines.yaml").write_text(CONFIG.replace("  read:", "  #"), encoding="utf-8")
    pulled = models("pull")
    assert pulled.returncode == 1
    assert "cross_encoder, fastembed, qwen3" in pulled.stderr
