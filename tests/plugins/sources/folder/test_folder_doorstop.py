"""Doorstop's documents become documents with their items below them, by level."""

import pytest

from reqall import SourceError

CONFIG = "settings:\n  digits: 3\n  prefix: {}\n  sep: ''\n"


def item(text="", **values):
    lines = {"active": "true", "level": "1.1", "normative": "true", "header": "''", **values}
    return "".join(f"{name}: {value}\n" for name, value in lines.items()) + f"text: |\n  {text}\n"


@pytest.fixture
def requirements(shelf):
    shelf.put("reqs/.doorstop.yml", CONFIG.format("REQ") + "  parent: SYS\n")
    return shelf


def test_an_item_with_all_its_attributes(requirements):
    requirements.put(
        "reqs/REQ001.yml",
        "active: true\nderived: true\nheader: |\n  Stop *now*\nlevel: 2.1\nlinks:\n- SYS001: null\nnormative: true\n"
        "ref: src/brake.c\nreferences:\n- path: a.c\n  type: file\nreviewed: abc=\npriority: 1\n"
        "why: |\n  Because\n  it is.\ntext: |\n  It shall **stop**.\n",
    )
    requirements.put("sys/.doorstop.yml", CONFIG.format("SYS"))
    requirements.put("sys/SYS001.yml", item("Be safe."))
    found = requirements.documents()
    document = found["REQ001"]
    assert (document.id, document.name, document.type_name, document.status) == (
        *("docs:REQ001", "Stop now", "REQ", "active"),
    )
    assert document.sections == {"text": "It shall stop.", "why": "Because it is."}
    assert document.fields == {
        "file": "reqs/REQ001.yml",
        "level": "2.1",
        "normative": True,
        "derived": True,
        "reviewed": True,
        "ref": "src/brake.c",
        "references": [{"path": "a.c", "type": "file"}],
        "priority": "1",
    }
    assert document.parent_id == "docs:reqs"
    assert (found["reqs"].name, found["reqs"].type_name) == ("REQ", "Document")
    assert found["reqs"].fields == {"file": "reqs/.doorstop.yml", "prefix": "REQ", "parent": "SYS"}
    assert requirements.links() == {("SYS001", "REQ001", "links")}


def test_items_hang_by_level(requirements):
    heading = {"normative": "false"}
    for uid, text, level, more in (
        *(("REQ010", "Later", "1.10", {}), ("REQ001", "All", "1.0", heading), ("REQ003", "Second", "1.2", {})),
        *(("REQ002", "First", "1.1.0", heading), ("REQ004", "Below the first", "1.1.2", {})),
        *(("REQ005", "Beside the heading", "1.1", {}), ("REQ006", "No chapter", "3.1.1", {})),
    ):
        requirements.put(f"reqs/REQ{uid[3:]}.yml", item(text, level=level, **more))
    found = requirements.documents()
    parents = {key: document.parent_id[5:] for key, document in found.items() if document.parent_id}
    assert parents == {
        "REQ001": "reqs",
        "REQ002": "REQ001",
        "REQ004": "REQ002",
        "REQ005": "REQ002",
        "REQ003": "REQ001",
        "REQ010": "REQ001",
        "REQ006": "reqs",
    }
    assert list(found)[1:] == ["REQ001", "REQ002", "REQ005", "REQ004", "REQ003", "REQ010", "REQ006"]
    assert (found["REQ001"].name, found["REQ001"].type_name, found["REQ001"].sections) == ("All", "Heading", {})


def test_inactive_items_are_found_as_such(requirements):
    requirements.put("reqs/REQ001.yml", item("Gone.", active="false"))
    requirements.put("reqs/REQ002.yml", item("Own.", status="Draft", type="Wish"))
    found = requirements.documents()
    assert (found["REQ001"].status, found["REQ002"].status, found["REQ002"].type_name) == ("inactive", "Draft", "Wish")


def test_markdown_items(shelf):
    shelf.put("reqs/.doorstop.yml", CONFIG.format("REQ") + "  itemformat: markdown\n")
    shelf.put("reqs/REQ-001.md", "---\nlevel: 1.1\nactive: true\n---\n\n# Stop\n\nIt *shall*.\n\n# Not a header\n")
    shelf.put("reqs/REQ-002.md", "Only text.\n")
    shelf.put("reqs/REQ-003.md", "---\n---\nBare.\n")
    shelf.put("reqs/README.md", "# About\n\nNo item.\n")
    shelf.put("reqs/REQ-004.yml", "text: no item here\n")
    found = shelf.documents()
    assert set(found) == {"reqs", "REQ-001", "REQ-002", "REQ-003", "reqs/README.md"}
    assert (found["REQ-001"].name, found["REQ-001"].sections) == ("Stop", {"text": "It shall.\n\nNot a header"})
    assert found["REQ-002"].sections == {"text": "Only text."}
    assert found["REQ-003"].sections == {"text": "Bare."}
    assert found["reqs/README.md"].name == "About"
    assert found["reqs/README.md"].parent_id == "docs:reqs"


def test_a_link_is_suspect_when_its_target_is_not_as_it_was_confirmed(requirements):
    requirements.put("reqs/REQ001.yml", item("Stop."))
    stamp = "drMdSM9VQCckU4awGLwVQXkNuSNTT1ln-0f88TzV9FE="
    links = {
        "REQ002": f"[REQ001: {stamp}]",
        "REQ003": "[REQ001: old=]",
        "REQ004": "[REQ001]",
        "REQ005": "[REQ001: null]",
    }
    for uid, written in links.items():
        requirements.put(f"reqs/{uid}.yml", item("x", links=written))
    found = {link.to_id[5:]: link.suspect for link in requirements.source().corpus().links}
    assert found == {"REQ002": False, "REQ003": True, "REQ004": True, "REQ005": True}


def test_no_link_is_suspect_where_the_fingerprint_cannot_be_told(shelf):
    shelf.put("reqs/.doorstop.yml", CONFIG.format("REQ") + "attributes:\n  reviewed:\n  - owner\n")
    shelf.put("reqs/REQ001.yml", item("Stop.", owner="me"))
    shelf.put("reqs/REQ002.yml", item("x", links="[REQ001: old=]"))
    (link,) = shelf.source().corpus().links
    assert not link.suspect


def test_a_document_within_a_document_has_its_own_items(requirements):
    requirements.put("reqs/sub/.doorstop.yml", CONFIG.format("REQ.SUB"))
    requirements.put("reqs/sub/REQ.SUB001.yml", item("Inner."))
    requirements.put("reqs/more/REQ007.yml", item("Outer."))
    parents = {key: document.parent_id for key, document in requirements.documents().items()}
    assert parents["REQ.SUB001"] == "docs:reqs/sub"
    assert parents["reqs/sub"] == "docs:reqs"
    assert parents["REQ007"] == "docs:reqs"


def test_a_document_at_the_top(shelf):
    shelf.put(".doorstop.yml", CONFIG.format("REQ"))
    shelf.put("REQ001.yml", item("Stop."))
    parents = {key: document.parent_id for key, document in shelf.documents().items()}
    assert parents == {".doorstop.yml": None, "REQ001": "docs:.doorstop.yml"}


@pytest.mark.parametrize("marker", ["reqs/.doorstop.skip", "reqs/.doorstop.skip-all", ".doorstop.skip-all"])
def test_what_doorstop_skips_is_skipped(requirements, marker):
    requirements.put("reqs/REQ001.yml", item("Stop."))
    requirements.put(marker)
    assert requirements.documents() == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", r"^reqs/REQ002\.yml:2: not YAML"),
        ("text: |\n  x\nlevel: high\n", r"^reqs/REQ002\.yml:1: its level"),
        ("- a list\n", r"^reqs/REQ002\.yml:1: not an item"),
        ("text: a\ntext: b\n", r"^reqs/REQ002\.yml:2: the key 'text' is there twice"),
    ],
)
def test_a_broken_item_does_not_hide_the_others(requirements, text, message):
    requirements.put("reqs/REQ001.yml", item("Stop."))
    requirements.put("reqs/REQ002.yml", text)
    source = requirements.source()
    pages = source.documents(source.projects()[0], None)
    assert [document.key for document in next(pages).items] == ["reqs", "REQ001"]
    with pytest.raises(SourceError, match=message):
        next(pages)


def test_a_broken_document_is_reported_and_its_items_are_no_documents_of_another_kind(shelf):
    shelf.put("reqs/.doorstop.yml", "settings: {itemformat: markdown}\n")
    shelf.put("reqs/REQ-001.md", "Only text.\n")
    source = shelf.source()
    assert source.corpus().documents == []
    assert source.validate(live=True) == ["reqs/.doorstop.yml:1: no settings with a prefix"]
