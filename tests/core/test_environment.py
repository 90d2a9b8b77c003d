"""Settings: process before file before default, and where each came from."""

import os
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.environment import (
    Environment,
    MissingVariableError,
    config_folder,
    data_folder,
    has_variables,
    is_reference,
    variable_names,
)
from reqall.core.errors import ConfigError


@pytest.fixture
def environment(tmp_path):
    def environment(process=None, text=None, encoding="utf-8"):
        file = tmp_path / ".env"
        if text is not None:
            file.write_bytes(text.encode(encoding))
        return Environment(process or {}, file)

    return environment


def test_process_comes_before_file_before_default(environment):
    settings = environment({"A": "process"}, "A=file\nB=file\n")
    assert settings.expand("${A:-default} ${B:-default} ${C:-default}") == "process file default"


def test_the_origin_of_a_value_is_told(environment):
    settings = environment({"A": "process"}, "A=file\nB=file\n")
    assert settings.origin("A") == "environment"
    assert settings.origin("B") == str(settings.file)
    assert settings.origin("C") == "not set"


def test_an_empty_value_is_not_set(environment):
    settings = environment({"A": "", "B": ""}, "A=file\nC=\nD\n")
    assert dict(settings) == {"A": "file"}
    assert settings.origin("B") == settings.origin("C") == settings.origin("D") == "not set"
    assert settings.expand("${B:-default}${C:-}") == "default"


def test_it_is_a_mapping_of_both(environment):
    settings = environment({"A": "1", "B": "2"}, "B=3\nC=4\n")
    assert dict(settings) == {"A": "1", "B": "2", "C": "4"}
    assert len(settings) == 3
    with pytest.raises(KeyError):
        settings["D"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=plain", "plain"),
        ("export A=plain", "plain"),
        ("A='with space # and sign'", "with space # and sign"),
        ("A=plain # comment", "plain"),
        ("A=${HOME}", "${HOME}"),
        ("A=汉字", "汉字"),
        ("A=1\r\nB=2\r\n", "1"),
        ("A=first\nA=last", "last"),
    ],
)
def test_forms_of_a_line(environment, line, value):
    assert environment(text=line)["A"] == value


def test_a_byte_order_mark_is_no_part_of_the_first_name(environment):
    assert environment(text="A=1\n", encoding="utf-8-sig")["A"] == "1"


def test_a_value_of_the_file_is_not_expanded_again(environment):
    assert environment({"B": "b"}, "A=${B}").expand("${A}") == "${B}"


def test_a_missing_file_and_a_folder_hold_nothing(tmp_path):
    assert dict(Environment({}, tmp_path / "nowhere" / ".env")) == {}
    assert dict(Environment({}, tmp_path)) == {}


def test_a_file_that_is_not_utf8_is_named(environment, tmp_path):
    with pytest.raises(ConfigError, match=r"\.env cannot be read: UnicodeDecodeError") as caught:
        environment(text="A=ü", encoding="latin-1")
    assert str(tmp_path) in caught.value.message
    assert caught.value.remedy == "make it a readable UTF-8 file"


def test_a_file_that_the_system_refuses_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: OSError"):
        Environment({}, tmp_path / ("x" * 300))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_file_without_permission_is_named(environment, tmp_path):
    (tmp_path / ".env").touch(mode=0)
    with pytest.raises(ConfigError, match="cannot be read: PermissionError"):
        environment()


def test_lists_and_mappings_are_expanded_inside(environment):
    value = {"a": ["${A}", 1, None, {"b": "x${A}y"}], "${A}": True}
    assert environment({"A": "1"}).expand(value) == {"a": ["1", 1, None, {"b": "x1y"}], "${A}": True}


@pytest.mark.parametrize("text", ["$A", "${}", "${1A}", "${A-b}", "${A", "$${", "{A}", "a}b"])
def test_what_is_no_variable_stays(environment, text):
    assert environment({"A": "1"}).expand(text) == text


def test_a_missing_variable_is_named_with_the_places_to_set_it(environment):
    settings = environment()
    with pytest.raises(MissingVariableError) as caught:
        settings.expand(["fine", {"key": "x ${ABSENT}"}])
    assert caught.value.name == "ABSENT"
    assert caught.value.message == "ABSENT is not set"
    assert caught.value.remedy == f"set it in the environment or in {settings.file}"


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ("${A}", True),
        ("${A:-}", True),
        ("${A:-hunter2}", False),
        ("x${A}", False),
        ("${A}${B}", False),
        ("${A}\n", False),
        ("hunter2", False),
        (None, False),
        (3, False),
    ],
)
def test_a_reference_is_nothing_but_a_variable(value, reference):
    assert is_reference(value) is reference


def test_variables_of_a_value_are_listed():
    value = {"a": ["${A} ${B:-x}", 3], "b": {"c": "${C}"}, "d": None}
    assert variable_names(value) == ["A", "B", "C"]
    assert has_variables("x${A}")
    assert not has_variables("$A")
    assert not has_variables(["${A}"])


names = st.text(string.ascii_letters + "_", min_size=1, max_size=8)


@given(names, st.text(st.characters(exclude_characters="}\x00", exclude_categories=["Cs"])))
def test_any_default_without_a_brace_comes_back_as_it_is(tmp_path_factory, name, default):
    settings = Environment({}, tmp_path_factory.getbasetemp() / "nowhere")
    assert settings.expand(f"${{{name}:-{default}}}") == default


@given(st.dictionaries(names, st.text(max_size=8)), st.dictionaries(names, st.from_regex(r"\A[a-z]{0,4}\Z")))
def test_precedence_holds_for_every_name(tmp_path_factory, process, file):
    path = tmp_path_factory.getbasetemp() / "precedence.env"
    path.write_text("".join(f"{name}={value}\n" for name, value in file.items()), encoding="utf-8")
    settings = Environment(process, path)
    for name in {*process, *file}:
        assert settings.get(name) == (process.get(name) or file.get(name) or None)
        assert (settings.origin(name) == "not set") is (name not in settings)


def test_one_variable_moves_both_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("REQALL_HOME", raising=False)
    assert config_folder().name == data_folder().name == "reqall"
    monkeypatch.setenv("REQALL_HOME", str(tmp_path))
    assert config_folder() == data_folder() == tmp_path
    (tmp_path / ".env").write_text("ONLY_IN_THIS_FILE=1\n")
    assert Environment()["ONLY_IN_THIS_FILE"] == "1"


def test_the_working_directory_is_never_read(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text("ONLY_IN_THIS_FILE=1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REQALL_HOME", str(tmp_path / "home"))
    assert "ONLY_IN_THIS_FILE" not in Environment()
