"""Keeps README and docs honest: every block runs, every name exists, every link leads somewhere."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import NamedTuple

import pytest

from reqall.app import BUILT_INS
from reqall.core.config import parse_yaml
from reqall.core.environment import Environment
from reqall.core.host import PluginHost
from reqall.core.validate import validate
from reqall.setup import VARIABLES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = ROOT / "scripts" / "reference.py"

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
OURS = re.compile(r"\b(?:JAMA|EMBEDDING|CHAT|REQALL|RERANKER|SYNC|HF)_[A-Z_]+\b")
GLOBAL_OPTIONS = {"--config", "--db", "--help", "-h"}


class Block(NamedTuple):
    """A fenced block and where it stands."""

    place: str
    language: str
    text: str


def blocks(*languages):
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
            indent = len(match["indent"])
            body = "".join(line[indent:] or "\n" for line in match["body"].splitlines(keepends=True))
            found.append(Block(place, match["language"], body))
    return [block for block in found if not languages or block.language in languages]


def each(*languages):
    return pytest.mark.parametrize("block", blocks(*languages), ids=lambda block: block.place)


def module_name(block):
    """The file that a block is to be saved as, if its first line says so."""
    match = re.match(r"# (\w+)\.py\n", block.text)
    return match[1] if match else None


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder as pip would leave it: the modules of the docs, and a dist-info per pyproject block."""
    folder = tmp_path_factory.mktemp("site")
    for block in blocks("python"):
        if name := module_name(block):
            (folder / f"{name}.py").write_text(block.text, encoding="utf-8")
    for block in blocks("toml"):
        project = tomllib.loads(block.text)["project"]
        info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        name, version = project["name"], project["version"]
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        points = "".join(f"{key} = {value}\n" for key, value in project["entry-points"]["reqall"].items())
        (info / "entry_points.txt").write_text(f"[reqall]\n{points}", encoding="utf-8")
    return folder


@pytest.fixture
def run(home, site, tmp_path):
    """Run Python in an empty folder, with a synced home and the docs' plugins installed; returns stdout."""

    def call(*arguments, **changes):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**home, "PYTHONPATH": str(site), "REQALL_STRICT_PLUGINS": "1", **changes},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@each("python")
def test_python_runs(block, run, tmp_path):
    (tmp_path / "project.jsonl").write_text(run("-m", "reqall", "export", "AIP"), encoding="utf-8")
    (tmp_path / "block.py").write_text(block.text, encoding="utf-8")
    run("-W", "error", "block.py")


@each("yaml")
def test_yaml_is_valid(block, site, monkeypatch, tmp_path):
    assert block.text.startswith("version: 1\n"), "a block of YAML is a whole file, so that it can be checked"
    monkeypatch.syspath_prepend(str(site))
    host = PluginHost(BUILT_INS, strict=True)
    validate(parse_yaml(block.text, block.place), host, Environment({}, tmp_path / ".env"))


@each("json")
def test_json_is_valid(block):
    json.loads(block.text)


@each("toml")
def test_toml_names_a_module_of_the_docs(block):
    modules = {module_name(python) for python in blocks("python")}
    points = tomllib.loads(block.text)["project"]["entry-points"]["reqall"]
    assert points
    assert set(points.values()) <= modules


def test_the_plugin_of_the_readme_works(run, tmp_path):
    """Installed as a distribution, named in the README's own YAML, used by a search."""
    listed = json.loads(run("-m", "reqall", "plugins", "--json"))
    offers = {(offer["kind"], offer["name"]): offer["distribution"] for offer in listed["components"]}
    assert offers["fuser", "best_rank"] == "reqall-best-rank"
    (readme,) = [block.text for block in blocks("yaml") if block.place.startswith("README.md")]
    config = tmp_path / "mine.yaml"
    # Memory instead of vectors: no model has to be loaded to see the fuser at work.
    config.write_text(
        readme.replace("{use: rrf}", "{use: best_rank}").replace(
            "sqlite_vec, with: {embedder: minilm}, chunk: {use: sentences}", "rank_bm25"
        ),
        encoding="utf-8",
    )
    found = json.loads(
        run("-m", "reqall", "--config", str(config), "search", "occlusion alarm", "-p", "AIP", "--explain", "--json")
    )
    assert {hit["strategy"] for hit in found["hits"]} == {"best_rank"}
    for hit in found["hits"]:
        assert hit["score"] == pytest.approx(1 / min(origin["rank"] for origin in hit["found_by"]), abs=1e-5)
    assert {origin["index"] for hit in found["hits"] for origin in hit["found_by"]} == {"words", "meaning"}


def test_the_plugin_of_the_guide_works(run, tmp_path):
    (config,) = [block.text for block in blocks("yaml") if "use: csv" in block.text]
    (tmp_path / "parts.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "parts.csv").write_text(
        "id,name,text\nP-1,Motor,torque of 3 Nm\nP-2,Cable,length 2 m\n", encoding="utf-8"
    )
    place = {"JAMA_MCP_DB_PATH": str(tmp_path / "catalog.db")}
    command = ("-m", "reqall", "--config", "parts.yaml")
    assert "2 changed" in run(*command, "sync", "parts", **place)
    found = json.loads(run(*command, "search", "torque of the motor", "--project", "parts", "--json", **place))
    assert [hit["document_key"] for hit in found["hits"]] == ["P-1"]


def test_trace_links_become_a_collection(run, tmp_path):
    (block,) = [block for block in blocks("python") if "qrels.tsv" in block.text]
    (tmp_path / "project.jsonl").write_text(run("-m", "reqall", "export", "AIP"), encoding="utf-8")
    run("-c", block.text)
    scores = json.loads(
        run("-m", "reqall", "eval", "--pipeline", "lexical", "--json", "aip-derived", REQALL_HOME=str(tmp_path))
    )
    assert 0.2 < scores["aip-derived"]["lexical"]["nDCG@10"] <= 1


def test_the_answer_of_the_tutorial_is_what_its_client_gets(run):
    (block,) = [block for block in blocks("python") if block.place.startswith("docs/tutorial.md")]
    answer = run("-c", block.text)
    assert "AIP-SYSR-10" in answer
    assert "AIP-TC-7" in answer


def commands():
    """Every call of reqall in a block of a terminal or in a line's code, as (place, words)."""
    calls = []
    for block in blocks("console"):
        lines = [line.split(" #")[0] for line in block.text.splitlines()]
        calls += [(block.place, line) for line in lines if re.match(r"(?:[A-Z_]+=\S+ )*(?:\S*/)?reqall ", line)]
    for page in PAGES:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        calls += [
            (page.name, code) for code in re.findall(r"`([^`\n]+)`", prose) if re.match(r"(\S*/)?reqall \S", code)
        ]
    return [(place, shlex.split(re.sub(r"^.*?reqall ", "", call))) for place, call in calls]


def known_commands():
    spec = spec_from_file_location("reference", REFERENCE)
    sys.path.insert(0, str(REFERENCE.parent))
    try:
        reference = module_from_spec(spec)
        spec.loader.exec_module(reference)
    finally:
        sys.path.remove(str(REFERENCE.parent))
    return {
        command: {name for names, *_ in reference.parameters(function) for name in names}
        for command, function in reference.commands()
    }


def test_commands_exist_with_their_options():
    known = known_commands()
    assert "--json" in known["search"]
    calls = commands()
    assert len(calls) > 20
    for place, words in calls:
        named = [word for word in words if word in known]
        if words[0] in ("[options]", "COMMAND") or (words[0] in GLOBAL_OPTIONS and len(words) == 1):
            continue
        assert named, (place, words)
        start = words.index(named[0])
        before, after = words[:start], words[start + 1 :]
        assert {word for word in before if word.startswith("-")} <= GLOBAL_OPTIONS, (place, words)
        assert not before or before[0] in GLOBAL_OPTIONS, (place, words)
        used = {word.split("=")[0] for word in after if re.match(r"--?[a-z]", word)}
        inner = " ".join(words[start : start + 2])
        assert used <= known[inner if inner in known else named[0]] | {">"}, (place, words)


def test_every_command_is_explained():
    told = " ".join(page.read_text(encoding="utf-8") for page in PAGES if "reference" not in page.parts)
    for command in known_commands():
        assert f"reqall {command}" in told or f"`{command}`" in told, command


def test_what_is_said_to_be_missing_is_missing():
    """What has come since must leave the README's list."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = readme.partition("## What is not there yet")[2].partition("\n## ")[0]
    assert ("knows only `none`" in missing) == (PluginHost(BUILT_INS, installed=False).names("reranker") == ["none"])
    tools = re.findall(r"^## (\w+)$", (ROOT / "docs/reference/tools.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert ("Search along trace links" in missing) != any("trace" in tool for tool in tools)


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), target


def test_every_page_is_reachable():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "README.md" or f"({name})" in index, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_variables_exist(page):
    checks = {
        name for file in ("Makefile", ".ci/run") for name in OURS.findall((ROOT / file).read_text(encoding="utf-8"))
    }
    named = {name.rstrip("_") for name in OURS.findall(page.read_text(encoding="utf-8"))} - {"EMBEDDING"}
    assert named <= set(VARIABLES) | checks


def test_the_reference_is_what_the_code_says():
    done = subprocess.run(
        [sys.executable, "-W", "error", REFERENCE, "--check"],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_notices_a_change(tmp_path):
    """A page with one word changed is out of date."""
    folder = tmp_path / "docs" / "reference"
    folder.mkdir(parents=True)
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        (folder / page.name).write_text(text.replace("REQALL_HOME", "REQALL_HUT"), encoding="utf-8")
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for script in REFERENCE.parent.glob("reference*.py"):
        (scripts / script.name).write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, scripts / "reference.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "configuration.md is out of date" in done.stdout
