"""The seam: plugins are found by entry point, each is asked alone, and a broken one harms nobody."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reqall.app import BUILT_INS
from reqall.core import hookspecs
from reqall.core.config import parse_yaml
from reqall.core.environment import Environment
from reqall.core.errors import ConfigError, PluginError
from reqall.core.host import PluginHost, strictness
from reqall.core.ranking import DocumentRanking
from reqall.core.registration import KINDS, Services
from reqall.core.validate import validate

pytest_plugins = ["tests.core.plugins_support"]

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = Path(__file__).with_name("distributions")

IMPORTS = "from reqall import PluginOptions, Registration, hookimpl\n"
GOOD = IMPORTS + (DISTRIBUTIONS / "acme_fusers" / "acme_fusers.py").read_text(encoding="utf-8")


def fusers(body, *, hook="register_fusers", decorator="@hookimpl", parameters="", prefix="def"):
    return f"{IMPORTS}\n{decorator}\n{prefix} {hook}({parameters}):\n    {body}\n"


def offer(name="'mine'", summary="'s'", build="print", options="PluginOptions"):
    return f"Registration({name}, {summary}, {build}, {options})"


BROKEN = {
    "no_import": ("import a_library_that_is_not_there\n", "No module named 'a_library_that_is_not_there'"),
    "no_syntax": ("def register_fusers(:\n", "SyntaxError: invalid syntax (no_syntax.py, line 1)"),
    "misspelt": (
        fusers(f"return [{offer()}]", hook="register_fuser"),
        "unknown hook 'register_fuser'; did you mean 'register_fusers'?",
    ),
    "twins": (fusers(f"return [{offer()}, {offer()}]"), "offers the fuser name 'mine' twice"),
    "late": (fusers(f"yield {offer()}; raise OSError('no disk')"), "OSError: no disk"),
    "exits": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "exits_quietly": ("import sys\nsys.exit()\n", "SystemExit"),
    "panics": ("class Panic(BaseException): ...\nraise Panic('native code')\n", "Panic: native code"),
    "argument": (fusers("return []", parameters="config"), "Argument(s) {'config'} are declared"),
    "not_registration": (fusers("return ['rrf']"), "register_fusers gave a str, not a Registration"),
    "not_list": (fusers("return 7"), "'int' object is not iterable"),
    "nothing": (fusers("[]"), "register_fusers returned None, not a list of Registrations"),
    "coroutine": (fusers("return []", prefix="async def"), "register_fusers is async; hooks are plain functions"),
    "stream": (fusers(f"yield {offer()}", prefix="async def"), "'async_generator' object is not iterable"),
    "bare": (fusers("return []", decorator=""), "register_fusers lacks the decorator @hookimpl"),
    "empty": ("", "has no hook; the entry point must name what holds the functions with @hookimpl"),
    "nameless": (fusers(f"return [{offer(name='3')}]"), "a Registration whose name is not a text"),
    "blank": (fusers(f"return [{offer(name=repr(' '))}]"), "a Registration whose name is not a text"),
    "wordless": (fusers(f"return [{offer(summary='None')}]"), "a Registration whose summary is not a text"),
    "unbuilt": (fusers(f"return [{offer(build='7')}]"), "a Registration whose build cannot be called"),
    "loose": (fusers(f"return [{offer(options='dict')}]"), "whose options are not a subclass of PluginOptions"),
    "two_lines": ("raise ValueError('''\n first \n\n second\n''')\n", "ValueError: first second"),
    "mute": (
        "class Mute(Exception):\n    def __str__(self): raise RuntimeError\nraise Mute\n",
        "Mute",
    ),
}


def by_name(host):
    return {plugin.name: plugin for plugin in host.plugins}


def host_of(tiny, **options):
    """The tiny built-ins, found again without a second import, and all that is installed."""
    assert tiny.names("fuser") == ["rrf"]
    return PluginHost(["tiny_parts"], **options)


def test_a_plugin_of_another_distribution_is_found_and_usable(install):
    install("acme", GOOD, version="2.1")
    host = PluginHost()
    plugin = by_name(host)["acme"]
    assert (plugin.distribution, plugin.version, plugin.state, plugin.reason) == ("acme", "2.1", "loaded", "")
    registration = host.find("fuser", "alphabetic")
    fused = registration.build(registration.options(), Services()).fuse([DocumentRanking.of([("b", 1), ("a", 0)])], [1])
    assert [ranked.document_id for ranked in fused] == ["a", "b"]
    assert [str(found.plugin) for found in host.offers("fuser") if found.plugin.name == "acme"] == [
        "plugin 'acme' of acme 2.1"
    ]


def test_without_installed_plugins_only_built_ins_are_there(tiny, install):
    install("acme", GOOD)
    assert {plugin.distribution for plugin in host_of(tiny, installed=False).plugins} == {"reqall"}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_left_out_and_named_while_the_others_work(tiny, install, name):
    source, reason = BROKEN[name]
    install(name, source, version="0.3")
    install("acme", GOOD)
    host = host_of(tiny)
    broken = by_name(host)[name]
    assert (broken.distribution, broken.version, broken.state) == (name, "0.3", "failed")
    assert reason in broken.reason
    assert len(broken.reason.splitlines()) == 1
    assert str(broken) == f"plugin {name!r} of {name} 0.3: {broken.reason}"
    assert "mine" not in host.names("fuser"), "nothing of a plugin that failed half-way stays"
    assert host.names("fuser") == ["alphabetic", "rrf"]
    assert host.find("fuser", "rrf") == tiny.find("fuser", "rrf")


def test_all_broken_plugins_at_once_harm_nobody(tiny, install):
    for name, (source, _) in BROKEN.items():
        install(name, source)
    install("acme", GOOD)
    host = host_of(tiny)
    states = {plugin.name: plugin.state for plugin in host.plugins}
    assert {name: states[name] for name in BROKEN} == dict.fromkeys(BROKEN, "failed")
    assert states["acme"] == states["tiny_parts"] == "loaded"


def test_a_long_reason_is_cut(install):
    install("talker", f"raise ValueError('x' * {10**6})")
    assert len(by_name(PluginHost())["talker"].reason) < 400


@pytest.mark.parametrize("target", ["acme:nothing", "a_module_that_is_not_there", "acme:", "not a target"])
def test_an_entry_point_that_leads_nowhere_is_named(install, target):
    install("acme", GOOD, target=target)
    assert by_name(PluginHost())["acme"].state == "failed"


def test_a_plugin_may_offer_nothing_on_this_machine(install):
    install("elsewhere", fusers("return []"))
    assert by_name(PluginHost())["elsewhere"].state == "loaded"


def test_a_plugin_may_have_optional_hooks_of_a_later_version(install):
    install("modern", fusers("return []") + "\n@hookimpl(optionalhook=True)\ndef register_caches():\n    return []\n")
    assert by_name(PluginHost())["modern"].state == "loaded"


def test_an_interrupt_is_no_fault_of_a_plugin(install):
    install("interrupted", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        PluginHost()


def test_strict_makes_a_failure_fatal(install):
    install("misspelt", BROKEN["misspelt"][0], version="0.3")
    with pytest.raises(PluginError, match=r"plugin 'misspelt' of misspelt 0\.3: unknown hook") as caught:
        PluginHost(**strictness({"REQALL_STRICT_PLUGINS": "1"}))
    assert "REQALL_PLUGINS" in caught.value.remedy


def test_a_broken_built_in_is_always_fatal(install):
    install("no_import", BROKEN["no_import"][0])
    with pytest.raises(PluginError, match="plugin 'no_import' of reqall "):
        PluginHost(["no_import"], installed=False)


def test_what_the_allow_list_does_not_name_is_never_imported(install, tmp_path):
    install("acme", GOOD)
    mark = tmp_path / "imported"
    install("other", f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    plugins = by_name(PluginHost(**strictness({"REQALL_PLUGINS": " acme ,"})))
    assert plugins["acme"].state == "loaded"
    assert (plugins["other"].state, plugins["other"].reason) == ("blocked", "not in the allow-list REQALL_PLUGINS")
    assert not mark.exists()


def test_what_is_blocked_by_name_is_never_imported_and_the_rest_is(install, tmp_path):
    install("acme", GOOD)
    mark = tmp_path / "imported"
    install("other_one", f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    for name in ("-other_one", "-Other.One"):
        plugins = by_name(PluginHost(**strictness({"REQALL_PLUGINS": name})))
        assert plugins["acme"].state == "loaded"
        assert (plugins["other_one"].state, plugins["other_one"].reason) == ("blocked", "blocked by REQALL_PLUGINS")
    assert not mark.exists()


def test_a_name_is_that_of_the_entry_point_or_of_the_distribution(install, site):
    install("acme_parts", GOOD)
    (site / "acme_parts-1.0.dist-info" / "entry_points.txt").write_text("[reqall]\nours = acme_parts\n")
    for allowed in (["ours"], ["acme-parts"], ["ours", "-other"]):
        assert by_name(PluginHost(allowed=allowed))["ours"].state == "loaded", allowed
    for allowed in ([], ["-ours"], ["-acme_parts"], ["other"], ["ours", "-acme-parts"]):
        assert by_name(PluginHost(allowed=allowed))["ours"].state == "blocked", allowed


def test_names_that_no_plugin_has_are_told(install):
    install("acme", GOOD)
    assert PluginHost(allowed=["acme", "-acmee", "other"]).unknown == ["acmee", "other"]
    assert PluginHost().unknown == []


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (None, False)),
        ({"REQALL_STRICT_PLUGINS": "0"}, (None, False)),
        ({"REQALL_STRICT_PLUGINS": "True", "REQALL_PLUGINS": "a, b"}, (["a", "b"], True)),
        ({"REQALL_PLUGINS": ","}, ([], False)),
        ({"REQALL_PLUGINS": ""}, ([], False)),
        ({"REQALL_PLUGINS": "-a"}, (["-a"], False)),
    ],
)
def test_strictness_is_read_from_the_environment(environment, expected, tmp_path):
    for given in (environment, Environment(environment, tmp_path / ".env")):
        found = strictness(given)
        assert (found["allowed"], found["strict"]) == expected


def test_an_emptied_list_of_plugins_goes_before_the_file(tmp_path):
    (tmp_path / ".env").write_text("REQALL_PLUGINS=acme\n")
    assert strictness(Environment({"REQALL_PLUGINS": ""}, tmp_path / ".env"))["allowed"] == []
    assert strictness(Environment({}, tmp_path / ".env"))["allowed"] == ["acme"]


def test_an_unknown_name_is_explained(tiny, install):
    install("exits", BROKEN["exits"][0], version="0.3")
    install("acme", GOOD)
    host = host_of(tiny, allowed=["exits"])
    with pytest.raises(PluginError) as caught:
        host.find("fuser", "rff")
    assert caught.value.message == "no fuser named 'rff'; did you mean 'rrf'?"
    assert caught.value.remedy == (
        "installed fusers: rrf; left out: plugin 'acme' of acme 1.0: not in the allow-list REQALL_PLUGINS;"
        " plugin 'exits' of exits 0.3: SystemExit: 3"
    )
    with pytest.raises(PluginError, match="no fuser named 'words'; that is the name of a component of kind 'recaller'"):
        host.find("fuser", "words")


THIEF = fusers(f"return [{offer()}, {offer(repr('rrf'))}]")


def test_a_name_of_reqall_stays_its_own(tiny, install):
    """Who offers it too is reported; the other names of that plugin work."""
    install("thief", THIEF, version="0.3")
    host = host_of(tiny)
    assert host.find("fuser", "rrf") == tiny.find("fuser", "rrf")
    assert host.names("fuser") == ["mine", "rrf"]
    assert host.find("fuser", "mine").name == "mine"
    thief = by_name(host)["thief"]
    assert thief.state == "conflict"
    owner = by_name(host)["tiny_parts"].origin
    assert str(thief) == f"plugin 'thief' of thief 0.3: its fuser 'rrf' cannot be used: that is offered by {owner}"
    (rival,) = host.rivals()
    assert (rival.key, rival.plugin, rival.reason) == (("fuser", "rrf"), thief, thief.reason)
    assert str(thief) in host.remedy("fuser")


def test_a_name_that_two_packages_offer_is_nobodys(tiny, install):
    install("first", fusers(f"return [{offer()}, {offer(repr('own'))}]"))
    install("second", fusers(f"return [{offer()}]"), version="2.0")
    install("acme", GOOD)
    host = host_of(tiny)
    assert host.names("fuser") == ["alphabetic", "own", "rrf"]
    plugins = by_name(host)
    told = "its fuser 'mine' cannot be used: that is offered by plugin"
    assert (plugins["first"].state, plugins["first"].reason) == ("conflict", f"{told} 'second' of second 2.0")
    assert (plugins["second"].state, plugins["second"].reason) == ("conflict", f"{told} 'first' of first 1.0")
    assert plugins["acme"].state == "loaded"
    with pytest.raises(PluginError) as caught:
        host.find("fuser", "mine")
    assert caught.value.message == (
        "the fuser name 'mine' is offered by plugin 'first' of first 1.0 and by plugin 'second' of second 2.0"
    )
    assert caught.value.remedy == "block all but one of them: `-first` or `-second` in REQALL_PLUGINS"


@pytest.mark.parametrize(("blocked", "left"), [("-first", "second"), ("-Second", "first")])
def test_blocking_one_of_two_gives_the_name_to_the_other(tiny, install, blocked, left):
    for name in ("first", "second"):
        install(name, fusers(f"return [{offer()}]"))
    host = host_of(tiny, allowed=[blocked])
    assert [found.plugin.name for found in host.offers("fuser") if found.registration.name == "mine"] == [left]
    assert host.rivals() == []
    assert by_name(host)[left].state == "loaded"


def test_two_plugins_of_one_name_are_blocked_by_their_distributions(tiny, install, site):
    for distribution in ("first", "second"):
        install(distribution, fusers(f"return [{offer()}]"))
        points = site / f"{distribution}-1.0.dist-info" / "entry_points.txt"
        points.write_text(f"[reqall]\nsame = {distribution}\n")
    with pytest.raises(PluginError) as caught:
        host_of(tiny).find("fuser", "mine")
    assert "`-first` or `-second` in REQALL_PLUGINS" in caught.value.remedy
    assert host_of(tiny, allowed=["-second"]).find("fuser", "mine").name == "mine"


def test_a_name_may_be_used_once_per_kind(tiny, install):
    install("first", fusers(f"return [{offer()}]"))
    install("second", fusers(f"return [{offer()}]", hook="register_rerankers"))
    assert host_of(tiny).rivals() == []


def test_a_configuration_that_uses_a_disputed_name_is_refused_with_its_place(tiny, bare, install):
    for name in ("first", "second"):
        install(name, fusers(f"return [{offer()}]"))
    text = (
        "version: 1\nindexes: {words: {use: words}}\n"
        "pipelines:\n  default: {recall: [{index: words}], fuse: {use: mine}}\n"
    )
    with pytest.raises(ConfigError) as caught:
        validate(parse_yaml(text, "f.yaml"), host_of(tiny), bare)
    assert caught.value.message == (
        "f.yaml:4:51: the fuser name 'mine' is offered by plugin 'first' of first 1.0 and by plugin 'second' of"
        " second 1.0 (block all but one of them: `-first` or `-second` in REQALL_PLUGINS)"
    )
    validate(parse_yaml(text, "f.yaml"), host_of(tiny, allowed=["-first"]), bare)


@pytest.mark.parametrize("source", [THIEF, fusers(f"return [{offer(repr('alphabetic'))}]")])
def test_strict_makes_a_conflict_fatal(tiny, install, source):
    install("acme", GOOD)
    install("other", source)
    with pytest.raises(PluginError, match="cannot be used: that is offered by plugin"):
        host_of(tiny, strict=True)


def test_the_order_of_installation_means_nothing(tiny, site, install, monkeypatch):
    """Two plugins want one name: neither gets it, whichever folder comes first."""
    sources = {"first": fusers(f"return [{offer()}]"), "second": fusers(f"return [{offer()}]"), "acme": GOOD}
    folders = []
    for name, source in sources.items():
        folder = site / name
        folder.mkdir()
        install(name, source, folder=folder)
        folders.append(str(folder))
    seen = set()
    path = list(sys.path)
    for order in itertools.permutations(folders):
        monkeypatch.setattr(sys, "path", [*order, *path])
        host = host_of(tiny)
        mine = tuple(plugin for plugin in host.plugins if plugin.name in {*sources, "tiny_parts"})
        seen.add((mine, tuple((found.registration.name, found.plugin.name) for found in host.offers("fuser"))))
    assert len(seen) == 1
    plugins, offers = seen.pop()
    assert [(plugin.name, plugin.state) for plugin in plugins] == [
        ("tiny_parts", "loaded"),
        ("acme", "loaded"),
        ("first", "conflict"),
        ("second", "conflict"),
    ]
    assert "mine" not in dict(offers)


def test_a_hook_that_will_be_gone_is_noticed(install, monkeypatch):
    monkeypatch.setitem(
        hookspecs.register_fusers.reqall_spec, "warn_on_impl", DeprecationWarning("offer fusers otherwise from 0.9 on")
    )
    install("acme", GOOD)
    with pytest.warns(DeprecationWarning, match=r"otherwise from 0\.9 on"):
        host = PluginHost()
    assert by_name(host)["acme"].notices == ("offer fusers otherwise from 0.9 on",)
    assert "alphabetic" in host.names("fuser"), "a notice changes nothing yet"


def test_a_component_is_described_with_its_package(tiny, install):
    install("acme", GOOD, version="2.1")
    host = host_of(tiny)
    assert host.describe("fuser", "alphabetic") == "fuser 'alphabetic' of acme 2.1"
    assert host.describe("fuser", "unknown") == "fuser 'unknown'"


def test_the_built_ins_load_and_every_hook_is_used():
    host = PluginHost(BUILT_INS, installed=False, strict=True)
    assert {found.kind for found in host.offers()} == set(KINDS)


def test_pip_installs_a_folder_and_the_command_line_lists_it(tmp_path):
    pytest.importorskip("pip", reason="this environment was made without pip")
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("REQALL_", "PIP_"))}
    settings |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "REQALL_HOME": str(tmp_path)}
    folder = str(DISTRIBUTIONS / "acme_fusers")
    done = subprocess.run(
        [*pip, "--target", str(target), folder], capture_output=True, text=True, timeout=100, env=settings
    )
    assert done.returncode == 0, done.stderr
    (target / "exits.py").write_text("raise SystemExit('no licence')\n")
    (target / "exits-1.0.dist-info").mkdir()
    (target / "exits-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: exits\nVersion: 1.0\n")
    (target / "exits-1.0.dist-info" / "entry_points.txt").write_text("[reqall]\nexits = exits\n")
    settings["PYTHONPATH"] = os.pathsep.join([str(target), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "reqall", "plugins", "--json"], capture_output=True, text=True, timeout=100, env=settings
    )
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert {
        "kind": "fuser",
        "name": "alphabetic",
        "summary": "by id",
        "plugin": "acme",
        "distribution": "acme-fusers",
        "version": "2.1",
        "state": "loaded",
        "reason": "",
    } in listed["components"]
    assert [plugin for plugin in listed["left_out"] if plugin["plugin"] == "exits"] == [
        {
            "plugin": "exits",
            "distribution": "exits",
            "version": "1.0",
            "state": "failed",
            "reason": "SystemExit: no licence",
        }
    ]
