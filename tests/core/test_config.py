"""Reading YAML: positions, anchors, bounds, and the place of every mistake of syntax."""

import json
import re
import time
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall.app import PACKAGED
from reqall.core.config import MAX_DEPTH, MAX_VALUES, ConfigFile, check_structure, parse_yaml, read_yaml
from reqall.core.errors import ConfigError
from reqall.core.problems import Problem


def refused(text):
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "f.yaml")
    return caught.value


def test_plain_values_and_their_places():
    text = "version: 1\nsources:\n  jama: {use: jama, with: {pages: [1, 2.5, yes, null, 'x']}}\n"
    found = parse_yaml(text, "f.yaml")
    pages = ("sources", "jama", "with", "pages")
    assert found.tree == {
        "version": 1,
        "sources": {"jama": {"use": "jama", "with": {"pages": [1, 2.5, True, None, "x"]}}},
    }
    assert found.keys["version",] == (1, 1)
    assert found.values["version",] == (1, 10)
    line = text.splitlines()[2]
    assert found.keys[pages] == (3, line.index("pages") + 1)
    assert found.values[*pages, 4] == (3, line.index("'x'") + 1)
    assert found.values[()] == (1, 1)


def test_a_problem_stands_at_its_key_its_value_or_the_nearest_ancestor():
    found = parse_yaml("a:\n  b: {c: 1}\n", "f.yaml")
    assert found.position(Problem(("a", "b"), "", at_key=True)) == (2, 3)
    assert found.position(Problem(("a", "b"), "")) == (2, 6)
    assert found.position(Problem(("a", "b", "x", 3), "")) == (2, 6)
    assert found.position(Problem(("x",), "")) == (1, 1)


def test_problems_are_raised_once_in_the_order_of_the_file():
    found = parse_yaml("a: 1\nb: 2\n", "f.yaml")
    problems = [Problem(("b",), "second"), Problem(("a",), "first"), Problem(("b",), "second")]
    with pytest.raises(ConfigError) as caught:
        found.raise_for(problems, "mend")
    assert str(caught.value) == "f.yaml:1:4: first\nf.yaml:2:4: second\nmend"
    found.raise_for([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml:1:1: the file is empty"),
        ("# only a comment\n\n", "f.yaml:1:1: the file is empty"),
        ("a:\n\tb: 1\n", "f.yaml:2:1: not valid YAML: found character '\\t' that cannot start any token"),
        ("a:\n  b: 1\n c: 2\n", "f.yaml:3:2: not valid YAML: expected <block end>, but found '<block mapping start>'"),
        ("a: [1, 2\nb: 3\n", "f.yaml:2:2: not valid YAML: expected ',' or ']', but got ':'"),
        ("a: 'x\n", "f.yaml:2:1: not valid YAML: found unexpected end of stream"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: not valid YAML: expected a single document in the stream but found another"),
        ("a: *b\n", "f.yaml:1:4: not valid YAML: found undefined alias 'b'"),
        ("a: 1\nb: x\x07\n", "f.yaml:2:5: the character U+0007 cannot stand in YAML"),
        ("\x00", "f.yaml:1:1: the character U+0000 cannot stand in YAML"),
        ('a: "\\U00110000"\n', "f.yaml:1:7: not valid YAML: a number or an escape out of range"),
        ('a: "\\UFFFFFFFF"\n', "f.yaml:1:7: not valid YAML: a number or an escape out of range"),
        ("? [a, b]\n: c\n", "f.yaml:1:3: a key must be a word, not a list or a mapping"),
        ("a: !secret x\n", "f.yaml:1:4: the tag '!secret' cannot be used here"),
        ("a: !!python/object:os.system {}\n", "f.yaml:1:4: the tag 'tag:yaml.org,2002:python/object:os.system'"),
        ("a: !!binary aGk=\n", "f.yaml:1:4: the tag 'tag:yaml.org,2002:binary' cannot be used here"),
        ("a: 2001-99-99\n", "f.yaml:1:4: looks like a value of type timestamp but is none"),
        ("a: !!int ''\n", "f.yaml:1:4: looks like a value of type int but is none"),
        ("a: !!bool perhaps\n", "f.yaml:1:4: looks like a value of type bool but is none"),
        ("a: !!timestamp soon\n", "f.yaml:1:4: looks like a value of type timestamp but is none"),
        (f"a: {'9' * 5000}\n", "f.yaml:1:4: looks like a value of type int but is none"),
        (f"a: {'9' * 30}\n", "f.yaml:1:4: the number is too large"),
        (f"a: 0x{'f' * 5000}\n", "f.yaml:1:4: the number is too large"),
        (f"a: -1{':59' * 200}.5\n", "f.yaml:1:4: looks like a value of type float but is none"),
        ("<<: 3\na: 1\n", "f.yaml:1:5: `<<` merges mappings only"),
        ("<<: [{a: 1}, 3]\n", "f.yaml:1:14: `<<` merges mappings only"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text, message):
    error = refused(text)
    assert error.message.startswith(message)
    assert len(error.message) < 200
    assert error.remedy


def test_the_remedy_fits_the_usual_mistakes():
    assert refused("a:\n\tb: 1\n").remedy == "indent with spaces: YAML allows no tabs there"
    assert refused("a: {url: ${URL}}\n").remedy == "inside { } put a variable in quotes: {url: '${VARIABLE}'}"


@pytest.mark.parametrize("text", ["[" * 20_000, "{a: " * 20_000, "- " * 5_000, "? " * 5_000])
def test_deep_nesting_is_refused_quickly(text):
    assert re.match(r"f\.yaml:1:\d+: .*nested", refused(text).message)


@pytest.mark.parametrize(
    "text",
    ["a: &a [*a]\n", "&a {b: *a}\n", "&a [*a, *a, *a]\n", "a: &a {<<: *a, b: 1}\n", "a: &a {b: &b {<<: [*a, *b]}}\n"],
)
def test_an_anchor_that_holds_itself_is_refused(text):
    message = refused(text).message
    assert f"nested more than {MAX_DEPTH} deep" in message or f"more than {MAX_VALUES} values" in message


def bomb(line):
    """Ten levels, each of which names the one before ten times."""
    return "\n".join(line.format(here=level, below=", ".join([f"*a{level - 1}"] * 10)) for level in range(1, 11))


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x, x, x]\n" + bomb("a{here}: &a{here} [{below}]"),
        "a0: &a0 {x: 1, y: 2}\n" + bomb("a{here}: &a{here} {{<<: [{below}]}}"),
        f"a: [{'x, ' * 30_000}]",
    ],
)
def test_a_small_file_that_stands_for_billions_of_values_is_refused_quickly(text):
    start = time.perf_counter()
    error = refused(text)
    assert time.perf_counter() - start < 20
    assert f"the file holds more than {MAX_VALUES} values, aliases expanded" in error.message


def test_nesting_up_to_the_bound_is_read():
    depth = MAX_DEPTH - 1
    found = parse_yaml("a: " + "[" * depth + "]" * depth, "f.yaml")
    assert ("a", *[0] * (depth - 1)) in found.values


def test_anchors_aliases_and_merge_keys_are_those_of_yaml():
    text = """
    one: &one {x: 1, y: 2}
    two: &two {y: 3, z: 4}
    alias: *one
    merged: {<<: *one, y: 5}
    after: {y: 5, <<: *one}
    both: {<<: [*one, *two], w: 0}
    nested: &nested {<<: *two, v: 6}
    again: {<<: *nested}
    quoted: {'<<': 1}
    """
    found = parse_yaml(text, "f.yaml")
    # The plain loader gives a quoted << no special meaning either.
    assert found.tree == yaml.safe_load(text)
    assert found.problems == []
    assert found.tree["both"] == {"x": 1, "y": 2, "z": 4, "w": 0}


def test_what_is_merged_stands_where_it_is_written():
    found = parse_yaml("a: &a {x: 1}\nb: {<<: *a, y: 2}\n", "f.yaml")
    assert found.keys["b", "x"] == (1, 8)
    assert found.values["b", "x"] == (1, 11)
    assert found.keys["b", "y"] == (2, 13)


def test_a_key_that_stands_twice_is_a_problem_of_its_own():
    found = parse_yaml("a: 1\nb: {c: 1, 'c': 2}\n1: x\n'1': y\n", "f.yaml")
    with pytest.raises(ConfigError) as caught:
        found.raise_for(found.problems)
    assert str(caught.value) == "f.yaml:2:11: 'c' stands here twice\nf.yaml:4:1: '1' stands here twice"


def test_every_key_is_text():
    """A name such as 3, no or 2026-03-01 is a name, whatever YAML makes of it elsewhere."""
    assert parse_yaml("{3: a, no: b, ~: c, 1.50: d, 2026-03-01: e, =: f}", "f.yaml").tree == {
        "3": "a", "no": "b", "~": "c", "1.50": "d", "2026-03-01": "e", "=": "f",
    }  # fmt: skip


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path):
    file = tmp_path / "f.yaml"
    file.write_bytes(b"\xef\xbb\xbfversion: 1\r\nsources: {}\r\n")
    found = read_yaml(file)
    assert found.tree == {"version": 1, "sources": {}}
    assert found.keys["version",] == (1, 1)
    assert found.keys["sources",] == (2, 1)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"a: \xfc\n")
    for path, message in [
        (latin, f"{latin}: not UTF-8 (byte 3)"),
        (tmp_path / "nowhere.yaml", f"{tmp_path / 'nowhere.yaml'}: no such file"),
        (tmp_path, f"{tmp_path}: cannot be read (IsADirectoryError)"),
        (tmp_path / ("x" * 300), f"{tmp_path / ('x' * 300)}: cannot be read (OSError)"),
        (Path("a\0b"), "a\0b: cannot be read (ValueError)"),
    ]:
        with pytest.raises(ConfigError) as caught:
            read_yaml(path)
        assert caught.value.message == message
        assert caught.value.remedy


GOOD = {
    "version": 1,
    "indexes": {"words": {"use": "words"}},
    "pipelines": {"default": {"recall": [{"index": "words"}]}},
}


def complaints(text):
    config, problems = check_structure(parse_yaml(text, "f.yaml"))
    assert (config is None) == bool(problems) or problems
    return [problem.message for problem in problems]


def with_pipeline(**fields):
    return yaml.safe_dump({**GOOD, "pipelines": {"default": {**GOOD["pipelines"]["default"], **fields}}})


def test_a_sound_structure_has_no_problem_and_its_defaults():
    config, problems = check_structure(parse_yaml(yaml.safe_dump(GOOD), "f.yaml"))
    assert problems == []
    pipeline = config.pipelines["default"]
    assert (pipeline.top_k, pipeline.candidate_k, pipeline.pin, pipeline.fuse.use) == (50, 100, True, "rrf")
    assert config.indexes["words"].chunk.use == "whole"


@pytest.mark.parametrize("text", ["---\n", "[]", "- a: 1", "version", "3"])
def test_a_file_that_is_no_mapping_is_told_in_plain_words(text):
    assert complaints(text) == ["the file must be a mapping that starts with `version: 1`"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"top_k": 0}, "top_k: input should be greater than or equal to 1"),
        ({"top_k": 51, "candidate_k": 60}, "top_k: input should be less than or equal to 50"),
        ({"candidate_k": 501}, "candidate_k: input should be less than or equal to 500"),
        ({"top_k": 20, "candidate_k": 10}, "top_k (20) is larger than candidate_k (10): the pool cannot fill it"),
        ({"candidate_k": 10}, "top_k (50) is larger than candidate_k (10): the pool cannot fill it"),
        ({"top_k": True}, "top_k: input should be a valid integer"),
        ({"top_k": "many"}, "top_k: input should be a valid integer"),
        ({"top_k": "${TOP_K}"}, "top_k: a ${VARIABLE} can stand only among the options under `with`"),
        ({"pin": "never"}, "pin: input should be a valid boolean"),
        ({"recall": "words"}, "recall: must be a list (`[one, two]`)"),
        ({"recall": []}, "recall: list should have at least 1 item after validation, not 0"),
        ({"recall": ["words"]}, "entry 1: must be a mapping (`name: value`)"),
        ({"recall": [{"index": 3}]}, "index: must be text; put it in quotes"),
        ({"recall": [{"index": "words", "weight": -1}]}, "weight: input should be greater than or equal to 0"),
        ({"recall": [{"index": "words", "weight": float("inf")}]}, "weight: input should be a finite number"),
        ({"recall": [{"index": "words", "weight": float("nan")}]}, "weight: input should be a finite number"),
        ({"recall": [{"index": "words", "wieght": 1}]}, "unknown key 'wieght'; did you mean 'weight'?"),
        ({"fuse": "rrf"}, "fuse: must be a mapping (`name: value`)"),
        ({"fuse": None}, "fuse: is empty; write something under it, or leave it out"),
        ({"fuse": {"use": ["rrf"]}}, "use: must be text"),
        ({"fuse": {"with": {}}}, "'use' is missing"),
        ({"fuse": {"use": "rrf", "with": 3}}, "with: must be a mapping (`name: value`)"),
        ({"fuse": {"use": "rrf", "options": {}}}, "unknown key 'options'"),
        ({"reranker": {"use": "none"}}, "unknown key 'reranker'; did you mean 'rerank'?"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(fields, message):
    assert complaints(with_pipeline(**fields)) == [message]


@pytest.mark.parametrize("name", ["a b", "a/b", "../up", "a:b", "a,b", "", "-a", ".hidden", "größe", "a\n"])
@pytest.mark.parametrize("section", ["sources", "embedders", "indexes", "pipelines"])
def test_a_name_that_could_be_no_folder_or_id_is_refused(section, name):
    tree = json.loads(json.dumps(GOOD))
    tree.setdefault(section, {})[name] = {"use": "x"} if section != "pipelines" else GOOD["pipelines"]["default"]
    (message,) = complaints(yaml.safe_dump(tree))
    assert message.startswith(f"{name!r} cannot be a name: a name begins with a letter or digit")


def test_the_packaged_file_fits_the_schema_and_the_schema_refuses_what_the_check_refuses():
    schema = json.loads(json.dumps(ConfigFile.model_json_schema(by_alias=True)))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    packaged = yaml.safe_load(PACKAGED.read_text(encoding="utf-8"))
    validator.validate(packaged)
    assert check_structure(read_yaml(PACKAGED))[1] == []
    for wrong in (
        {**packaged, "pipelnes": {}},
        {**packaged, "version": 2},
        {**packaged, "pipelines": {}},
        {**packaged, "sources": {"a": {"use": "jama", "options": {}}}},
        {**packaged, "pipelines": {"default": {"recall": [{"index": "words"}], "top_k": 51}}},
        {name: value for name, value in packaged.items() if name != "indexes"},
    ):
        assert not validator.is_valid(wrong)
        assert complaints(yaml.safe_dump(wrong))


# Text of the characters that mean something to YAML, so that most of it is nearly YAML.
yaml_text = st.text(st.sampled_from("ab1-:,[]{}&*!|>'\"%@`#?<=~. \n\t\\x0_$\ufeff\x85\ud800")) | st.text()


@settings(max_examples=400, deadline=None)
@given(yaml_text)
def test_no_text_raises_anything_but_a_config_error(text):
    try:
        found = parse_yaml(text, "f.yaml")
    except ConfigError as caught:
        message = caught.message
    else:
        lines = len(re.split("\r\n|[\n\r\x85\u2028\u2029]", text))
        assert all(1 <= line <= lines and column >= 1 for line, column in found.values.values())
        check_structure(found)
        return
    assert message.startswith("f.yaml:")


@settings(max_examples=100, deadline=None)
@given(st.binary())
def test_no_bytes_raise_anything_but_a_config_error(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "bytes.yaml"
    file.write_bytes(content)
    try:
        read_yaml(file)
    except ConfigError as caught:
        message = caught.message
    else:
        return
    assert message.startswith(f"{file}:")


names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=5)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.text(st.characters(codec="utf-8", categories=["L", "Zs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(plain, st.booleans())
def test_what_pyyaml_writes_is_read_as_pyyaml_reads_it(tree, flow):
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True)
    found = parse_yaml(text, "f.yaml")
    assert found.tree == tree
    assert found.problems == []
