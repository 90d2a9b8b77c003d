"""What `reqall new-plugin` writes works at once: by the house's own checks, installed, tested, used, removed."""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from reqall.core.registration import KINDS
from reqall.scaffold.kinds import NEW
from reqall.scaffold.names import Names, requirement
from reqall.scaffold.writing import render, write_plugin
from reqall.testing.contracts import CONTRACTS

ROOT = Path(__file__).parents[1]
LONG = "name-of-24-letters-in-it"
COMPLETE = "fuser"
"""The kind that is installed with pip; of the others a dist-info is written, which takes no seconds."""


def environment(folder, *paths):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "REQALL_", "PYTHON"))}
    path = os.pathsep.join(str(each) for each in paths)
    return {
        **kept,
        "PYTHONPATH": path,
        "REQALL_HOME": str(folder),
        "REQALL_STRICT_PLUGINS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(*command, cwd, env=None):
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def offered(python, cwd, env):
    listed = json.loads(run(python, "-m", "reqall", "plugins", "--json", cwd=cwd, env=env))
    return {(each["kind"], each["name"], each["distribution"]) for each in listed["components"]}


def readme_commands(package):
    text = (package / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line) for line in block.splitlines()]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A package of each kind, by kind."""
    folder = tmp_path_factory.mktemp("packages")
    return {kind: write_plugin(kind, f"try-{kind}", folder) for kind in KINDS}


@pytest.fixture(scope="module")
def site(packages, tmp_path_factory):
    """A folder with the metadata that pip would write for each of them."""
    folder = tmp_path_factory.mktemp("site")
    for package in packages.values():
        project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        name, version = project["name"], project["version"]
        metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        points = "".join(f"{key} = {value}\n" for key, value in project["entry-points"]["reqall"].items())
        (metadata / "entry_points.txt").write_text(f"[reqall]\n{points}")
    return folder


def test_every_kind_can_be_written():
    assert list(NEW) == list(KINDS) == list(CONTRACTS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["x", LONG])
def test_it_keeps_the_style_of_the_house(kind, name, tmp_path):
    package = write_plugin(kind, name, tmp_path)
    for command in (["check"], ["format", "--diff"]):
        run(sys.executable, "-m", "ruff", *command, "--no-cache", "--config", ROOT / "pyproject.toml", ".", cwd=package)


def test_its_types_are_right(packages):
    sources = [next((package / "src").iterdir()) for package in packages.values()]
    # From the root, with the house's settings: what `make lint` knows of the libraries is known here.
    told = run(sys.executable, "-m", "mypy", *sources, cwd=ROOT)
    assert f"no issues found in {2 * len(KINDS)} source files" in told


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != COMPLETE])
def test_its_own_tests_pass(kind, packages, site, tmp_path):
    env = environment(tmp_path, site, *(package / "src" for package in packages.values()))
    told = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=packages[kind], env=env)
    assert re.search(r"\d\d passed", told), told


def test_reqall_lists_them_all(packages, site, tmp_path):
    env = environment(tmp_path, site, *(package / "src" for package in packages.values()))
    wanted = {(kind, f"try_{kind}", f"reqall-try-{kind}") for kind in KINDS}
    assert wanted <= offered(sys.executable, tmp_path, env)


def test_the_commands_of_its_readme_from_install_to_uninstall(tmp_path):
    env = environment(tmp_path)
    told = run(sys.executable, "-m", "reqall", "new-plugin", COMPLETE, "try-it", cwd=tmp_path, env=env)
    package = tmp_path / "reqall-try-it"
    assert "reqall-try-it is written" in told
    install, suite, sync, search, uninstall = readme_commands(package)
    python = environment_of_its_own(tmp_path / "venv")
    folder = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    before = {path.name for path in folder.iterdir()}
    component = (COMPLETE, "try_it", "reqall-try-it")
    assert component not in offered(python, tmp_path, env)

    assert install == ["pip", "install", "-e", ".[test]"]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-index", "--no-deps", "--no-build-isolation", package, cwd=tmp_path, env=env)
    assert component in offered(python, tmp_path, env)
    assert re.search(r"\d\d passed", run(python, "-m", *suite, "-p", "no:cacheprovider", cwd=package, env=env))
    assert "6 changed" in run(python, "-m", *sync, cwd=package, env=env)
    assert "EX-5" in run(python, "-m", *search, cwd=package, env=env)

    assert uninstall == ["pip", "uninstall", "reqall-try-it"]
    run(*pip, *uninstall[1:], "--yes", cwd=tmp_path, env=env)
    assert {path.name for path in folder.iterdir()} == before
    assert component not in offered(python, tmp_path, env)


def environment_of_its_own(folder):
    """A venv that sees what this one has, and into which pip installs more; its Python is returned."""
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    inner = Path(run(python, "-c", code, cwd=folder).strip())
    outer = sysconfig.get_path("purelib")
    (inner / "outer.pth").write_text(f"import site; site.addsitedir({outer!r})\n", encoding="utf-8")
    return python


@pytest.mark.parametrize("kind", ["source", "chunker"])
def test_the_check_that_its_readme_names_passes(kind, packages, site, tmp_path):
    env = environment(tmp_path, site, *(package / "src" for package in packages.values()))
    readme = (packages[kind] / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`(reqall plugins check [^`]+)`", readme)
    told = run(sys.executable, "-m", *shlex.split(command), cwd=packages[kind], env=env)
    assert f"{kind} 'try_{kind}': PASSED" in told


@pytest.mark.parametrize("kind", KINDS)
def test_readme_and_yaml_name_what_there_is(kind, packages):
    package = packages[kind]
    text = (package / "README.md").read_text(encoding="utf-8")
    assert (package / "example" / "pipelines.yaml").read_text(encoding="utf-8") in text
    assert len(readme_commands(package)) == 5
    for name in re.findall(r"`((?:src|tests|example)/[^`]+|pyproject.toml)`", text):
        assert (package / name).is_file(), name
    assert f"use: try_{kind}" in text
    for path, content in render(kind, Names("shout")).items():
        assert not re.search(r"\$\w|PACKAGE|template", path + content), path


@pytest.mark.parametrize(
    ("version", "required"),
    [
        ("0.1.0", "reqall>=0.1,<0.3"),
        ("0.9.3", "reqall>=0.9,<0.11"),
        ("1.2.0.dev1", "reqall>=1.2,<1.4"),
    ],
)
def test_it_requires_this_minor_version_or_the_next(version, required):
    assert requirement(version) == required


def test_the_requirement_is_in_the_package():
    project = tomllib.loads(render("embedder", Names("shout"))["pyproject.toml"])["project"]
    assert project["dependencies"] == [requirement(), "numpy>=1.26"]


def test_the_templates_are_in_the_wheel_of_reqall():
    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    templates = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("reqall/scaffold/templates/**/*.template")}
    assert len(templates) > 3 * len(KINDS)
    assert templates <= packed
