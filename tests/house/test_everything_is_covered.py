"""What exists is described, documented, tried by a contract and named in a test: each list is made from the code.

Every check is also run on something that lacks what it looks for.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import Field

import reqall
from reqall import PluginOptions, Registration, ReqallError
from reqall.app import BUILT_INS
from reqall.core.host import HOOKS, PluginHost
from reqall.core.registration import KINDS
from reqall.testing.contracts import ABILITIES, CONTRACTS, FIXTURES, contract_for

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
OFFERS = PluginHost(BUILT_INS, installed=False).offers()
COMPONENTS = [(offer.kind, offer.registration) for offer in OFFERS]
OPTIONS = [
    (kind, registration, name) for kind, registration in COMPONENTS for name in registration.options.model_fields
]
ERRORS = [name for name in reqall.__all__ if name.endswith("Error")]


def read(folder, pattern):
    return {file: file.read_text(encoding="utf-8") for file in sorted(folder.rglob(pattern)) if file != Path(__file__)}


TESTS = read(ROOT / "tests", "*.py")
PAGES = {file.name: text for file, text in read(REFERENCE, "*.md").items()}


@dataclass(frozen=True)
class Tried:
    """A test class that inherits a contract, and the texts and names that stand in it and in the fixtures it takes."""

    contract: str
    words: frozenset[str]


def words_in(node):
    texts = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return texts | {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def tried(sources):
    """Find the test classes of modules that inherit contracts."""
    found = []
    for source in sources:
        if "Contract" not in source:
            continue
        module = ast.parse(source)
        fixtures = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
        for each in module.body:
            if not isinstance(each, ast.ClassDef) or not each.name.startswith("Test"):
                continue
            taken = {
                argument.arg
                for function in each.body
                if isinstance(function, ast.FunctionDef)
                for argument in function.args.args
            }
            words = words_in(each).union(*(words_in(fixtures[name]) for name in taken & set(fixtures)))
            found += [Tried(base.id, frozenset(words)) for base in each.bases if isinstance(base, ast.Name)]
    return found


def has_contract(kind, registration, classes):
    """Tell whether a class inherits the kind's contract and names the component, or the options that are its alone."""
    wanted, names = contract_for(kind).__name__, {registration.name, registration.options.__name__} - {"PluginOptions"}
    return any(each.contract == wanted and names & each.words for each in classes)


def section_of(kind, name, page):
    """The section of a component in the reference; empty where there is none."""
    _, found, rest = page.partition(f"\n### {kind} `{name}`\n")
    return re.split(r"\n##+ ", rest)[0] if found else ""


def is_documented(kind, registration, page):
    """Tell whether a component has a section, with its summary and every option in a row of its own."""
    section = section_of(kind, registration.name, page)
    rows = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    return bool(section) and registration.summary in section and rows == set(registration.options.model_fields)


def is_described(registration, option):
    return bool((registration.options.model_fields[option].description or "").strip())


def is_named(registration, option, sources):
    """Tell whether a test that speaks of the component gives the option: as a keyword, in YAML or as a text."""
    given = re.compile(rf"\b{option}\s*[=:]|[\"']{option}[\"']")
    speaks = re.compile(rf"\b{registration.name}\b|\b{registration.options.__name__}\b")
    return any(speaks.search(source) and given.search(source) for source in sources)


def is_raised(error, sources):
    """Tell whether a test expects the error by its name."""
    return any(re.search(rf"pytest\.raises\([^)]*\b{error}\b", source) for source in sources)


def label(value):
    return value if isinstance(value, str) else value.name


CLASSES = tried(TESTS.values())


@pytest.mark.parametrize(("kind", "registration"), COMPONENTS, ids=label)
def test_each_component_keeps_the_contract_of_its_kind(kind, registration):
    assert has_contract(kind, registration, CLASSES), (
        f"no test class inherits {contract_for(kind).__name__} and builds the {kind} {registration.name!r}"
    )


@pytest.mark.parametrize(("kind", "registration"), COMPONENTS, ids=label)
def test_each_component_is_documented_with_its_options(kind, registration):
    assert registration.summary.strip()
    assert is_documented(kind, registration, PAGES["components.md"])


@pytest.mark.parametrize(("kind", "registration", "option"), OPTIONS, ids=label)
def test_each_option_is_described_and_named_in_a_test(kind, registration, option):
    assert is_described(registration, option)
    assert is_named(registration, option, TESTS.values()), f"no test gives {kind} {registration.name!r} {option}"


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_hook_a_contract_and_a_chapter(kind):
    assert f"register_{kind}s" in HOOKS
    contract = contract_for(kind)
    assert contract.__name__ == f"{kind.capitalize()}Contract"
    assert hasattr(contract, FIXTURES[kind])
    assert f"\n## {kind.capitalize()}s\n" in PAGES["components.md"]
    assert any(offer.kind == kind for offer in OFFERS)


def test_no_contract_is_of_no_kind():
    assert set(CONTRACTS) == set(FIXTURES) == set(KINDS)


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_is_documented_and_named_in_a_test(hook):
    assert hook in PAGES["plugin-api.md"]
    assert any(re.search(rf"\b{hook}\b", source) for source in TESTS.values())


@pytest.mark.parametrize("ability", [name for name in reqall.__all__ if name.startswith("Supports")])
def test_each_ability_has_a_contract_that_a_test_inherits(ability):
    contract = ABILITIES[getattr(reqall, ability)].__name__
    assert contract == f"{ability.removeprefix('Supports')}Contract"
    assert any(each.contract == contract for each in CLASSES)


@pytest.mark.parametrize("error", ERRORS)
def test_each_error_is_documented_and_raised_in_a_test(error):
    assert issubclass(getattr(reqall, error), ReqallError)
    assert f"`{error}`: " in PAGES["errors.md"]
    assert is_raised(error, TESTS.values()), f"no test expects {error}"


def test_no_error_is_kept_from_plugins():
    def below(error):
        return {error.__name__}.union(*(below(each) for each in error.__subclasses__()))

    own = {name for name in below(ReqallError) if hasattr(reqall.core.errors, name)}
    assert own == set(ERRORS)


@pytest.mark.parametrize("name", [name for name in reqall.__all__ if not name.startswith("_")])
def test_each_public_name_is_in_the_reference(name):
    assert any(re.search(rf"\b{name}\b", PAGES[page]) for page in ("plugin-api.md", "errors.md"))


class NeverOptions(PluginOptions):
    """Options of a component that nobody tries."""

    depth: int = Field(default=1, description="How deep.")
    silent: int = 0


NEVER = Registration("never", "is never tried", lambda _options, _services: None, NeverOptions)
PAGE = """# Components

## Fusers

### fuser `never`

is never tried

| option | type | default | meaning |
| --- | --- | --- | --- |
| `depth` | integer | `1` | How deep. |
| `silent` | integer | `0` |  |

### fuser `other`
"""
MODULE = """
@pytest.fixture
def built(build):
    return build("fuser", "never")

class TestNever(FuserContract):
    @pytest.fixture
    def fuser(self, built):
        return built
"""


def test_a_component_without_a_contract_is_missed():
    assert has_contract("fuser", NEVER, tried([MODULE]))
    assert has_contract("fuser", NEVER, tried([MODULE.replace('build("fuser", "never")', "Never(NeverOptions())")]))
    assert not has_contract("fuser", NEVER, [])
    assert not has_contract("reranker", NEVER, tried([MODULE]))
    assert not has_contract("fuser", NEVER, tried([MODULE.replace('"never"', '"other"')]))
    assert not has_contract("fuser", NEVER, tried([MODULE.replace("FuserContract", "object")]))
    assert not has_contract("fuser", NEVER, tried([MODULE.replace("class TestNever", "class Never")]))
    assert not has_contract("fuser", NEVER, tried([MODULE.replace("self, built", "self, another")]))


def test_a_component_without_documentation_is_missed():
    assert is_documented("fuser", NEVER, PAGE)
    assert not is_documented("reranker", NEVER, PAGE)
    assert not is_documented("fuser", NEVER, PAGE.replace("is never tried", "is tried"))
    assert not is_documented("fuser", NEVER, PAGE.replace("| `depth` |", "| depth |"))
    assert not is_documented("fuser", NEVER, PAGE.replace("### fuser `other`", "| `gone` | |"))


def test_an_option_without_description_or_test_is_missed():
    assert is_described(NEVER, "depth")
    assert not is_described(NEVER, "silent")
    for given in ('build("never", depth=2)', "never: {depth: 2}", 'never, {"depth": 2}', "NeverOptions(depth=2)"):
        assert is_named(NEVER, "depth", [given])
        assert not is_named(NEVER, "silent", [given])
    assert not is_named(NEVER, "depth", ['build("other", depth=2)', 'build("never")'])


def test_an_error_that_no_test_expects_is_missed():
    assert is_raised("JobError", ["with pytest.raises((SourceError, JobError), match='x'):"])
    assert not is_raised("JobError", ["from reqall import JobError", "pytest.raises(SourceError)"])
