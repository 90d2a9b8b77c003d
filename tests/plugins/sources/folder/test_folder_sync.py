"""A folder synced by an App, each time a new one: what was edited, moved, deleted and broken in between."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from reqall import SourceError


def note(uid, text, **front):
    lines = "".join(f"{name}: {value}\n" for name, value in {"id": uid, **front}.items())
    return f"---\n{lines}---\n{text}\n"


@pytest.fixture
def synced(home):
    """Five documents, synced; the files are of the same old time."""
    for number in range(5):
        home.put(f"in/{number}.md", note(f"REQ-{number}", f"It stops {number}.", parents=f"REQ-{number + 1}"), at=1000)
    job = home.sync()
    assert (job.status, job.error) == ("DONE", "")
    assert len(home.held()) == 5
    return home


def test_a_first_sync_finds_by_words_and_by_key(synced):
    synced.put("in/long.md", "# All\n\n" + "REQ-3 " * 50)
    assert synced.sync().status == "DONE"
    assert synced.search("what about REQ-3?")[0] == "REQ-3"
    assert set(synced.search("stops")) == {f"REQ-{number}" for number in range(5)}
    assert synced.links() == {(f"REQ-{number + 1}", f"REQ-{number}", "parents") for number in range(4)}


def test_nothing_changed(synced):
    job = synced.sync()
    assert (job.status, job.message) == ("DONE", "0 changed, 0 deleted, 6 documents in all")


def test_an_edit_within_the_same_second(synced):
    synced.put("in/2.md", note("REQ-2", "It holds 2.", parents="REQ-3"), at=1000)
    assert synced.sync().message == "1 changed, 0 deleted, 6 documents in all"
    assert synced.held()["REQ-2"].sections == {"description": "It holds 2."}
    assert synced.search("holds") == ["REQ-2"]


def test_a_file_that_moved(synced):
    """With an id it stays the same document; without, its place is its id. The count stays as it was."""
    synced.put("in/plain.md", "# Plain\n", at=1000)
    synced.sync()
    (synced.shelf.root / "out").mkdir()
    for name in ("2.md", "plain.md"):
        (synced.shelf.root / "in" / name).rename(synced.shelf.root / "out" / name)
    assert synced.sync().status == "DONE"
    held = synced.held()
    assert (held["REQ-2"].id, held["REQ-2"].fields["file"], held["REQ-2"].path) == ("docs:REQ-2", "out/2.md", ("out",))
    assert "in/plain.md" not in held
    assert held["out/plain.md"].name == "Plain"


@pytest.mark.parametrize("full", [False, True])
def test_one_deleted_and_another_added(synced, full):
    (synced.shelf.root / "in" / "2.md").unlink()
    synced.put("in/9.md", note("REQ-9", "It starts."), at=1000)
    assert synced.sync(full=full).message == "1 changed, 1 deleted, 6 documents in all"
    assert set(synced.held()) == {"REQ-0", "REQ-1", "REQ-3", "REQ-4", "REQ-9"}
    assert synced.links() == {("REQ-1", "REQ-0", "parents"), ("REQ-4", "REQ-3", "parents")}


def test_an_id_that_moved_into_another_file(synced):
    (synced.shelf.root / "in" / "2.md").unlink()
    synced.put("in/1.md", note("REQ-1", "It stops 1.") + "\n## REQ-2 Anew\n\nIt is here.\n", at=1000)
    synced.sync()
    held = synced.held()
    assert (held["REQ-2"].fields["file"], held["REQ-2"].parent_id) == ("in/1.md", "docs:REQ-1")
    assert len(held) == 5


def test_a_link_alone_changed(synced):
    synced.put("in/0.md", note("REQ-0", "It stops 0.", satisfies="REQ-4"), at=1000)
    synced.sync()
    assert ("REQ-4", "REQ-0", "satisfies") in synced.links()
    assert ("REQ-1", "REQ-0", "parents") not in synced.links()


def test_a_file_that_breaks_keeps_what_it_held_and_hides_no_other(synced):
    synced.put("in/2.md", "---\nid: [REQ-2\n---\n")
    synced.put("in/3.md", note("REQ-3", "It was edited."))
    synced.put("in/7.md", note("REQ-7", "It is new."))
    (synced.shelf.root / "in" / "4.md").unlink()
    job = synced.sync()
    assert job.status == "ERROR"
    assert job.error.startswith("in/2.md:3: not YAML")
    assert "nothing is removed" in job.error
    held = synced.held()
    assert held["REQ-2"].sections == {"description": "It stops 2."}
    assert held["REQ-3"].sections == {"description": "It was edited."}
    assert synced.search("new") == ["REQ-7"]
    assert "REQ-4" in held
    synced.put("in/2.md", note("REQ-2", "Mended."))
    assert synced.sync().status == "DONE"
    held = synced.held()
    assert held["REQ-2"].sections == {"description": "Mended."}
    assert "REQ-4" not in held


def test_a_broken_file_at_the_first_sync_hides_no_other(home):
    home.put("a.md", note("REQ-1", "It stops."))
    home.put("b.sdoc", "[DOCUMENT]\nTITLE: x\n\n[REQUIREMENT]\noops\n")
    job = home.sync()
    assert job.status == "ERROR"
    assert job.error.startswith("b.sdoc:5: a field such as TITLE: is expected")
    assert home.search("stops") == ["REQ-1"]


def test_a_folder_that_is_gone_removes_nothing(synced):
    synced.shelf.root.rename(synced.shelf.root.with_name("away"))
    with pytest.raises(SourceError, match="no such folder"):
        synced.sync()
    assert len(synced.held()) == 5


def test_an_emptied_folder_is_asked_about(synced):
    for number in range(30):
        synced.put(f"more/{number}.md", f"# {number}\n")
    synced.sync()
    shutil.rmtree(synced.shelf.root / "more")
    shutil.rmtree(synced.shelf.root / "in")
    job = synced.sync()
    assert job.status == "ERROR"
    assert "none of them was removed" in job.error
    assert len(synced.held()) == 35
    assert synced.sync(allow_removals=True).status == "DONE"
    assert synced.held() == {}


def test_a_server_that_goes_on_sees_every_edit(synced):
    """One App, as in a server: what it has read before is used again only while the bytes are the same."""

    def question(app):
        told = []
        for text in ("one", "two", "two", "one"):
            synced.put("in/2.md", note("REQ-2", text), at=1000)
            job = app.sync("specs")
            (document,) = app.assembly.catalog.documents(["docs:REQ-2"]).values()
            told.append((job.message.partition(",")[0], document.sections["description"]))
        return told

    assert synced.ask(question) == [
        ("1 changed", "one"),
        ("1 changed", "two"),
        ("0 changed", "two"),
        ("1 changed", "one"),
    ]


def test_the_command_line_from_the_file_to_the_answer(home):
    home.put("stk.md", note("STK-1", "Be safe."))
    home.put(
        "sys.sdoc",
        "[DOCUMENT]\nTITLE: System\n\n[REQUIREMENT]\nUID: SYS-1\nTITLE: Stop\nSTATEMENT: The car shall stop.\n"
        "RELATIONS:\n- TYPE: Parent\n  VALUE: STK-1\n",
    )
    home.put("tests/.doorstop.yml", "settings:\n  digits: 3\n  prefix: TC\n  sep: '-'\n")
    home.put(
        "tests/TC-001.yml", "active: true\nlevel: 1.1\nlinks: [SYS-1]\nnormative: true\ntext: |\n  Press the pedal.\n"
    )
    home.put(
        "build/needs.json",
        json.dumps(
            {
                "current_version": "1",
                "versions": {"1": {"needs": {"IMPL_1": {"title": "Pump", "type": "impl", "links": ["SYS-1"]}}}},
            }
        ),
    )

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "reqall", *arguments],
            env={**os.environ, **home.settings, "REQALL_STRICT_PLUGINS": "1"},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "8 documents in all" in run("sync", "specs")
    found = json.loads(run("search", "does TC-001 press it?", "--project", "specs", "--json"))
    assert [hit["document_key"] for hit in found["hits"]][:1] == ["TC-001"]
    assert found["hits"][0]["strategy"] == "exact"
    exported = {item["key"]: item for item in map(json.loads, run("export", "specs").splitlines())}
    assert {(link["type"], link["to"]) for link in exported["SYS-1"]["links"]} >= {
        ("links", exported["TC-001"]["id"]),
        ("links", exported["IMPL_1"]["id"]),
    }
    assert run("check", "--live").count("source docs: answers") == 1
