"""RERANKER_ENABLED, and rerankers that stand in the options of another: found, checked and built like any other."""

import sys

import pytest

from reqall import ConfigError, Query
from reqall.app import App, Overrides
from reqall.core.components import build_options
from reqall.core.environment import Environment
from reqall.core.rerank_switch import is_enabled
from reqall.setup import check

pytest_plugins = ["tests.core.plugins_support"]

READER = """
from pydantic import Field
from reqall import DocumentRanking, PluginError, PluginOptions, Registration, hookimpl

class Options(PluginOptions):
    model: str = Field(default="small", description="Model.")

class Scorer:
    identity = ""
    batch_size = 4
    def __init__(self, model):
        self.model = model
    def score(self, query, passages):
        return [float(len(self.model) - len(p.text)) for p in passages]
    def rerank(self, query, passages):
        raise NotImplementedError

def build(options, services):
    if options.model == "absent":
        raise PluginError("torch is not installed", "pip install reqall[qwen3]")
    return Scorer(options.model)

@hookimpl
def register_rerankers():
    return [Registration("reader", "a model", build, Options)]
"""

FILE = """\
version: 1
indexes: {words: {use: sqlite_fts5}}
pipelines:
  default: {recall: [{index: words}], rerank: %s}
  other: {recall: [{index: words}]}
"""


@pytest.fixture
def make(tmp_path, document):
    """An app over a file whose default pipeline reranks as given, with a document, and variables."""
    apps = []

    def make(rerank="{use: none}", **variables):
        file = tmp_path / f"{len(apps)}.yaml"
        file.write_text(FILE % rerank, encoding="utf-8")
        overrides = Overrides(config=str(file), database=str(tmp_path / f"{len(apps)}.db"))
        apps.append(App(overrides, Environment(variables, tmp_path / ".env")))
        return apps[-1]

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def filled(make, document):
    def filled(*arguments, **variables):
        app = make(*arguments, **variables)
        documents = [document(1, "alarm volume"), document(2, "alarm")]
        app.assembly.indexer().commit(documents, (), eager=True, within=lambda _tx, _done: None)
        return app

    return filled


def search(app, pipeline="default"):
    result = app.assembly.pipeline(pipeline).search(Query("alarm"), 10, 10)
    return {hit.strategy for hit in result.hits}, list(result.warnings)


def problems(app):
    return [f"{found.subject}: {found.message}" for found in check(app) if "reranker" in found.subject.lower()]


@pytest.mark.parametrize(("text", "on"), [("1", True), ("TRUE", True), ("on", True), ("0", False), ("no", False)])
def test_the_switch_is_on_or_off(text, on):
    assert is_enabled({"RERANKER_ENABLED": text}) is on
    assert is_enabled({}) is False


def test_a_value_that_is_none_is_an_error(make):
    with pytest.raises(ConfigError, match="RERANKER_ENABLED is 'maybe'"):
        make(RERANKER_ENABLED="maybe").config  # noqa: B018 - reading it checks it


def test_switched_on_the_default_pipeline_reranks_and_no_other(make):
    def rerankers(app):
        return {name: pipeline.rerank.use for name, pipeline in app.config.pipelines.items()}

    assert rerankers(make(RERANKER_ENABLED="1")) == {"default": "qwen3", "other": "none"}
    assert rerankers(make()) == {"default": "none", "other": "none"}
    assert rerankers(make(RERANKER_ENABLED="0")) == {"default": "none", "other": "none"}


def test_the_model_comes_from_its_variable_and_options_that_are_written_stay(make):
    def model(app):
        config = app.config.pipelines["default"].rerank
        return build_options(app.host.find("reranker", "qwen3"), config, app.environment, "reranker").model

    assert model(make(RERANKER_ENABLED="1")) == "Qwen/Qwen3-Reranker-0.6B"
    assert model(make(RERANKER_ENABLED="1", RERANKER_MODEL="acme/large")) == "acme/large"
    assert model(make("{use: qwen3, with: {model: acme/own}}", RERANKER_ENABLED="1")) == "acme/own"


def test_a_blend_of_it_stays_a_blend(make):
    app = make(
        "{use: blend, with: {reranker: {use: qwen3, with: {model: '${MINE}'}}}}", RERANKER_ENABLED="1", MINE="a/b"
    )
    assert app.config.pipelines["default"].rerank.use == "blend"


def test_a_blend_mixes_the_scores_of_the_reranker_inside(install, filled):
    install("reader_part", READER)
    app = filled("{use: blend, with: {reranker: {use: reader, with: {model: '${MINE}'}}}}", MINE="mine")
    (hit, _) = app.assembly.pipeline("default").search(Query("alarm"), 10, 10).hits
    assert {"fused", "reranked"} <= set(hit.parts)


def test_without_its_libraries_searches_keep_the_fused_order_and_say_so(filled, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    app = filled(RERANKER_ENABLED="1")
    told = "searched without reranker 'qwen3' of reqall 0.1.0: qwen3: the package torch is not installed"
    assert search(app) == ({"rrf"}, [told])
    assert search(app, "other") == ({"rrf"}, [])
    assert any("pip install 'reqall[qwen3]'" in problem for problem in problems(app))


def test_a_plugin_without_its_libraries_likewise(install, filled):
    install("reader_part", READER)
    app = filled("{use: reader, with: {model: absent}}")
    assert search(app) == ({"rrf"}, ["searched without reranker 'reader' of reader_part 1.0: torch is not installed"])


@pytest.mark.parametrize(
    ("rerank", "marked", "message"),
    [
        (
            "{use: blend, with: {reranker: {use: lexicl}}}",
            "lexicl",
            "no reranker named 'lexicl'; did you mean 'lexical'?",
        ),
        ("{use: blend, with: {reranker: {use: lexical, with: {nam: 1}}}}", "nam:", "unknown key 'nam'"),
        ("{use: blend, with: {reranker: {with: {name: 1}}}}", "{with: {name", "'use' is missing"),
        ("{use: blend, with: {top: 2}}", "2}", "top: input should be less than or equal to 1"),
        ("{use: none}, top_k: 30, candidate_k: 20", "30", "top_k (30) is larger than candidate_k (20)"),
        ("{use: none}, candidate_k: 20", "20", "top_k (50) is larger than candidate_k (20)"),
        ("{use: none}, deadline: 0", "0}", "deadline: input should be greater than 0"),
    ],
)
def test_mistakes_are_told_with_line_and_column(make, rerank, marked, message):
    with pytest.raises(ConfigError) as caught:
        make(rerank).config  # noqa: B018 - reading it checks it
    (line, _) = caught.value.args[0].splitlines()
    column = (FILE % rerank).splitlines()[3].index(marked) + 1
    assert f".yaml:4:{column}: {message}" in line


def test_two_of_equal_options_share_the_reranker_inside(install, make):
    install("reader_part", READER)
    app = make()
    inner = app.assembly._reranker
    config = app.config.pipelines["default"].rerank.model_copy(update={"use": "reader"})
    assert inner(config)._scorer is inner(config)._scorer
    assert inner(config)._scorer is not inner(config.model_copy(update={"options": {"model": "x"}}))._scorer
