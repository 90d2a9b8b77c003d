"""The budget check finds each kind of broken rule in a small tree, and nothing in a sound one."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "budgets.py"
SOUND = '"""A module."""\n\n\ndef run() -> None:\n    """Run."""\n'


def budgets(root):
    done = subprocess.run([sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path):
    def put(name, text):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return tmp_path

    return put


def function(lines):
    """A module whose function `long` has that many lines."""
    body = "    x = 1\n" * (lines - 2)
    return f'"""A module."""\n\n\n@cached\ndef long():\n    """Do."""\n{body}'


def module(lines):
    return '"""A module."""\n' + "x = 1\n" * (lines - 1)


def test_a_sound_tree_passes_in_silence(tree):
    for folder in ("reqall", "scripts", "examples/plugin/src"):
        root = tree(f"{folder}/ranking.py", SOUND)
    assert budgets(root) == (0, [])


@pytest.mark.parametrize("folder", ["reqall/core", "scripts", "examples/plugin/src"])
def test_every_folder_of_the_house_is_checked(tree, folder):
    assert budgets(tree(f"{folder}/ranking.py", "")) == (1, [f"{folder}/ranking.py:1 module without a docstring"])


def test_other_and_hidden_folders_are_not_checked(tree):
    tree("reqall/ranking.py", SOUND)
    tree("build/ranking.py", "")
    assert budgets(tree("examples/.venv/lib/utils.py", "")) == (0, [])


def test_a_root_without_any_file_fails(tmp_path):
    code, lines = budgets(tmp_path)
    assert code == 1
    assert "no Python file under reqall" in lines[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (module(250), []),
        (module(251), ["reqall/a.py:1 warning: file has 251 lines, more than 250"]),
        (module(400), ["reqall/a.py:1 warning: file has 400 lines, more than 250"]),
        (module(401), ["reqall/a.py:1 file has 401 lines, more than 400"]),
        (function(40), []),
        (function(41), ["reqall/a.py:5 warning: function 'long' has 41 lines, more than 40"]),
        (function(60), ["reqall/a.py:5 warning: function 'long' has 60 lines, more than 40"]),
        (function(61), ["reqall/a.py:5 function 'long' has 61 lines, more than 60"]),
        (function(61).replace("def", "async def"), ["reqall/a.py:5 function 'long' has 61 lines, more than 60"]),
    ],
)
def test_lengths_first_warn_then_fail(tree, text, expected):
    failed = any("warning" not in line for line in expected)
    assert budgets(tree("reqall/a.py", text)) == (int(failed), expected)


def test_a_private_method_has_a_budget_too(tree):
    body = "        x = 1\n" * 61
    text = f'"""A module."""\n\n\nclass _A:\n    def _long(self):\n{body}'
    assert budgets(tree("reqall/a.py", text)) == (1, ["reqall/a.py:5 function '_long' has 62 lines, more than 60"])


@pytest.mark.parametrize("stem", ["utils", "helpers", "manager", "base", "misc", "_utils"])
@pytest.mark.parametrize("form", ["reqall/{}.py", "reqall/core/{}.py", "reqall/{}/ranking.py"])
def test_a_name_that_says_nothing_fails(tree, stem, form):
    name = form.format(stem)
    code, lines = budgets(tree(name, SOUND))
    assert code == 1
    assert lines == [f"{name}:1 the name {stem!r} says nothing: name the module after what it holds"]


def test_a_name_that_only_contains_such_a_word_passes(tree):
    assert budgets(tree("reqall/database.py", SOUND)) == (0, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n", "1 module without a docstring"),
        ('"""A."""\nclass A:\n    x = 1\n', "2 class 'A' without a docstring"),
        ('"""A."""\ndef run(): ...\n', "2 function 'run' without a docstring"),
        ('"""A."""\nasync def run(): ...\n', "2 function 'run' without a docstring"),
        ('"""A."""\nif x:\n    def run(): ...\n', "3 function 'run' without a docstring"),
        ('"""A."""\nclass A:\n    """A."""\n    def run(self): ...\n', "4 function 'run' without a docstring"),
        (
            '"""A."""\nclass A:\n    """A."""\n    class B:\n        """B."""\n        @x\n        def x(self): ...\n',
            "7 function 'x' without a docstring",
        ),
    ],
)
def test_a_public_name_without_a_docstring_fails(tree, text, expected):
    assert budgets(tree("reqall/a.py", text)) == (1, [f"reqall/a.py:{expected}"])


@pytest.mark.parametrize(
    "text",
    [
        '"""A."""\ndef _run(): ...\n',
        '"""A."""\nclass _A:\n    def run(self): ...\n',
        '"""A."""\nclass A:\n    """A."""\n    def __len__(self): ...\n',
        '"""A."""\n@typing.overload\ndef run(): ...\n',
        '"""A."""\nclass A:\n    """A."""\n    @x.setter\n    def x(self, x): ...\n',
        '"""A."""\ndef run():\n    """Run."""\n    def inner(): ...\n    class Inner: ...\n',
    ],
)
def test_private_names_and_those_documented_elsewhere_need_none(tree, text):
    assert budgets(tree("reqall/a.py", text)) == (0, [])


def test_a_private_module_and_tests_need_no_docstring(tree):
    tree("reqall/_ranking.py", "def run(): ...\n")
    tree("examples/plugin/tests/shared.py", "def run(): ...\n")
    tree("examples/plugin/conftest.py", "def run(): ...\n")
    assert budgets(tree("examples/plugin/test_a.py", "def test_a(): ...\n")) == (0, [])


def test_tests_have_budgets_too(tree):
    assert budgets(tree("examples/plugin/tests/test_a.py", "x = 1\n" * 401))[0] == 1


def test_a_file_that_does_not_parse_fails(tree):
    code, lines = budgets(tree("reqall/a.py", '"""A."""\n\ndef run(:\n'))
    assert code == 1
    assert lines[0].startswith("reqall/a.py:3 does not parse: ")


def test_all_findings_are_reported_in_one_go(tree):
    tree("reqall/a.py", "")
    code, lines = budgets(tree("reqall/utils.py", ""))
    assert code == 1
    assert len(lines) == 3
