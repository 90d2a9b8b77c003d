"""A whole file against what is installed: every mistake at once, each with its place."""

import copy
import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall.app import BUILT_INS, PACKAGED
from reqall.core.config import parse_yaml, read_yaml
from reqall.core.environment import Environment
from reqall.core.errors import ConfigError
from reqall.core.host import PluginHost
from reqall.core.problems import YamlFile
from reqall.core.validate import validate

pytest_plugins = ["tests.core.plugins_support"]

GOOD = """\
version: 1
sources:
  files: {use: folder, with: {path: /data, token: '${TOKEN}'}}
embedders:
  small: {use: toy, with: {dimensions: 8}}
indexes:
  words: {use: words}
  meaning:
    use: vectors
    with: {embedder: small}
    chunk: {use: pieces, with: {size: 100, overlap: 20}}
pipelines:
  default:
    expand: {use: twice}
    recall: [{index: words}, {index: meaning, weight: 2}]
    fuse: {use: rrf, with: {k: 60}}
    rerank: {use: none}
    top_k: 50
    candidate_k: 100
"""


@pytest.fixture
def mistakes(tiny, bare):
    """The lines of the error of a file that is the good one with replacements."""

    def mistakes(*replacements, environment=bare, text=GOOD):
        for old, new in replacements:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        with pytest.raises(ConfigError) as caught:
            validate(parse_yaml(text, "f.yaml"), tiny, environment)
        assert caught.value.remedy == "mend these places; `reqall plugins` lists what can be used"
        return caught.value.message.splitlines()

    return mistakes


def test_a_sound_file_is_returned(tiny, bare):
    config = validate(parse_yaml(GOOD, "f.yaml"), tiny, bare)
    assert config.indexes["meaning"].options == {"embedder": "small"}
    assert config.sources["files"].options["token"] == "${TOKEN}"
    assert [(arm.index, arm.weight) for arm in config.pipelines["default"].recall] == [("words", 1), ("meaning", 2)]


def test_the_packaged_file_is_sound_without_any_setting(bare):
    validate(read_yaml(PACKAGED), PluginHost(BUILT_INS, installed=False), bare)


def test_three_mistakes_in_one_go(tiny, bare):
    text = """\
version: 1
indexs:
  words: {use: words}
indexes:
  words: {use: wrods}
pipelines:
  default:
    recall: [{index: words}, {index: meaning}]
"""
    with pytest.raises(ConfigError) as caught:
        validate(parse_yaml(text, "pipelines.yaml"), tiny, bare)
    assert (
        str(caught.value)
        == """\
pipelines.yaml:2:1: unknown key 'indexs'; did you mean 'indexes'?
pipelines.yaml:5:16: no recaller named 'wrods'; did you mean 'words'? (installed recallers: vectors, words)
pipelines.yaml:8:38: no index 'meaning' in this file (it has: words)
mend these places; `reqall plugins` lists what can be used"""
    )


def place(text, marked):
    """Line and column, from 1, of the only place where `marked` stands."""
    assert text.count(marked) == 1, marked
    start = text.index(marked)
    return f"{text.count(chr(10), 0, start) + 1}:{start - text.rfind(chr(10), 0, start)}"


@pytest.mark.parametrize(
    ("old", "new", "marked", "message"),
    [
        ("version: 1\n", "", "sources:", "'version' is missing"),
        ("version: 1", "version: 2", "2\n", "version: input should be 1"),
        ("use: folder", "use: folders", "folders", "no source named 'folders'; did you mean 'folder'? (installed"),
        ("path: /data", "pth: /data", "pth", "unknown key 'pth'; did you mean 'path'?"),
        ("path: /data", "path: 3", "3,", "path: must be text; put it in quotes"),
        ("path: /data", "path: 2026-03-01", "2026", "path: must be text; put it in quotes"),
        ("path: /data", "tags: {a: b}", "{a: b}", "tags: must be a list (`[one, two]`)"),
        ("path: /data", "tags: [a, 7]", "7]", "entry 2: must be text; put it in quotes"),
        ("path: /data", "headers: [a]", "[a]", "headers: must be a mapping (`name: value`)"),
        ("path: /data", "headers: {a: [b]}", "[b]", "a: must be text"),
        ("dimensions: 8", "dimensions: 0", "0}}\nindexes", "dimensions: input should be greater than or equal to 1"),
        (
            "use: toy,",
            "use: words,",
            "words, with",
            "no embedder named 'words'; that is the name of a component of kind 're",
        ),
        ("embedder: small", "embedder: smal", "smal}", "no embedder 'smal' in this file; did you mean 'small'?"),
        ("embedder: small", "metric: dot", "{metric", "'embedder' is missing"),
        ("embedder: small", "embedder: small, metric: l2", "l2", "metric: input should be 'cosine' or 'dot'"),
        ("overlap: 20", "overlap: 100", "{size", "overlap must be smaller than size"),
        ("use: pieces", "use: peices", "peices", "no chunker named 'peices'; did you mean 'pieces'?"),
        ("use: twice", "use: thrice", "thrice", "no expander named 'thrice'"),
        ("index: meaning", "index: meanings", "meanings", "no index 'meanings' in this file; did you mean 'meaning'?"),
        ("{k: 60}", "{k: 0}", "0}}\n    rerank", "k: input should be greater than 0"),
        ("{k: 60}", "60", "60}", "with: must be a mapping (`name: value`)"),
        ("use: none", "use: non", "non}", "no reranker named 'non'; did you mean 'none'?"),
        ("use: none", "use: none, with: {k: 1}", "k: 1}", "unknown key 'k'"),
        ("top_k: 50", "top_k: 101", "101", "top_k: input should be less than or equal to 50"),
        ("candidate_k: 100", "candidate_k: 40", "50\n", "top_k (50) is larger than candidate_k (40): the pool"),
        ("top_k: 50\n    c", "top_k: 5\n    top_k: 6\n    c", "top_k: 6", "'top_k' stands here twice"),
    ],
)
def test_one_mistake_is_one_line_at_its_place(mistakes, old, new, marked, message):
    (line,) = mistakes((old, new))
    assert line.startswith(f"f.yaml:{place(GOOD.replace(old, new), marked)}: {message}")


def test_no_mistake_hides_another_and_all_are_in_the_order_of_the_file(mistakes):
    found = mistakes(
        ("path: /data", "pth: /data"),
        ("dimensions: 8", "dimensions: x"),
        ("use: words", "use: word"),
        ("embedder: small", "embedder: big"),
        ("fuse: {use: rrf", "fuse: {use: rff"),
        ("candidate_k: 100", "candidate_k: 1000"),
    )
    places = [tuple(map(int, re.match(r"f\.yaml:(\d+):(\d+): ", line).groups())) for line in found]
    assert places == sorted(places)
    assert [line for line, _ in places] == [3, 5, 7, 10, 16, 19]


def test_a_reference_may_be_a_variable(tiny, tmp_path, mistakes):
    text = GOOD.replace("embedder: small", "embedder: '${EMBEDDER:-small}'")
    for variables in ({}, {"EMBEDDER": "small"}):
        validate(parse_yaml(text, "f.yaml"), tiny, Environment(variables, tmp_path / ".env"))
    (line,) = mistakes(text=text, environment=Environment({"EMBEDDER": "smal"}, tmp_path / ".env"))
    assert line.startswith("f.yaml:10:22: no embedder 'smal' in this file; did you mean 'small'?")


def test_a_variable_that_is_not_set_is_no_mistake_of_the_file(tiny, bare):
    text = GOOD.replace("size: 100, overlap: 20", "size: '${SIZE}', overlap: 200").replace("path: /data, ", "")
    text = text.replace("embedder: small", "embedder: '${EMBEDDER}'").replace("dimensions: 8", "dimensions: '${D}'")
    validate(parse_yaml(text, "f.yaml"), tiny, bare)


def test_other_options_are_judged_beside_one_that_is_not_set(mistakes):
    (line,) = mistakes(("path: /data", "path: '${UNSET}', page_size: many"))
    column = GOOD.splitlines()[2].index("path") + len("path: '${UNSET}', page_size: ") + 1
    assert line.startswith(f"f.yaml:3:{column}: page_size: input should be a valid integer")


def test_a_bad_value_of_a_variable_is_told_with_its_name_and_not_its_value(tmp_path, mistakes):
    environment = Environment({"TINY_PAGE_SIZE": "hunter2", "DIMENSIONS": "hunter3"}, tmp_path / ".env")
    found = mistakes(("dimensions: 8", "dimensions: '${DIMENSIONS}'"), environment=environment)
    assert [line.partition(": ")[0] for line in found] == [
        f"f.yaml:{place(GOOD, '{path')}",
        f"f.yaml:{place(GOOD, '8}')}",
    ]
    assert found[0].endswith("(from the variable TINY_PAGE_SIZE)")
    assert found[1].endswith("(from the variable DIMENSIONS)")
    assert "hunter" not in "".join(found)


@pytest.mark.parametrize("value", ["hunter2", "'x${TOKEN}'", "'${TOKEN:-hunter2}'", "12345", "''", "[hunter2]"])
@pytest.mark.parametrize("option", ["token", "proxy_password"])
def test_a_secret_in_the_file_is_refused_and_not_shown(mistakes, option, value):
    found = mistakes(("token: '${TOKEN}'", f"{option}: {value}"))
    column = GOOD.splitlines()[2].index("token") + len(f"{option}: ") + 1
    assert f"f.yaml:3:{column}: {option} is a secret: write ${{VARIABLE}} here and set that in the environment" in found
    assert "hunter2" not in "".join(found)


def test_an_optional_secret_may_be_left_empty(tiny, bare):
    text = GOOD.replace("token: '${TOKEN}'", "token: '${TOKEN:-}', proxy_password: null")
    validate(parse_yaml(text, "f.yaml"), tiny, bare)


def test_an_embedding_index_needs_a_chunker_that_keeps_to_what_is_read(mistakes):
    (line,) = mistakes(("    chunk: {use: pieces, with: {size: 100, overlap: 20}}\n", ""))
    assert line.startswith("f.yaml:9:5: the chunker 'whole' does not keep to what the embedder can read")
    (line,) = mistakes(("{use: pieces, with: {size: 100, overlap: 20}}", "{use: whole}"))
    assert line.startswith("f.yaml:11:12: the chunker 'whole' does not keep to what the embedder can read")


def test_plugins_that_were_left_out_are_named_beside_an_unknown_name(bare, tiny, install):
    install("acme", "raise ImportError('no licence')", version="0.3")
    assert tiny.names("fuser") == ["rrf"]
    with pytest.raises(ConfigError) as caught:
        validate(parse_yaml(GOOD.replace("use: rrf", "use: acme_fusion"), "f.yaml"), PluginHost(["tiny_parts"]), bare)
    assert "f.yaml:16:17: no fuser named 'acme_fusion' (installed fusers: rrf; left out: " in caught.value.message
    assert "plugin 'acme' of acme 0.3: ImportError: no licence" in caught.value.message


def test_a_plugin_whose_own_check_breaks_is_one_mistake_among_others(mistakes):
    found = mistakes(("{use: none}", "{use: brittle, with: {level: 1}}"), ("{k: 60}", "{k: 0}"))
    assert found == [
        f"f.yaml:{place(GOOD, '60}')}: k: input should be greater than 0",
        "f.yaml:17:34: the options of 'brittle' cannot be checked: its own code raises KeyError",
    ]


def test_anchors_and_merge_keys_work_and_are_checked(tiny, bare, mistakes):
    pipelines = (
        GOOD.partition("pipelines:")[0]
        + """\
pipelines:
  default: &hybrid
    recall: &arms [{index: words}, {index: meaning}]
    fuse: {use: rrf, with: &smooth {k: 60}}
  short: {<<: *hybrid, top_k: 5}
  lexical: {<<: *hybrid, recall: [{index: words}], fuse: {use: rrf, with: *smooth}}
"""
    )
    config = validate(parse_yaml(pipelines, "f.yaml"), tiny, bare)
    assert config.pipelines["short"].recall == config.pipelines["default"].recall
    assert config.pipelines["short"].top_k == 5
    assert [arm.index for arm in config.pipelines["lexical"].recall] == ["words"]
    # One mistake in what is shared is one line: it is mended in one place.
    assert mistakes(("k: 60", "k: 0"), text=pipelines) == ["f.yaml:15:40: k: input should be greater than 0"]


words = st.sampled_from(
    [
        "version",
        "sources",
        "embedders",
        "indexes",
        "pipelines",
        "default",
        "use",
        "with",
        "chunk",
        "index",
        "weight",
        "required",
        "expand",
        "recall",
        "fuse",
        "rerank",
        "pin",
        "top_k",
        "candidate_k",
        "folder",
        "toy",
        "words",
        "vectors",
        "pieces",
        "whole",
        "rrf",
        "none",
        "brittle",
        "twice",
        "small",
        "meaning",
        "embedder",
        "path",
        "token",
        "proxy_password",
        "size",
        "overlap",
        "level",
        "k",
        "dimensions",
        "${X}",
        "${X:-words}",
        "[key]",
        "options",
    ]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**5000 % 10**40), 2**63, float("inf"), float("nan"), 1e308])
    | st.floats()
    | st.dates()
    | words
    | st.text(max_size=4)
)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words | st.integers() | st.booleans() | st.none() | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=25,
)
REMOVED = object()


def places(tree, path=()):
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


@st.composite
def spoilt(draw):
    """The good file with one to three of its values, anywhere, replaced, removed or given a neighbour."""
    tree = yaml.safe_load(GOOD)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([place for place in places(tree) if place]))
        parent = tree
        for step in path[:-1]:
            parent = parent[step]
        value = draw(st.just(REMOVED) | trees)
        if value is REMOVED:
            del parent[path[-1]]
        elif isinstance(parent, dict) and draw(st.booleans()):
            parent[draw(words | scalars)] = copy.deepcopy(value)
        else:
            parent[path[-1]] = copy.deepcopy(value)
    return tree


def checked(file, host, environment):
    """Validate: only a ConfigError may come, each of its lines with a place."""
    try:
        validate(file, host, environment)
    except ConfigError as caught:
        error = caught
    else:
        return
    assert all(re.match(r"f\.yaml:\d+:\d+: .", line) for line in error.message.splitlines())
    assert error.remedy


def read_and_checked(text, host, environment):
    """Parse and validate; of broken syntax the first place is told."""
    try:
        file = parse_yaml(text, "f.yaml")
    except ConfigError as caught:
        message = caught.message
    else:
        checked(file, host, environment)
        return
    assert re.match(r"f\.yaml:\d+:\d+: .", message)


@settings(max_examples=250, deadline=None)
@given(tree=spoilt() | trees)
def test_no_file_raises_anything_but_a_config_error(tiny, bare, tree):
    read_and_checked(yaml.safe_dump(tree, allow_unicode=True), tiny, bare)


@settings(max_examples=250, deadline=None)
@given(tree=spoilt() | trees)
def test_no_tree_raises_anything_but_a_config_error(tiny, bare, tree):
    """Trees that the reader would not give, such as keys that are no text, are refused too."""
    checked(YamlFile("f.yaml", tree), tiny, bare)


@settings(max_examples=150, deadline=None)
@given(
    line=st.sampled_from(GOOD.splitlines()),
    cut=st.integers(0, 60),
    put=st.sampled_from(["", ":", "{", "&a ", "*a", "\t", "- "]),
)
def test_a_file_with_a_spoilt_line_is_read_or_refused(tiny, bare, line, cut, put):
    read_and_checked(GOOD.replace(line, line[:cut] + put + line[cut:]), tiny, bare)
    read_and_checked(GOOD.replace(line, line[:cut] + put), tiny, bare)
