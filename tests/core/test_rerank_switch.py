"""RERANKER_ENABLED, and rerankers that stand in the options of another: found, checked and built like any other."""

import pytest

from reqall import ConfigError, Query
from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.rerank_switch import is_enabled
from reqall.setup import check

pytest_plugins = ["tests.core.plugins_support"]

QWEN = """
from pydantic import Field
from reqall import DocumentRanking, PluginError, PluginOptions, Registration, hookimpl

class Options(PluginOptions):
    model: str = Field(default="${RERANKER_MODEL:-small}", description="Model.")

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
    return [Registration("qwen3", "a model", build, Options)]
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


def test_switched_on_the_default_pipeline_reranks_and_no_other(install, filled):
    install("qwen_part", QWEN)
    app = filled(RERANKER_ENABLED="1")
    assert search(app) == ({"rerank"}, [])
    assert search(app, "other") == ({"rrf"}, [])
    assert search(filled()) == ({"rrf"}, [])
    assert search(filled(RERANKER_ENABLED="0")) == ({"rrf"}, [])


def test_the_model_comes_from_its_variable_and_options_that_are_written_stay(install, filled):
    install("qwen_part", QWEN)

    def model(app):
        return app.assembly.stage("reranker", "default", app.config.pipelines["default"].rerank)._scorer.model

    assert model(filled(RERANKER_ENABLED="1")) == "small"
    assert model(filled(RERANKER_ENABLED="1", RERANKER_MODEL="large")) == "large"
    assert model(filled("{use: qwen3, with: {model: own}}", RERANKER_ENABLED="1")) == "own"


def test_a_blend_of_it_stays_a_blend(install, filled):
    install("qwen_part", QWEN)
    blend = "{use: blend, with: {reranker: {use: qwen3, with: {model: '${MINE}'}}}}"
    app = filled(blend, RERANKER_ENABLED="1", MINE="mine")
    assert app.config.pipelines["default"].rerank.use == "blend"
    (hit, _) = app.assembly.pipeline("default").search(Query("alarm"), 10, 10).hits
    assert {"fused", "reranked"} <= set(hit.parts)


def test_without_the_plugin_searches_keep_the_fused_order_and_say_so(filled):
    app = filled(RERANKER_ENABLED="1")
    strategies, warnings = search(app)
    assert strategies == {"rrf"}
    assert warnings == ["searched without reranker 'qwen3': no reranker named 'qwen3'"]
    (problem, setting) = sorted(problems(app), reverse=True)
    assert problem.startswith("reranker qwen3: pipeline default: no reranker named 'qwen3'")
    assert "installed rerankers: blend, lexical, none" in problem
    assert setting.startswith("RERANKER_ENABLED: 1")


def test_without_its_libraries_likewise(install, filled):
    install("qwen_part", QWEN)
    app = filled(RERANKER_ENABLED="1", RERANKER_MODEL="absent")
    assert search(app) == ({"rrf"}, ["searched without reranker 'qwen3' of qwen_part 1.0: torch is not installed"])
    assert any("pip install reqall[qwen3]" in problem for problem in problems(app))


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
    install("qwen_part", QWEN)
    app = make()
    inner = app.assembly._reranker
    config = app.config.pipelines["default"].rerank.model_copy(update={"use": "qwen3"})
    assert inner(config)._scorer is inner(config)._scorer
    assert inner(config)._scorer is not inner(config.model_copy(update={"options": {"model": "x"}}))._scorer
