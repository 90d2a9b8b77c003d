"""The source keeps the contract of sources, with each format."""

import json

import pytest

from reqall import Services
from reqall.plugins.sources.folder.options import FolderOptions
from reqall.plugins.sources.folder.source import FolderSource
from reqall.testing.contracts import CountContract, PresenceContract, SourceContract, ValidationContract

DOORSTOP = "settings:\n  digits: 3\n  prefix: {}\n  sep: '-'\n"
ITEM = "active: true\nlevel: {}\nlinks: [{}]\nnormative: true\nheader: {}\nowner: me\ntext: |\n  {}\n"
SDOC = (
    "[DOCUMENT]\nTITLE: System\nVERSION: 1\n\n[[SECTION]]\nTITLE: Braking\n\n[REQUIREMENT]\nUID: SYS-1\nSTATUS: Draft\n"
    "TITLE: Stop\nSTATEMENT: {}\n\n[REQUIREMENT]\nUID: SYS-2\nSTATEMENT: It holds.\nRELATIONS:\n- TYPE: Parent\n"
    "  VALUE: SYS-1\n\n[[/SECTION]]\n"
)


class Written:
    """A folder that `write` fills; `edited` is the document that `write` gives another text."""

    edited = ""

    def write(self, shelf, text):
        raise NotImplementedError

    @pytest.fixture
    def written(self, shelf):
        self.write(shelf, "It stops.")
        shelf.put("about/other.sdoc", "[DOCUMENT]\nTITLE: About\n\n[TEXT]\nSTATEMENT: All of it.\n")
        return shelf

    @pytest.fixture
    def source(self, written):
        return written.source(page_size=2)

    @pytest.fixture
    def edit_document(self, shelf):
        def edit():
            self.write(shelf, "It halts.")
            return self.edited

        return edit

    @pytest.fixture
    def delete_document(self, shelf):
        def delete():
            (shelf.root / "about" / "other.sdoc").unlink()
            return "docs:about/other.sdoc"

        return delete


class TestSdoc(Written, SourceContract, CountContract, PresenceContract, ValidationContract):
    edited = "docs:SYS-1"

    def write(self, shelf, text):
        shelf.put("sys.sdoc", SDOC.format(text))


class TestMarkdown(Written, SourceContract, CountContract, PresenceContract, ValidationContract):
    edited = "docs:REQ-1"

    def write(self, shelf, text):
        shelf.put(
            "a.md", f"---\nid: REQ-0\nlevels: {{a: [1, 2]}}\n---\n# All\n\n## REQ-1 Stop {{verifies=REQ-0}}\n\n{text}\n"
        )
        shelf.put("b/c.md", "# Plain\n\nA <b>bold</b> text.\n\n<p>And</p>\n")


class TestDoorstop(Written, SourceContract, CountContract, PresenceContract, ValidationContract):
    edited = "docs:REQ-001"

    def write(self, shelf, text):
        shelf.put("reqs/.doorstop.yml", DOORSTOP.format("REQ"))
        shelf.put("reqs/REQ-001.yml", ITEM.format("1.1", "", "Stop", text))
        shelf.put("tests/.doorstop.yml", DOORSTOP.format("TST") + "  parent: REQ\n")
        shelf.put("tests/TST-001.yml", ITEM.format("1.0", "REQ-001: x", "", "Press."))
        shelf.put("tests/TST-002.yml", ITEM.format("1.1", "REQ-001", "", "Release."))


class TestNeedsJson(Written, SourceContract, CountContract, PresenceContract, ValidationContract):
    edited = "docs:REQ_1"

    def write(self, shelf, text):
        needs = {
            "REQ_1": {"title": "Stop", "type": "req", "content": text, "docname": "srs", "sections": ["Brakes"]},
            "TC_1": {
                "title": "Try",
                "type": "test",
                "links": ["REQ_1"],
                "tags": ["x"],
                "docname": "srs",
                "part": {"a": 1},
            },
        }
        shelf.put("needs.json", json.dumps({"current_version": "1", "versions": {"1": {"needs": needs}}}))


class TestAllTogether(Written, SourceContract, CountContract, PresenceContract, ValidationContract):
    edited = "docs:SYS-1"
    formats = (TestSdoc, TestMarkdown, TestDoorstop, TestNeedsJson)

    @pytest.fixture
    def source(self, written):
        return FolderSource(FolderOptions(path=written.root, page_size=2), Services(name="docs"))

    def write(self, shelf, text):
        for each in self.formats:
            each.write(self, shelf, text)
