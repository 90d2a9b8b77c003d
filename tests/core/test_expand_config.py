"""Expanders in pipelines.yaml: one or a list, weights, indexes; mistakes have a place and a suggestion."""

import pytest

from reqall.app import BUILT_INS
from reqall.core.config import ConfigFile, parse_yaml
from reqall.core.environment import Environment
from reqall.core.errors import ConfigError
from reqall.core.host import PluginHost
from reqall.core.schema import file_schema
from reqall.core.validate import validate

HOST = PluginHost(BUILT_INS, installed=False)
FILE = """\
version: 1
indexes: {words: {use: sqlite_fts5}, memory: {use: rank_bm25}, other: {use: rank_bm25}}
pipelines:
  default:
    recall: [{index: words}, {index: memory}]
    variant_weights: {original: 1, expansions: 0.5}
    max_variants: 8
    expand: EXPAND
"""


def read(expand, tmp_path, text=FILE):
    return validate(parse_yaml(text.replace("EXPAND", expand), "f.yaml"), HOST, Environment({}, tmp_path / ".env"))


def mistakes(expand, tmp_path, text=FILE):
    with pytest.raises(ConfigError) as caught:
        read(expand, tmp_path, text)
    return caught.value.message.splitlines()


@pytest.mark.parametrize(
    ("written", "uses"),
    [
        ("null", []),
        ("{use: sub_queries}", ["sub_queries"]),
        ("[]", []),
        ("[{use: sub_queries}, {use: rm3, indexes: [words], weight: 0.3, timeout: 5}]", ["sub_queries", "rm3"]),
    ],
)
def test_one_expander_or_several(written, uses, tmp_path):
    pipeline = read(written, tmp_path).pipelines["default"]
    assert [each.use for each in pipeline.expanders] == uses
    assert (pipeline.variant_weights.expansions, pipeline.variant_weights.sub_queries) == (0.5, 1.0)
    assert pipeline.max_variants == 8


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{use: rm4}", "f.yaml:8:19: no expander named 'rm4'; did you mean 'rm3'?"),
        ("[{use: sub_queries}, {use: rm4}]", "f.yaml:8:40: no expander named 'rm4'; did you mean 'rm3'?"),
        ("[{use: rm3, wieght: 1}]", "f.yaml:8:25: unknown key 'wieght'; did you mean 'weight'?"),
        ("{use: rm3, wieght: 1}", "f.yaml:8:24: unknown key 'wieght'; did you mean 'weight'?"),
        ("[{use: rm3, with: {docs: 1}}]", "f.yaml:8:32: unknown key 'docs'"),
        ("[{use: rm3, weight: -1}]", "f.yaml:8:33: weight: input should be greater than or equal to 0"),
        ("{use: rm3, indexes: []}", "f.yaml:8:33: indexes: list should have at least 1 item"),
        ("rm3", "f.yaml:8:13: expand: must be a mapping"),
        ("[rm3]", "f.yaml:8:14: entry 1: must be a mapping"),
        (
            "[{use: rm3, indexes: [words, wrods]}]",
            "f.yaml:8:42: this pipeline does not recall from an index 'wrods'; did you mean 'words'? (it does",
        ),
        ("{use: rm3, indexes: [other]}", "f.yaml:8:34: this pipeline does not recall from an index 'other'"),
    ],
)
def test_a_mistake_is_told_where_it_stands(written, told, tmp_path):
    (line,) = mistakes(written, tmp_path)
    assert line.startswith(told)


def test_weights_and_the_bound_are_checked(tmp_path):
    text = FILE.replace("expansions: 0.5", "expansoins: 1").replace("max_variants: 8", "max_variants: 51")
    assert mistakes("null", tmp_path, text) == [
        "f.yaml:6:36: unknown key 'expansoins'; did you mean 'expansions'?",
        "f.yaml:7:19: max_variants: input should be less than or equal to 50",
    ]


def test_a_single_expander_is_kept_as_it_was_written():
    """So that a grid's `expand.use` leads somewhere."""
    tree = {"version": 1, "indexes": {}, "pipelines": {"p": {"recall": [{"index": "w"}], "expand": {"use": "rm3"}}}}
    dumped = ConfigFile.model_validate(tree).model_dump(by_alias=True)["pipelines"]["p"]["expand"]
    assert dumped["use"] == "rm3"


def test_the_schema_knows_both_forms():
    expand = file_schema(HOST)["$defs"]["PipelineConfig"]["properties"]["expand"]
    one = {"$ref": "#/$defs/expander"}
    assert expand == {"anyOf": [one, {"type": "array", "items": one}, {"type": "null"}]}
