"""`reqall plugins` and `reqall plugins check`: what is installed, and what a plugin does when it is tried."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

IMPORTS = "from reqall import DocumentRanking, PluginOptions, Registration, hookimpl\nfrom pydantic import Field\n"

OFFER = """
class Keeping:
    def rerank(self, query, passages):
        return DocumentRanking.of((p.document_id, -place) for place, p in enumerate(passages))

@hookimpl
def register_rerankers():
    return [Registration(name, "keeps the order", lambda options, services: Keeping()) for name in NAMES]
"""

LAWLESS = """
class Dropping:
    def rerank(self, query, passages):
        return DocumentRanking.of((p.document_id, 0.0) for p in passages[1:])

class Keeping:
    def rerank(self, query, passages):
        return DocumentRanking.of((p.document_id, 0.0) for p in passages)

class Sized(PluginOptions):
    size: int = Field(description="How many.")
    names: list[str] = Field(default=["a"], description="Which.")

def build(options, services):
    if options.names != ["b", "c"]:
        raise ValueError(f"cannot do {options.size} {options.names}")
    return Keeping()

@hookimpl
def register_rerankers():
    return [
        Registration("dropping", "drops one", lambda options, services: Dropping()),
        Registration("sized", "wants a size", build, Sized),
        Registration("unbuilt", "fails", lambda options, services: 1 / 0),
        Registration("none", "is a thief", lambda options, services: Keeping()),
    ]
"""

CRASHES = """
import ctypes

class Crashing:
    def rerank(self, query, passages):
        ctypes.string_at(0)

@hookimpl
def register_rerankers():
    return [Registration("crashing", "crashes", lambda options, services: Crashing())]
"""

CHILD = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
pathlib.Path(MARK).write_text(str(child.pid))
time.sleep(3600)
"""

ENDS = {
    "hangs": (
        "import time\ntime.sleep(3600)\n",
        "it gave no sign of life for 6 s while it was imported",
        'hangs.py", line 2',
    ),
    "leaves": (
        "import os\nos._exit(7)\n",
        "it ended its process with exit code 7 while it was imported",
        "",
    ),
    "crashes": (
        IMPORTS + CRASHES,
        "in the law test_",
        'crashes.py", line 8 in rerank',
    ),
    "crashes_at_once": (
        "import ctypes\nctypes.string_at(0)\n",
        "while it was imported",
        'crashes_at_once.py", line 2',
    ),
}
IN_WORDS = {
    "exits": ("raise SystemExit(3)\n", "plugin 'exits' of exits 1.0: failed: SystemExit: 3"),
    "misspelt": (
        IMPORTS + OFFER.replace("register_rerankers", "register_reranker"),
        "plugin 'misspelt' of misspelt 1.0: failed: unknown hook 'register_reranker'; did you mean ",
    ),
}


@pytest.fixture
def install(tmp_path):
    """Install a distribution of one module into a folder of this test."""
    site = tmp_path / "site"
    site.mkdir()

    def install(name, source, version="1.0"):
        (site / f"{name}.py").write_text(source, encoding="utf-8")
        record = site / f"{name}-{version}.dist-info"
        record.mkdir()
        (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (record / "entry_points.txt").write_text(f"[reqall]\n{name} = {name}\n")
        return site

    return install


@pytest.fixture
def reqall(tmp_path):
    """Run the command line with what is installed, in an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()

    def run(*arguments, **changes):
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("REQALL_", "JAMA_", "EMBEDDING_", "CHAT_"))
        }
        paths = [str(tmp_path / "site"), *filter(None, [kept.get("PYTHONPATH")])]
        return subprocess.run(
            [sys.executable, "-m", "reqall", *arguments],
            env={**kept, "REQALL_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(paths), **changes},
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=110,
            check=False,
        )

    return run


def named(*names):
    return f"{IMPORTS}NAMES = {names!r}\n{OFFER}"


def test_all_that_is_installed_is_listed_with_its_state(install, reqall):
    install("first", named("shared", "own"), version="2.1")
    install("second", named("shared"))
    install("thief", named("none"))
    install("exits", IN_WORDS["exits"][0])
    install("unwanted", named("unwanted"))
    done = reqall("plugins", "--json", REQALL_PLUGINS="-unwanted,-unknown")
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    states = {(each["name"], each["distribution"]): each["state"] for each in listed["components"]}
    assert states["own", "first"] == states["none", "reqall"] == "loaded"
    assert states["shared", "first"] == states["shared", "second"] == states["none", "thief"] == "conflict"
    assert {each["plugin"]: each["state"] for each in listed["left_out"]} == {
        "first": "conflict",
        "second": "conflict",
        "thief": "conflict",
        "exits": "failed",
        "unwanted": "blocked",
    }
    assert listed["not_installed"] == ["unknown"]
    done = reqall("plugins", REQALL_PLUGINS="-unwanted,-unknown")
    assert done.returncode == 0, done.stderr
    lines = {tuple(line.split()[:5]): line for line in done.stdout.splitlines()}
    assert ("name", "kind", "package", "version", "state") in lines
    assert "keeps the order" in lines["own", "reranker", "first", "2.1", "loaded"]
    assert "'second' of second 1.0" in lines["shared", "reranker", "first", "2.1", "conflict"]
    assert "'rerankers' of reqall" in lines["none", "reranker", "thief", "1.0", "conflict"]
    assert "SystemExit: 3" in lines["exits", "plugin", "exits", "1.0", "failed"]
    assert "blocked by REQALL_PLUGINS" in lines["unwanted", "plugin", "unwanted", "1.0", "blocked"]
    assert "REQALL_PLUGINS names 'unknown'" in done.stdout


def test_an_empty_list_leaves_the_built_ins(install, reqall):
    install("first", named("own"))
    listed = json.loads(reqall("plugins", "--json", REQALL_PLUGINS="").stdout)
    assert {each["distribution"] for each in listed["components"]} == {"reqall"}
    assert [(each["plugin"], each["state"]) for each in listed["left_out"]] == [("first", "blocked")]


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.skipif(sys.platform == "win32", reason="signals have names on POSIX only")
def test_how_a_process_ends_is_told_in_words(install, reqall, name):
    source, told, place = ENDS[name]
    install(name, source)
    done = reqall("plugins", "check", name, "--timeout", "6" if name == "hangs" else "100")
    assert done.returncode == 1, done.stdout + done.stderr
    assert told in done.stdout
    assert place in done.stdout
    assert ("it crashed with SIGSEGV (Segmentation fault" in done.stdout) == name.startswith("crashes")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", IN_WORDS)
def test_what_the_host_would_leave_out_fails(install, reqall, name):
    source, told = IN_WORDS[name]
    install(name, source)
    done = reqall("plugins", "check", name, REQALL_STRICT_PLUGINS="1")
    assert done.returncode == 1, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.startswith(told)


def test_a_plugin_that_keeps_the_laws_passes_though_it_is_blocked(install, reqall, tmp_path):
    install("acme_best", named("best"))
    install("hangs", ENDS["hangs"][0])
    done = reqall("plugins", "check", "Acme-Best", REQALL_PLUGINS="")
    assert done.returncode == 0, done.stdout + done.stderr
    plugin, component = done.stdout.splitlines()
    assert plugin == "plugin 'acme_best' of acme_best 1.0: loaded"
    assert re.fullmatch(r"reranker 'best': PASSED: \d\d laws", component)
    assert list((tmp_path / "empty").iterdir()) == [], "nothing is left in the working directory"


def test_each_component_has_its_verdict_and_each_broken_law_its_message(install, reqall):
    install("lawless", IMPORTS + LAWLESS)
    done = reqall("plugins", "check", "lawless", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert (report["failed"], report["ended"]) == (True, "")
    assert [plugin["state"] for plugin in report["plugins"]] == ["conflict"]
    tried = {each["name"]: each for each in report["components"]}
    assert {name: each["verdict"] for name, each in tried.items()} == {
        "dropping": "FAILED",
        "sized": "NOT CHECKED",
        "unbuilt": "FAILED",
        "none": "FAILED",
    }
    assert tried["sized"]["reason"] == "it has options without a value; give --with sized.size=VALUE"
    assert tried["unbuilt"]["reason"] == "it cannot be built: ZeroDivisionError: division by zero"
    assert "that is offered by plugin 'rerankers' of reqall" in tried["none"]["reason"]
    broken = {each["law"]: each["message"] for each in tried["dropping"]["broken"]}
    assert broken["test_one_passage_stays"].startswith(
        "not a permutation of the passages: ['s:1'] went in, [] came out"
    )
    assert "test_no_passages_no_ranking" not in broken
    assert tried["dropping"]["laws"] > 0


def test_options_are_given_on_the_command_line(install, reqall):
    install("lawless", IMPORTS + LAWLESS)
    done = reqall("plugins", "check", "lawless", "--with", "sized.size=3", "--with", 'sized.names=["b", "c"]')
    assert "reranker 'sized': PASSED: " in done.stdout
    assert "reranker 'dropping': FAILED: " in done.stdout
    assert " laws are broken\n    test_" in done.stdout
    wrong = reqall("plugins", "check", "lawless", "--with", "sized.size=4")
    assert "reranker 'sized': FAILED: it cannot be built: ValueError: cannot do 4 ['a']" in wrong.stdout


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["recallr"], "no plugin 'recallr'; did you mean 'recallers'?"),
        (["rrf", "--with", "k=3"], "--with 'k=3' is not COMPONENT.OPTION=VALUE"),
        (["rrf", "--with", "rrf.k=[3"], "--with rrf.k: the value is not JSON"),
    ],
)
def test_what_cannot_be_tried_is_refused(install, reqall, arguments, part):
    done = reqall("plugins", "check", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_a_source_is_built_and_its_laws_wait_for_one_that_is_small(install, reqall, tmp_path):
    done = reqall(
        "plugins", "check", "jama", JAMA_URL="https://jama.example", JAMA_CLIENT_ID="i", JAMA_CLIENT_SECRET="s"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "source 'jama': BUILT: its laws walk a project many times: name a small one, --with jama." in done.stdout
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"_id": "1", "title": "Volume", "text": "The volume is the same.", "metadata": {}}\n')
    done = reqall("plugins", "check", "jsonl", "--with", f"jsonl.path={corpus}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"source 'jsonl': PASSED: \d+ laws, \d+ skipped", done.stdout)


def test_without_pytest_a_plugin_is_still_loaded_and_built(install, reqall):
    site = install("acme", named("best"))
    (site / "pytest.py").write_text("raise ModuleNotFoundError(\"No module named 'pytest'\", name='pytest')\n")
    done = reqall("plugins", "check", "acme")
    assert done.returncode == 0, done.stdout + done.stderr
    told = "reranker 'best': BUILT: its laws were not run, as pytest is missing: pip install 'reqall[testing]'"
    assert told in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_plugin_started_ends_with_it(install, reqall, tmp_path):
    mark = tmp_path / "child"
    install("parent", f"MARK = {str(mark)!r}\n{CHILD}")
    assert reqall("plugins", "check", "parent", "--timeout", "6").returncode == 1
    deadline = time.monotonic() + 30
    while runs(int(mark.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An ended child that nobody waited for still has a number.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
