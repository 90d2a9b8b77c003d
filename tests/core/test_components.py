"""Options as a component receives them, and the fingerprint of what it stores."""

import os
import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from reqall.core.components import build_options, fingerprint, references
from reqall.core.environment import Environment
from reqall.core.errors import ConfigError, PluginError
from reqall.core.registration import ComponentConfig

pytest_plugins = ["tests.core.plugins_support"]

FOLDER = str(Path(__file__).with_name("distributions"))


@pytest.fixture
def build(tiny, tmp_path):
    def build(kind, use, options=None, **variables):
        config = ComponentConfig.model_validate({"use": use, "with": options or {}})
        environment = Environment(variables, tmp_path / ".env")
        return build_options(tiny.find(kind, use), config, environment, f"{kind} 'mine'")

    return build


def test_variables_are_expanded_in_what_is_given_and_in_defaults(build):
    options = build(
        "source",
        "folder",
        {"token": "${OTHER}", "headers": {"X-User": "${USER_NAME:-nobody}"}, "tags": ["a", "${TAG}"]},
        TINY_PATH="/data",
        OTHER="hunter2",
        TAG="b",
        TINY_PAGE_SIZE="7",
    )
    assert options.path == "/data"
    assert options.token.get_secret_value() == "hunter2"
    assert options.headers == {"X-User": "nobody"}
    assert options.tags == ["a", "b"]
    assert options.page_size == 7


def test_what_is_given_comes_before_the_variable_of_the_default(build):
    assert build("source", "folder", {"path": "/here"}, TINY_PATH="/data").path == "/here"


def test_all_variables_that_are_missing_are_named_at_once(build, tmp_path):
    with pytest.raises(ConfigError) as caught:
        build("source", "folder", {"token": "${OTHER}"})
    assert caught.value.message == "OTHER, TINY_PATH are not set, which source 'mine' needs for 'token', 'path'"
    assert caught.value.remedy == f"set it in the environment or in {tmp_path / '.env'}"
    with pytest.raises(ConfigError, match=r"^TINY_PATH is not set, which source 'mine' needs for 'path'\n"):
        build("source", "folder")


def test_a_bad_value_is_told_with_the_variable_it_comes_from(build):
    with pytest.raises(ConfigError) as caught:
        build("source", "folder", {"tags": "x"}, TINY_PATH="/data", TINY_PAGE_SIZE="many")
    assert caught.value.message == (
        "source 'mine': page_size: input should be a valid integer, unable to parse string as an integer"
        " (from the variable TINY_PAGE_SIZE); tags: must be a list (`[one, two]`)"
    )


def test_no_value_of_an_option_is_shown_not_even_in_a_traceback(build):
    secret = "hunter2"  # on a line of its own, as a traceback shows the lines of the call
    given = {"token": ["${SECRET}"], "proxy_password": "${SECRET}"}
    with pytest.raises(ConfigError) as caught:
        build("source", "folder", given, SECRET=secret, TINY_PATH="/")
    assert "token" in caught.value.message
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_plugin_whose_own_check_breaks_is_blamed(build):
    assert build("reranker", "brittle").level == 0
    with pytest.raises(PluginError) as caught:
        build("reranker", "brittle", {"level": 3})
    assert caught.value.message == (
        "reranker 'mine': the options of 'brittle' cannot be checked: its own code raises KeyError"
    )


def test_references_are_the_options_that_name_other_components(tiny):
    assert references(tiny.find("recaller", "vectors").options) == [("embedder", "embedder")]
    assert references(tiny.find("recaller", "words").options) == []


def toy_print(tiny, *identities, **options):
    registration = tiny.find("embedder", "toy")
    return fingerprint(registration, registration.options(**options), *identities)


def test_only_stored_options_make_another_fingerprint(tiny):
    assert toy_print(tiny, dimensions=8) == toy_print(tiny)
    assert toy_print(tiny, batch_size=64, key="another") == toy_print(tiny)
    assert toy_print(tiny, dimensions=9) != toy_print(tiny)
    assert toy_print(tiny, prefixes={"a"}) != toy_print(tiny)


def test_name_index_version_and_identities_make_another_fingerprint(tiny):
    registration = tiny.find("embedder", "toy")
    options = registration.options()
    prints = [
        fingerprint(registration, options),
        fingerprint(replace(registration, index_version=2), options),
        fingerprint(replace(registration, name="toy2"), options),
        fingerprint(registration, options, "model"),
        fingerprint(registration, options, "model", ""),
        fingerprint(registration, options, "mo", "del"),
    ]
    assert len(set(prints)) == len(prints)
    same = replace(registration, summary="other words", build=print, traits=frozenset({"unbounded"}))
    assert fingerprint(same, options) == prints[0]
    assert all(len(text) == 16 and int(text, 16) >= 0 for text in prints)


def test_a_fingerprint_is_the_same_in_every_process():
    """Sets of text have another order in each process; a changed fingerprint would rebuild the index."""
    code = (
        "from tiny_parts import register_embedders as r; from reqall.core.components import fingerprint;"
        "o = r()[0]; print(fingerprint(o, o.options(prefixes={'query', 'passage', 'title', 'text'})))"
    )
    root = Path(__file__).resolve().parents[2]
    seen = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([FOLDER, str(root)])}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1
