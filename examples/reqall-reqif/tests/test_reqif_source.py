"""The source keeps the contracts of reqall, and notices whatever changes."""

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reqall.testing.contracts import (
    CountContract,
    LinkChangesContract,
    PresenceContract,
    SourceContract,
    ValidationContract,
)


class Contract(SourceContract, CountContract, PresenceContract, LinkChangesContract, ValidationContract):
    """All that this source promises; `export` is the file under test."""

    export = ""
    edited = ("", "", "")
    deleted = ""

    @pytest.fixture
    def file(self, exports, tmp_path):
        return Path(shutil.copy(exports / self.export, tmp_path))

    @pytest.fixture
    def source(self, file, source_of):
        return source_of(file.parent, page_size=2)

    @pytest.fixture
    def edit_document(self, file):
        def edit():
            old, new, edited = self.edited
            text = file.read_text(encoding="utf-8")
            assert text.count(old) == 1
            file.write_text(text.replace(old, new), encoding="utf-8")
            return edited

        return edit

    @pytest.fixture
    def delete_document(self, file):
        def delete():
            text = file.read_text(encoding="utf-8")
            shorter = re.sub(rf'(?s)<SPEC-OBJECT [^>]*IDENTIFIER="{self.deleted}".*?</SPEC-OBJECT>', "", text)
            assert shorter != text
            file.write_text(shorter, encoding="utf-8")
            return f"reqif:{self.deleted}"

        return delete


class TestDoors(Contract):
    export = "doors.reqif"
    edited = ("lower the", "lift the", "reqif:_1_need")
    deleted = "_1_need"


class TestPolarion(Contract):
    export = "polarion.reqif"
    edited = ("a hand,", "a finger,", "reqif:rmf-door")
    deleted = "rmf-door"


class TestJama(Contract):
    export = "jama.reqif"
    edited = ("sound an alarm", "flash", "reqif:_j-1")
    deleted = "_j-1"


class TestStrictdoc(Contract):
    export = "strictdoc.reqif"
    edited = ("stop within 1 s", "stop within 3 s", "reqif:REQUIREMENT-5a")
    deleted = "REQUIREMENT-5a"


class TestCapella(Contract):
    export = "capella.reqif"
    edited = ("The clock shall", "The wall clock shall", "reqif:rmf-1")
    deleted = "rmf-1"


def walk(source, since):
    project = source.projects()[0]
    pages = list(source.documents(project, since))
    return [document.key for page in pages for document in page.items], pages[-1].watermark


@pytest.fixture
def polarion(exports, tmp_path):
    return Path(shutil.copy(exports / "polarion.reqif", tmp_path))


def test_while_the_file_is_the_same_nothing_is_walked(polarion, source_of):
    source = source_of(polarion)
    keys, watermark = walk(source, None)
    assert len(keys) == 2
    assert walk(source, watermark) == ([], watermark)
    polarion.touch()
    assert walk(source_of(polarion), watermark) == ([], watermark), "another process, another time of the file"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("How doors close.", "How doors open."),
        ('LONG-NAME="Draft"', 'LONG-NAME="In work"'),
        ("2023-06-30T10:46:58.611Z", "2020-01-01T00:00:00Z"),
        ("\n</REQ-IF>", "</REQ-IF>"),
    ],
)
def test_whatever_changes_is_walked(polarion, source_of, old, new):
    """An edit that LAST-CHANGE does not tell, the label of a choice, a file that is older."""
    source = source_of(polarion)
    keys, watermark = walk(source, None)
    text = polarion.read_text(encoding="utf-8")
    polarion.write_text(text.replace(old, new) + "\n", encoding="utf-8")
    again, later = walk(source, watermark)
    assert again == keys
    assert later != watermark


def test_links_are_told_only_while_nothing_has_changed(polarion, source_of):
    source = source_of(polarion)
    (project,) = source.projects()
    watermark = walk(source, None)[1]
    (told,) = source.changed_links(project, watermark, ["reqif:rmf-door"], {}).items
    assert told == ("reqif:rmf-door", [])
    polarion.write_bytes(polarion.read_bytes() + b"\n")
    assert source.changed_links(project, watermark, [], {}) is None


def test_other_options_walk_all(polarion, source_of):
    keys, watermark = walk(source_of(polarion), None)
    assert walk(source_of(polarion, key_attributes=["Weight"]), watermark)[0] == ["rmf-section", "2.5"]
    assert len(keys) == 2


def test_a_watermark_tells_the_newest_change(polarion, source_of):
    watermark = walk(source_of(polarion), None)[1]
    assert datetime.fromisoformat(watermark.split()[0]) == datetime(2023, 6, 30, 10, 46, 58, 611_000, tzinfo=UTC)


def test_pages_hold_what_was_asked(exports, source_of):
    source = source_of(exports / "strictdoc.reqif", page_size=2)
    project = source.projects()[0]
    assert [len(page.items) for page in source.documents(project, None)] == [2, 1]
    assert {page.total for page in source.documents(project, None)} == {3}


def test_a_project_that_is_gone_is_empty(polarion, exports, source_of):
    source = source_of(polarion)
    project = source.projects()[0]
    shutil.copy(exports / "jama.reqif", polarion)
    assert source.count(project) == 0
    assert [page.items for page in source.documents(project, None)] == [[]]


def test_validation_tells_each_problem_in_a_line(exports, tmp_path, source_of):
    missing = tmp_path / "missing"
    for live in (False, True):
        (problem,) = source_of(missing).validate(live=live)
        assert problem.startswith(f"{missing}: no such file or folder")
    empty = tmp_path / "empty"
    empty.mkdir()
    (problem,) = source_of(empty).validate(live=False)
    assert "no .reqif or .reqifz file in this folder" in problem
    shutil.copy(exports / "jama.reqif", empty)
    (empty / "bad.reqif").write_text("<REQ-IF>", encoding="utf-8")
    (empty / "worse.reqifz").write_bytes(b"PK")
    assert source_of(empty).validate(live=False) == []
    problems = source_of(empty).validate(live=True)
    assert len(problems) == 2
    assert [problem.count("\n") for problem in problems] == [0, 0]
    assert "bad.reqif:1: not readable" in problems[0]
    assert "worse.reqifz: the archive cannot be read" in problems[1]


def test_one_file_that_changes_is_the_only_one_read_again(exports, tmp_path, source_of):
    for name in ("jama.reqif", "polarion.reqif"):
        shutil.copy(exports / name, tmp_path)
    source = source_of(tmp_path)
    before = {each.place: each for each in source.collection().exchanges}
    with (tmp_path / "jama.reqif").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    after = {each.place: each for each in source.collection().exchanges}
    same = [place for place, exchange in before.items() if after[place] is exchange]
    assert same == [str(tmp_path / "polarion.reqif")]
