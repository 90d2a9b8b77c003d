"""What only the whole folder can tell: ids used twice, links to nowhere, what changed since the last walk."""

import logging
import os

import pytest

from reqall import Project


def walk(source, since=None):
    (project,) = source.projects()
    pages = list(source.documents(project, since))
    return [document for page in pages for document in page.items], pages[-1].watermark


def test_an_id_used_twice_is_kept_by_the_first_and_both_are_found_by_it(shelf, caplog):
    shelf.put("a.md", "---\nid: REQ-1\ntitle: First\n---\n")
    shelf.put("b.md", "# B\n\n## REQ-1 Second\n\n## REQ-1 Third\n")
    shelf.put("c.md", "---\nid: REQ-2\nparents: REQ-1\n---\n")
    source = shelf.source()
    documents, _ = walk(source)
    assert [(d.id, d.key, d.name) for d in documents] == [
        ("docs:REQ-1", "REQ-1", "First"),
        ("docs:b.md", "b.md", "B"),
        ("docs:b.md#REQ-1", "REQ-1", "Second"),
        ("docs:b.md#REQ-1-2", "REQ-1", "Third"),
        ("docs:REQ-2", "REQ-2", ""),
    ]
    assert shelf.links() == {("REQ-1", "REQ-2", "parents")}
    told = [
        "the id REQ-1 is used twice: a.md:1 and b.md:3",
        "the id REQ-1 is used twice: a.md:1 and b.md:5",
    ]
    assert source.validate(live=True) == told
    assert source.validate(live=False) == []
    assert [record.message for record in caplog.records] == [f"docs: {line}" for line in told]


def test_links_to_ids_that_no_file_has_are_counted_in_the_log(shelf, caplog):
    shelf.put("a.md", "---\nid: REQ-1\nparents: [REQ-1, NO-1, no-2]\nchildren: req-2\n---\n")
    shelf.put("b.md", "---\nid: REQ-2\nlinks: x.md\n---\n")
    shelf.put("c.md", "---\ntitle: no id\nlinks: c.md\n---\n")
    assert shelf.links() == {("REQ-1", "REQ-2", "children")}
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.message == "docs: no file has the ids of 3 links: NO-1 (a.md:1); no-2 (a.md:1); x.md (b.md:1)"


def test_files_can_be_linked_by_their_paths(shelf):
    shelf.put("a/b.md", "# B\n")
    shelf.put("c.md", "---\nid: REQ-1\nlinks: [a/b.md, d.md]\n---\n")
    shelf.put("d.md", "---\nid: REQ-2\n---\n")
    assert shelf.links() == {("a/b.md", "REQ-1", "links"), ("REQ-2", "REQ-1", "links")}


def test_an_id_that_is_also_a_path(shelf):
    shelf.put("docs/a.md", "# A\n")
    shelf.put("b.md", "---\nid: docs\n---\n")
    shelf.put("c.md", "---\nid: docs/a.md\n---\n")
    documents, _ = walk(shelf.source())
    assert [(d.id, d.key, d.parent_id) for d in documents] == [
        ("docs:docs~", "docs", None),
        ("docs:docs", "docs", None),
        ("docs:docs/a.md", "docs/a.md", None),
        ("docs:docs/a.md~", "docs/a.md", "docs:docs~"),
    ]


def test_control_characters_are_replaced(shelf):
    shelf.put("a.md", '---\nid: R\ttwo\nnote: "a\\u0000b"\n---\n# x\x07y\n\ntab\tand\x1b[0m\n')
    (document,) = walk(shelf.source())[0]
    assert document.key == "R two"
    assert (document.name, document.fields["note"]) == ("x\ufffdy", "a\ufffdb")
    assert document.sections == {"description": "tab\tand\ufffd[0m"}


def test_nothing_comes_when_nothing_changed(shelf):
    shelf.put("a.md", "# A\n", at=1000)
    source = shelf.source(page_size=1)
    documents, watermark = walk(source)
    assert len(documents) == 1
    assert walk(source, watermark) == ([], watermark)
    assert walk(shelf.source(page_size=1), watermark) == ([], watermark)
    assert walk(source, "another")[0] == documents


@pytest.mark.parametrize("same_time", [True, False])
def test_an_edit_of_the_same_length_in_the_same_second_is_seen(shelf, same_time):
    file = shelf.put("a.md", "# A\n\nstop\n", at=1000)
    source = shelf.source()
    _, watermark = walk(source)
    file.write_text("# A\n\nhold\n", encoding="utf-8")
    if same_time:
        os.utime(file, (1000, 1000))
    ((document,), later) = walk(source, watermark)
    assert document.sections == {"description": "hold"}
    assert later != watermark


@pytest.mark.parametrize("change", ["touch", "move", "add", "delete", "options"])
def test_every_change_makes_another_watermark(shelf, change):
    file = shelf.put("a.md", "# A\n", at=1000)
    shelf.put("b.md", "# B\n", at=1000)
    _, before = walk(shelf.source())
    if change == "touch":
        os.utime(file, (2000, 2000))
    if change == "move":
        file.rename(shelf.root / "c.md")
    if change == "add":
        shelf.put("c.md", "# C\n")
    if change == "delete":
        file.unlink()
    documents, after = walk(shelf.source(**({"url_prefix": "https://x.org/"} if change == "options" else {})), before)
    assert after != before
    assert len(documents) == {"add": 3, "delete": 1}.get(change, 2)


def test_only_what_changed_is_parsed_again(shelf):
    for number in range(5):
        shelf.put(f"{number}.md", f"# {number}\n")
    source = shelf.source()
    project = Project("docs:specs", "docs", "specs", "specs")
    before = {entry.file: entry for entry in source.corpus().entries.values()}
    assert source.corpus() is source.corpus()
    shelf.put("3.md", "# changed\n")
    after = {entry.file: entry for entry in source.corpus().entries.values()}
    assert [file for file in after if after[file] is not before[file]] == ["3.md"]
    assert source.count(project) == 5
    assert source.present(project, ["docs:1.md", "docs:nothing"]).items == ["docs:1.md"]
