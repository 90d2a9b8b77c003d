"""The schema for editors: it agrees with the check of a file, whatever is installed."""

import sys

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall.app import BUILT_INS, PACKAGED
from reqall.core.config import parse_yaml
from reqall.core.environment import Environment
from reqall.core.errors import ConfigError
from reqall.core.host import PluginHost
from reqall.core.registration import KINDS
from reqall.core.schema import DRAFT, file_schema
from reqall.core.validate import validate

HOST = PluginHost(BUILT_INS, installed=False)
SCHEMA = file_schema(HOST)

ODD = """
from collections.abc import Callable
from pydantic import BaseModel, Field, SecretStr
from reqall import PluginOptions, Registration, hookimpl

class Inner(BaseModel):
    depth: int = Field(3, description="How deep.")
    key: SecretStr | None = None

class Options(PluginOptions):
    inner: Inner = Inner()
    by_name: dict[str, Inner] = {}
    keys: list[SecretStr] = []
    pair: tuple[int, str] = (1, "a")
    tags: set[int] = {1}
    open_: object = Field(object(), alias="open")
    key: SecretStr = SecretStr("${ODD_KEY}")
    fixed: SecretStr | None = SecretStr("hidden")

class Unknown(PluginOptions):
    call: Callable[[int], int] = abs

@hookimpl
def register_fusers():
    return [Registration("odd/~%s", "strange", lambda options, services: None, Options),
            Registration("unknown", "no schema", lambda options, services: None, Unknown)]
"""


def validator(schema=SCHEMA):
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def file(**changes):
    base = {
        "version": 1,
        "indexes": {"w": {"use": "sqlite_fts5"}},
        "pipelines": {"default": {"recall": [{"index": "w"}]}},
    }
    return base | changes


def place_of(kind, component):
    """A file in which the component stands where its kind belongs."""
    stage = {"expander": "expand", "fuser": "fuse", "reranker": "rerank"}.get(kind)
    if stage:
        return file(pipelines={"default": {"recall": [{"index": "w"}], stage: component}})
    if kind == "chunker":
        return file(indexes={"w": {"use": "sqlite_fts5", "chunk": component}})
    if kind == "recaller":
        return file(indexes={"w": {"chunk": {"use": "sentences"}, **component}})
    return file(**{f"{kind}s": {"x": component}})


def is_accepted(tree, tmp_path, host=HOST):
    try:
        validate(parse_yaml(yaml.safe_dump(tree), "f.yaml"), host, Environment({}, tmp_path / ".env"))
    except ConfigError:
        return False
    return True


@pytest.fixture
def odd_host(tmp_path, monkeypatch):
    (tmp_path / "odd_plugin.py").write_text(ODD, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    # A second plugin of the same class names.
    (tmp_path / "even_plugin.py").write_text(
        ODD.replace("odd/~%s", "even").replace("unknown", "unsaid").replace("depth: int", "depth: bool"),
        encoding="utf-8",
    )
    yield PluginHost([*BUILT_INS, "odd_plugin", "even_plugin"], installed=False)
    sys.modules.pop("odd_plugin")
    sys.modules.pop("even_plugin")


def test_the_packaged_file_fits():
    assert SCHEMA["$schema"] == DRAFT
    validator().validate(yaml.safe_load(PACKAGED.read_text(encoding="utf-8")))


@pytest.mark.parametrize("kind", KINDS)
def test_each_use_lists_what_is_installed_with_its_summary(kind):
    use = SCHEMA["$defs"][kind]["properties"]["use"]
    offers = HOST.offers(kind)
    assert use["enum"] == [offer.registration.name for offer in offers]
    for offer, told in zip(offers, use["enumDescriptions"], strict=True):
        assert offer.registration.summary in told
        assert offer.plugin.distribution in told


@pytest.mark.parametrize("offer", HOST.offers(), ids=lambda offer: "-".join(offer.key))
def test_each_option_is_described_and_may_be_a_variable(offer):
    (options,) = [
        choice["then"]["properties"]["with"]
        for choice in SCHEMA["$defs"][offer.kind]["allOf"]
        if choice["if"]["properties"]["use"]["const"] == offer.registration.name
    ]
    assert list(options.get("properties", {})) == list(offer.registration.options.model_fields)
    given = dict.fromkeys(options.get("properties", {}), "${ANY}")
    for told in options.get("properties", {}).values():
        assert told["description"]
    component = {"use": offer.registration.name, "with": given}
    assert validator().is_valid(place_of(offer.kind, component))
    component["with"]["no_such_option"] = 1
    assert not validator().is_valid(place_of(offer.kind, component))


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        (file(indexes={"w": {"use": "sqlite_fts"}}), ["indexes", "w", "use"]),
        (file(indexes={"w": {"use": "rrf"}}), ["indexes", "w", "use"]),
        (file(indexes={"w": {"use": "sqlite_fts5", "with": {"key_wieght": 1}}}), ["indexes", "w", "with"]),
        (file(indexes={"w": {"use": "sqlite_fts5", "with": {"k": 60}}}), ["indexes", "w", "with"]),
        (file(indexes={"w": {"use": "sqlite_vec"}}), ["indexes", "w"]),
        (file(indexes={"w": {"use": "sqlite_vec", "with": {}}}), ["indexes", "w", "with"]),
        (file(indexes={"w": {"use": "sqlite_fts5", "chunk": {"use": "rrf"}}}), ["indexes", "w", "chunk", "use"]),
        (file(indexes={"a b": {"use": "sqlite_fts5"}}), ["indexes"]),
        (place_of("fuser", {"use": "rrf", "with": {"k": 0}}), ["pipelines", "default", "fuse", "with", "k"]),
        (place_of("fuser", {"use": "rrf", "with": {"k": "x"}}), ["pipelines", "default", "fuse", "with", "k"]),
        (place_of("fuser", {"use": "rrf", "size": 1}), ["pipelines", "default", "fuse"]),
        (place_of("fuser", {"use": "none"}), ["pipelines", "default", "fuse", "use"]),
        (place_of("reranker", {"use": "rrf"}), ["pipelines", "default", "rerank", "use"]),
        (place_of("expander", {"use": "sentences"}), ["pipelines", "default", "expand"]),
        (place_of("embedder", {"use": "jama"}), ["embedders", "x", "use"]),
        (
            place_of("source", {"use": "jama", "with": {"client_secret": "written down"}}),
            ["sources", "x", "with", "client_secret"],
        ),
        (
            place_of("source", {"use": "jama", "with": {"client_secret": "${A:-written down}"}}),
            ["sources", "x", "with", "client_secret"],
        ),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, list) else "",
)
def test_what_the_check_refuses_is_marked_where_it_stands(tree, path, tmp_path):
    found = list(validator().iter_errors(tree))
    assert [list(error.absolute_path) for error in found] == [path]
    assert not is_accepted(tree, tmp_path)


@pytest.mark.parametrize(
    "tree",
    [
        place_of("fuser", {"use": "rrf", "with": {"k": "${K:-60}"}, "timeout": 3}),
        place_of("expander", None),
        place_of("source", {"use": "jama", "with": {"client_secret": "${MY_SECRET}", "page_size": 20}}),
        place_of("source", {"use": "folder", "with": {"path": "docs", "include": ["${ONE}", "b/**"]}}),
        place_of("chunker", {"use": "sentences", "with": {"size": 64, "overlap": 0}}),
    ],
)
def test_what_the_check_takes_is_not_marked(tree, tmp_path):
    assert [error.message for error in validator().iter_errors(tree)] == []
    assert is_accepted(tree, tmp_path)


OPTIONS = [(offer, name) for offer in HOST.offers() for name in offer.registration.options.model_fields]
NUMBERS = st.integers(-(10**6), 10**6) | st.integers(-3, 130) | st.sampled_from([0.0, 0.5, 1.0, -0.5, 30.5, 1e9])
OTHERS = st.none() | st.booleans() | st.lists(NUMBERS, max_size=2) | st.dictionaries(st.just("a"), NUMBERS, max_size=1)
BESIDE = {
    "overlap": {"size": 10**12},
    "size": {"overlap": 0},
    "lower_bound": {"normalise": "theoretical"},
}
"""What lets any value of an option pass a rule about two options at once, which no schema knows."""


@settings(max_examples=300)
@given(option=st.sampled_from(OPTIONS), value=NUMBERS | OTHERS)
def test_values_are_judged_as_the_check_judges_them(tmp_path_factory, option, value):
    offer, name = option
    fields = offer.registration.options.model_fields
    required = {each: "${ANY}" for each, info in fields.items() if info.is_required()}
    component = {"use": offer.registration.name, "with": {**required, **BESIDE.get(name, {}), name: value}}
    tree = place_of(offer.kind, component)
    is_valid, accepted = validator().is_valid(tree), is_accepted(tree, tmp_path_factory.getbasetemp())
    # The check takes 0 and 1 for false and true, and the other way round: an editor marks it.
    is_mixed_up = isinstance(value, bool) != (fields[name].annotation is bool)
    assert is_valid == accepted or (accepted and is_mixed_up), (name, value)


def test_plugins_of_others_are_in_it(odd_host, tmp_path):
    schema = file_schema(odd_host)
    judge = validator(schema)
    for use, depth, wrong in (("odd/~%s", 7, True), ("even", True, 7)):
        good = {
            "inner": {"depth": depth, "key": "${A}"},
            "by_name": {"a": {"depth": "${D}"}},
            "keys": ["${B}"],
            "open": 1,
        }
        assert [e.message for e in judge.iter_errors(place_of("fuser", {"use": use, "with": good}))] == []
        assert is_accepted(place_of("fuser", {"use": use, "with": good}), tmp_path, odd_host)
        for bad in (
            {"inner": {"depth": wrong}},
            {"inner": {"key": "plain"}},
            {"by_name": {"a": {"depth": []}}},
            {"keys": ["plain"]},
            {"key": "plain"},
            {"tags": ["a"]},
        ):
            assert not judge.is_valid(place_of("fuser", {"use": use, "with": bad})), bad
    text = str(schema)
    assert "hidden" not in text
    assert "***" not in text
    assert "'${ODD_KEY}'" in text


def test_options_without_a_schema_may_be_anything(odd_host):
    judge = validator(file_schema(odd_host))
    assert judge.is_valid(place_of("fuser", {"use": "unknown", "with": {"call": 1, "other": 2}}))
    assert not judge.is_valid(place_of("fuser", {"use": "unknown", "with": 3}))
