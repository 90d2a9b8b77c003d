"""Components that break while they are built: the pipeline does without them where it can, and says so."""

from pathlib import Path

import pytest

from reqall import PluginError, Query
from reqall.app import BUILT_INS, App, Overrides
from reqall.core.assemble import Assembly
from reqall.core.config import ConfigFile, check_structure, parse_yaml
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.host import PluginHost

pytest_plugins = ["tests.core.plugins_support"]

SOURCE = Path(__file__).with_name("distributions") / "unbuildable.py"

REASONS = {
    "raises": "could not be built by {}: ValueError",
    "exits": "could not be built by {}: SystemExit",
    "refuses": "no licence",
    "nothing": "{} built a NoneType without ",
    "half": "{} built a Half without ",
}


@pytest.fixture
def assemble(install, tmp_path, document):
    """Assemble a pipeline over one document; `words` is its second index."""
    install("unbuildable", SOURCE.read_text(encoding="utf-8"), version="0.4")
    opened = []

    def make(index=None, embedder=None, **pipeline):
        used = {"odd": {"use": index}} if isinstance(index, str) else {"odd": index} if index else {}
        tree = {
            "version": 1,
            "embedders": {"e": {"use": embedder}} if embedder else {},
            "indexes": {**used, "words": {"use": "sqlite_fts5"}},
            "pipelines": {"default": {"recall": [{"index": name} for name in (*used, "words")], **pipeline}},
        }
        database = Database(tmp_path / f"{len(opened)}.db")
        opened.append(database)
        config, host = ConfigFile.model_validate(tree), PluginHost(BUILT_INS)
        assembly = Assembly(config, host, Environment({}, tmp_path / ".env"), database, tmp_path)
        assembly.indexer().commit([document(1, "alarm volume")], (), eager=True, within=lambda _tx, _done: None)
        return assembly

    yield make
    for database in opened:
        database.close()


def search(assembly):
    result = assembly.pipeline("default").search(Query("volume"), 10, 10)
    return [hit.document.id for hit in result.hits], list(result.warnings)


@pytest.mark.parametrize("name", REASONS)
def test_an_index_that_cannot_be_built_is_left_out(assemble, name):
    found, warnings = search(assemble(name))
    assert found == ["s:1"]
    (warning,) = warnings
    by = f"recaller {name!r} of unbuildable 0.4"
    assert warning.startswith(f"searched without index 'odd' ({by}): ")
    assert REASONS[name].format(by) in warning
    assert "text of an item" not in warning


@pytest.mark.parametrize("name", REASONS)
def test_an_index_that_must_be_there_names_who_could_not_build_it(assemble, name):
    assembly = assemble(name, recall=[{"index": "odd", "required": True}, {"index": "words"}])
    with pytest.raises(PluginError, match="no licence" if name == "refuses" else "unbuildable 0.4") as caught:
        search(assembly)
    assert caught.value.remedy
    assert "text of an item" not in str(caught.value)


@pytest.mark.parametrize("name", REASONS)
@pytest.mark.parametrize("stage", [("expand", "expander"), ("rerank", "reranker")])
def test_a_stage_that_cannot_be_built_is_left_out_if_a_search_can_do_without(assemble, name, stage):
    key, kind = stage
    found, (warning,) = search(assemble(**{key: {"use": name}}))
    assert found == ["s:1"]
    by = f"{kind} {name!r} of unbuildable 0.4"
    assert warning.startswith(f"searched without {by}: ")
    assert REASONS[name].format(by) in warning


@pytest.mark.parametrize("name", REASONS)
def test_a_fuser_that_cannot_be_built_ends_the_search(assemble, name):
    with pytest.raises(PluginError, match="no licence" if name == "refuses" else "unbuildable 0.4"):
        search(assemble(fuse={"use": name}))


@pytest.mark.parametrize("name", [*REASONS, "nameless"])
def test_an_embedder_that_cannot_be_built_costs_its_index_only(assemble, name):
    options = {"use": "vectors", "with": {"embedder": "e"}, "chunk": {"use": "sentences"}}
    found, (warning,) = search(assemble(options, embedder=name))
    assert found == ["s:1"]
    assert warning.startswith("searched without index 'odd' (recaller 'vectors' of unbuildable 0.4): ")
    by = f"embedder {name!r} of unbuildable 0.4"
    told = REASONS.get(name, "index 'odd': {} does not say what it is: KeyError")
    assert told.format(by) in warning


def test_nothing_of_a_component_is_run_to_see_whether_it_is_whole(assemble):
    assert assemble(embedder="heavy").embedder("e") is not None


def test_what_hands_everything_on_is_whole(assemble):
    found, warnings = search(assemble("proxy"))
    assert (found, warnings) == (["s:1"], [])


@pytest.mark.parametrize("given", ["0", "-1", "3601", ".inf", ".nan", "'5'", "yes"])
@pytest.mark.parametrize(
    "place", ["recall: [{{index: words, timeout: {}}}]", "fuse: {{use: rrf, timeout: {}}}", "timeout: {}"]
)
def test_a_time_that_cannot_be_waited_is_refused(given, place):
    recall = "" if place.startswith("recall") else "recall: [{index: words}], "
    text = f"version: 1\nindexes: {{words: {{use: rrf}}}}\npipelines: {{a: {{{recall}{place.format(given)}}}}}\n"
    config, problems = check_structure(parse_yaml(text, "f.yaml"))
    assert config is None
    assert [problem.path[-1] for problem in problems] == ["timeout"]


def test_built_in_components_are_named_too_and_have_the_time_of_their_pipeline(tmp_path):
    config = tmp_path / "timed.yaml"
    recall = "recall: [{index: words}, {index: memory, timeout: 7}]"
    config.write_text(
        "version: 1\nindexes: {words: {use: sqlite_fts5}, memory: {use: rank_bm25}}\n"
        f"pipelines:\n  default: {{{recall}, timeout: 3, fuse: {{use: rrf, timeout: 9}}}}\n"
        f"  plain: {{{recall}}}\n",
        encoding="utf-8",
    )
    app = App(Overrides(str(config), database=str(tmp_path / "catalog.db")), Environment({}, tmp_path / ".env"))
    try:
        timed, plain = app.assembly.pipeline("default"), app.assembly.pipeline("plain")
        assert [arm.called.timeout for arm in timed.arms] == [3, 7]
        assert [arm.called.timeout for arm in plain.arms] == [30, 7]
        assert timed.arms[0].called.name.startswith("index 'words' (recaller 'sqlite_fts5' of reqall ")
        assert timed._guards["fuser"].timeout == 9
        assert plain._guards["reranker"].subject.startswith("reranker 'none' of reqall ")
    finally:
        app.close()
