"""The names that `reqall new-plugin` takes, and what it refuses: clearly, and with nothing half written."""

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.app import BUILT_INS
from reqall.core.errors import InputError
from reqall.core.host import PluginHost
from reqall.scaffold.names import Names
from reqall.scaffold.writing import write_plugin


def failed(*command, cwd):
    """Run Python; what a command that fails tells is returned."""
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=100
    )
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


@pytest.mark.parametrize(
    ("written", "name", "distribution", "package", "classes"),
    [
        ("shout", "shout", "reqall-shout", "reqall_shout", "Shout"),
        ("volume-sync", "volume_sync", "reqall-volume-sync", "reqall_volume_sync", "VolumeSync"),
        ("volume_sync", "volume_sync", "reqall-volume-sync", "reqall_volume_sync", "VolumeSync"),
        ("reqall-volume-sync", "volume_sync", "reqall-volume-sync", "reqall_volume_sync", "VolumeSync"),
        ("bm25f", "bm25f", "reqall-bm25f", "reqall_bm25f", "Bm25f"),
        ("class", "class", "reqall-class", "reqall_class", "Class"),
    ],
)
def test_names_are_made_of_one_word(written, name, distribution, package, classes):
    names = Names.of(written)
    assert (names.name, names.distribution, names.package, names.in_classes) == (name, distribution, package, classes)


@pytest.mark.parametrize(
    ("name", "told", "remedy"),
    [
        ("", "cannot be the name of a plugin", "such as volume-sync"),
        ("Volume Sync", "cannot be the name of a plugin", "such as volume-sync"),
        ("2nd", "cannot be the name of a plugin", "such as nd"),
        ("größe", "cannot be the name of a plugin", "such as gr-e"),
        ("a--b", "cannot be the name of a plugin", "such as a-b"),
        ("-a", "cannot be the name of a plugin", "such as a"),
        ("../up", "cannot be the name of a plugin", "such as up"),
        ("a/b", "cannot be the name of a plugin", "such as a-b"),
        ("a\n", "cannot be the name of a plugin", "such as a"),
        ("rrf", "'rrf' is the name of reqall's own fuser", "choose another"),
        ("sqlite-fts5", "'sqlite_fts5' is the name of reqall's own recaller", "choose another"),
        ("pytest", "a module 'reqall_pytest' is installed already", "choose another name"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, told, remedy, tmp_path):
    with pytest.raises(InputError) as caught:
        write_plugin("chunker", name, tmp_path)
    assert told in caught.value.message
    assert remedy in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


TAKEN = {offer.registration.name for offer in PluginHost(BUILT_INS, installed=False).offers()}


@given(st.text(st.sampled_from("ab1-_ .A/ß\n")) | st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True) | st.text())
def test_a_name_that_is_taken_on_can_be_installed_and_imported(text):
    try:
        names = Names.of(text)
    except InputError:
        return
    # https://packaging.python.org/en/latest/specifications/name-normalization/
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", names.distribution)
    assert names.package.isidentifier()
    assert names.package == names.distribution.replace("-", "_")
    assert f"{names.in_classes}Fuser".isidentifier()
    assert names.name not in TAKEN


@pytest.mark.parametrize("kind", ["recallers", "fusor", "", "every", "searched"])
def test_an_unknown_kind_is_refused(kind, tmp_path):
    with pytest.raises(InputError, match="no kind of components is named") as caught:
        write_plugin(kind, "shout", tmp_path)
    assert "source, chunker, embedder" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_already_is_left_alone(tmp_path):
    (tmp_path / "reqall-shout").mkdir()
    (tmp_path / "reqall-loud").write_text("mine")
    (tmp_path / "reqall-gone").symlink_to(tmp_path / "nowhere")
    for name in ("shout", "loud", "gone"):
        with pytest.raises(InputError, match="exists already"):
            write_plugin("fuser", name, tmp_path)
    assert list((tmp_path / "reqall-shout").iterdir()) == []
    assert (tmp_path / "reqall-loud").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    for folder in (tmp_path / "nowhere", tmp_path / "file"):
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match="no such folder"):
            write_plugin("fuser", "shout", folder)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_nothing_is_left_where_it_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        write_plugin("fuser", "a" * 300, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="a limit on the size of files is set as POSIX does")
def test_nothing_is_left_of_what_was_half_written(tmp_path):
    """The disk is full, so to speak: the smaller files fit, the others do not."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600));"
        "from reqall.cli import main; sys.argv = ['reqall', 'new-plugin', 'fuser', 'shout']; main()"
    )
    told = failed("-c", code, cwd=tmp_path)
    assert told.startswith("error: reqall-shout cannot be written: File too large")
    assert list(tmp_path.iterdir()) == []


def test_the_command_tells_what_is_wrong(tmp_path):
    told = failed("-m", "reqall", "new-plugin", "fuser", "rrf", cwd=tmp_path)
    assert told.startswith("error: 'rrf' is the name of reqall's own fuser")
