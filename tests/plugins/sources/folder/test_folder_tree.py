"""Which files are read: globs, links, sizes, encodings, folders of other people."""

import os
import shutil
import sys

import pytest

from reqall import Project, SourceError, SupportsCount, SupportsPresence, SupportsValidation
from reqall.plugins.sources.folder.tree import Tree

NOTE = "# Note\n\nText.\n"


def keys(shelf, **options):
    return sorted(key for key, document in shelf.documents(**options).items() if document.type_name != "Folder")


def test_the_folder_is_the_project(shelf):
    source = shelf.source()
    assert source.projects() == [Project("docs:specs", "docs", "specs", "specs")]
    assert shelf.source(name="Brakes").projects() == [Project("docs:Brakes", "docs", "Brakes", "Brakes")]
    assert isinstance(source, SupportsCount)
    assert isinstance(source, SupportsPresence)
    assert isinstance(source, SupportsValidation)


def test_folders_hold_the_files(shelf):
    shelf.put("a/b/c.md", NOTE)
    shelf.put("a/d.md", NOTE)
    found = shelf.documents()
    assert [(key, document.name, document.parent_id, document.type_name) for key, document in found.items()] == [
        ("a", "a", None, "Folder"),
        ("a/b", "b", "docs:a", "Folder"),
        ("a/b/c.md", "Note", "docs:a/b", "Document"),
        ("a/d.md", "Note", "docs:a", "Document"),
    ]
    assert found["a"].fields == {}
    assert found["a"].modified is None


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), ["a.md", "docs/b.md", "docs/drafts/c.md", "src/docs/d.md"]),
        (("docs/**",), (), ["docs/b.md", "docs/drafts/c.md"]),
        (("docs",), (), ["docs/b.md", "docs/drafts/c.md", "src/docs/d.md"]),
        (("/docs/",), ("drafts",), ["docs/b.md", "src/docs/d.md"]),
        (("*.md",), ("docs/drafts/*", "src/**"), ["a.md", "docs/b.md"]),
        (("{a,b}.md",), (), ["a.md", "docs/b.md"]),
        ((), ("*.md",), []),
    ],
)
def test_globs(shelf, include, exclude, expected):
    for path in ("a.md", "docs/b.md", "docs/drafts/c.md", "src/docs/d.md"):
        shelf.put(path, NOTE)
    assert keys(shelf, include=include, exclude=exclude) == expected


def test_folders_of_other_people_are_left_out(shelf):
    for folder in (".git", ".venv", "venv", "node_modules/x", "__pycache__", "a/.hidden", "a/node_modules"):
        shelf.put(f"{folder}/note.md", NOTE)
    shelf.put("a/.note.md", NOTE)
    assert keys(shelf) == ["a/.note.md"]


def test_formats_that_are_not_named_are_left_alone(shelf):
    shelf.put("a.md", NOTE)
    shelf.put("b.sdoc", "broken")
    shelf.put("needs.json", "broken")
    shelf.put("r/.doorstop.yml", "broken: [")
    assert keys(shelf, formats=("markdown",)) == ["a.md"]
    with pytest.raises(ValueError, match="formats"):
        shelf.source(formats=())


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_links_are_not_followed(shelf, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret", encoding="utf-8")
    shelf.put("in/real.md", NOTE)
    (shelf.root / "folder").symlink_to(outside)
    (shelf.root / "file.md").symlink_to(outside / "secret.md")
    (shelf.root / "again.md").symlink_to(shelf.root / "in" / "real.md")
    (shelf.root / "circle").symlink_to(shelf.root)
    (shelf.root / "dead.md").symlink_to(tmp_path / "nothing")
    assert keys(shelf) == ["in/real.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_the_folder_itself_may_be_a_link(shelf, tmp_path):
    shelf.put("a.md", NOTE)
    (tmp_path / "alias").symlink_to(shelf.root)
    shelf.root = tmp_path / "alias"
    assert shelf.source().projects()[0].name == "specs"
    assert keys(shelf) == ["a.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_not_opened(shelf):
    os.mkfifo(shelf.root / "pipe.md")
    assert keys(shelf) == []


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(shelf):
    shelf.put("a.md", b"\xef\xbb\xbf---\r\nid: REQ-1\r\n---\r\nTwo\r\nlines.\rThree.")
    found = shelf.documents()
    assert found["REQ-1"].sections == {"description": "Two lines. Three."}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# One\n\n\xff\xfe\n", "b.md:3: not UTF-8"),
        ("# \ud800".encode("utf-8", "surrogatepass"), "b.md:1: not UTF-8"),
        (b"x" * 101, "b.md:1: larger than 100 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_ends_the_walk_after_all_others(shelf, content, message):
    shelf.put("a.md", NOTE)
    shelf.put("b.md", content)
    shelf.put("c.md", NOTE)
    source = shelf.source(max_file_bytes=100)
    (project,) = source.projects()
    pages = source.documents(project, None)
    assert [document.key for document in next(pages).items] == ["a.md", "c.md"]
    for walk in (pages, source.links(project), source.document_ids(project)):
        with pytest.raises(SourceError) as caught:
            list(walk)
        assert caught.value.message == message
        assert "exclude" in caught.value.remedy
    for call in (lambda: source.count(project), lambda: source.present(project, ["docs:a.md"])):
        with pytest.raises(SourceError):
            call()
    assert source.validate(live=True) == [message]
    assert [each.name for each in source.describe(project)] == ["Document"]


def test_many_broken_files_are_counted(shelf):
    for number in range(8):
        shelf.put(f"{number}.sdoc", "x")
    with pytest.raises(SourceError) as caught:
        shelf.documents()
    assert caught.value.message.startswith("8 of the folder's files cannot be read: 0.sdoc:1: ")
    assert caught.value.message.endswith(" and 3 more")


def test_a_folder_that_cannot_be_listed_is_a_broken_one(shelf):
    """Here it goes while the tree is walked; a permission that is missing shows in the same way."""
    shelf.put("a.md", NOTE)
    shelf.put("b/c.md", NOTE)

    def wanted(name):
        shutil.rmtree(shelf.root / "b", ignore_errors=True)
        return True

    listing = Tree(shelf.root, (), (), 100).listing(wanted)
    assert listing.paths == ["a.md"]
    assert [problem.message for problem in listing.problems] == [
        "b: the folder cannot be listed (No such file or directory)"
    ]


def test_a_folder_that_is_not_there_is_no_empty_one(shelf):
    shelf.root.rmdir()
    source = shelf.source()
    with pytest.raises(SourceError, match="no such folder"):
        source.projects()
    with pytest.raises(SourceError, match="no such folder"):
        list(source.documents(Project("docs:specs", "docs", "specs", "specs"), None))
    (told,) = source.validate(live=False)
    assert told == f"{shelf.root}: no such folder"


def test_an_address_for_the_web(shelf):
    shelf.put("a b/ö.md", NOTE)
    found = shelf.documents(url_prefix="https://example.org/blob/main/")
    assert found["a b/ö.md"].url == "https://example.org/blob/main/a%20b/%C3%B6.md"
    assert shelf.documents()["a b/ö.md"].url is None
    with pytest.raises(ValueError, match="not a whole address"):
        shelf.source(url_prefix="docs/")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are text there")
def test_a_name_that_is_no_text_is_read(shelf):
    path = os.fsencode(shelf.root) + b"/\xff.md"
    with open(path, "wb") as stream:  # noqa: PTH123 - pathlib takes no bytes
        stream.write(b"# Odd\n")
    assert keys(shelf) == ["\ufffd.md"]
