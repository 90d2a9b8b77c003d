"""Markdown files become documents; front matter, ids in headings and labelled lines say what they are."""

import re
from datetime import UTC, datetime

import pytest

from reqall import SourceError
from reqall.plugins.sources.folder.headings import read_heading
from reqall.plugins.sources.folder.options import FolderOptions

IDS = FolderOptions(path=".").heading_ids


def test_front_matter_says_what_a_file_is(shelf):
    shelf.put(
        "brakes/stop.md",
        "---\nid: REQ-1\nTitle: Stopping  distance\ntype: Need\nstatus: Approved\nparents: [STK-1, 'STK-2']\n"
        "verified-by: TC-1, TC-2\nowner: Bee\nsafe: yes\nlevel: 1.10\ntags: [a, b]\ncreated: 2024-02-29\n"
        "modified: 2024-03-01T01:00:00+02:00\nrationale: Short.\nhistory: |\n  Long\n  story\n---\n"
        "It shall stop.\n",
    )
    for key in ("STK-1", "STK-2", "TC-1", "TC-2"):
        shelf.put(f"{key}.md", f"---\nid: {key}\n---\n")
    document = shelf.documents()["REQ-1"]
    assert (document.id, document.name, document.type_name, document.status) == (
        *("docs:REQ-1", "Stopping distance", "Need", "Approved"),
    )
    assert document.sections == {"rationale": "Short.", "history": "Long\nstory", "description": "It shall stop."}
    assert document.fields == {
        "file": "brakes/stop.md",
        "parents": ["STK-1", "STK-2"],
        "verified-by": "TC-1, TC-2",
        "owner": "Bee",
        "safe": "yes",
        "level": "1.10",
        "tags": ["a", "b"],
    }
    assert document.created == datetime(2024, 2, 29, tzinfo=UTC)
    assert document.modified == datetime(2024, 2, 29, 23, tzinfo=UTC)
    assert document.parent_id == "docs:brakes"
    assert shelf.links() == {
        ("STK-1", "REQ-1", "parents"),
        ("STK-2", "REQ-1", "parents"),
        ("REQ-1", "TC-1", "verified-by"),
        ("REQ-1", "TC-2", "verified-by"),
    }


def test_a_file_without_front_matter_is_named_by_its_heading_or_its_name(shelf):
    shelf.put("a.md", "<!-- a licence -->\n\n# The *brakes*\n\nText.\n", at=1_700_000_000.25)
    shelf.put("b.markdown", "No heading.\n")
    shelf.put("c.md", "")
    found = shelf.documents()
    assert [(key, document.name, document.type_name) for key, document in found.items()] == [
        ("a.md", "The brakes", "Document"),
        ("b.markdown", "b", "Document"),
        ("c.md", "c", "Document"),
    ]
    assert found["a.md"].sections == {"description": "Text."}
    assert found["a.md"].modified == datetime(2023, 11, 14, 22, 13, 20, 250_000, UTC)
    assert found["c.md"].sections == {}


def test_headings_with_ids_are_documents_and_others_are_sections(shelf):
    shelf.put(
        "srs.md",
        "# Brakes\n\nIntro.\n\n## General\n\nAll.\n\n### REQ-1 Stop\n\nIt stops.\n\n#### Rationale\n\nSafety.\n\n"
        "#### REQ-1.1: Quickly\n\nIn 40 m.\n\n### [REQ-2] Hold {status=Draft}\n\nIt holds.\n\n## Annex\n\nMore.\n\n"
        '## Release {#REQ-3 verifies="REQ-1 REQ-2" .box}\n\nIt releases.\n\n## General\n\nAgain.\n',
    )
    found = shelf.documents()
    assert [(key, document.name, document.parent_id) for key, document in found.items()] == [
        ("srs.md", "Brakes", None),
        ("REQ-1", "Stop", "docs:srs.md"),
        ("REQ-1.1", "Quickly", "docs:REQ-1"),
        ("REQ-2", "Hold", "docs:srs.md"),
        ("REQ-3", "Release", "docs:srs.md"),
    ]
    assert found["srs.md"].sections == {
        "description": "Intro.",
        "General": "General\n\nAll.\n\nGeneral\n\nAgain.",
        "Annex": "Annex\n\nMore.",
    }
    assert found["REQ-1"].sections == {"description": "It stops.", "Rationale": "Rationale\n\nSafety."}
    assert (found["REQ-2"].status, found["REQ-2"].type_name) == ("Draft", "Requirement")
    assert shelf.links() == {("REQ-1", "REQ-3", "verifies"), ("REQ-2", "REQ-3", "verifies")}


def test_the_first_heading_may_hold_the_id_of_the_file(shelf):
    shelf.put("a.md", "# SYS-001 Brakes\n\nText.\n")
    shelf.put("b.md", "---\nid: SYS-002\n---\n# SYS-003 Doors\n")
    shelf.put("c.md", "---\nname: Lights\nstatus: Old\n---\n# All about lights {status=New}\n\nText.\n")
    found = shelf.documents()
    assert (found["SYS-001"].name, found["SYS-001"].type_name) == ("Brakes", "Requirement")
    assert found["SYS-002"].name == "SYS-003 Doors"
    assert (found["c.md"].name, found["c.md"].status) == ("Lights", "Old")
    assert found["c.md"].fields == {"file": "c.md", "status (heading)": "New"}
    assert found["c.md"].sections == {"All about lights": "All about lights\n\nText."}


def test_strictdocs_markdown_is_understood(shelf):
    shelf.put("sys.md", "# System\n\n**UID**: SYS-7\n")
    shelf.put(
        "req.md",
        "# Requirements\n\n**UID**: DOC-1 \\\n**Status**: Draft\n\nIntro.\n\n## Stop\n\n**MID**: 12 \\\n"
        "**UID**: REQ-A \\\n"
        "**Status**: Active\n**Relations**:\n- **Type**: Parent\n  **ID**: `SYS-7`\n  **Role**: Refines\n"
        "- **Type**: File\n  **Path**: `src/a.c`\n\n**Statement**: It shall\nstop.\n\n**Rationale**:\n\nSafety.\n\n"
        "- first\n\n**Owner**: Bee\n\nAfter.\n\n## Other\n\n**Note**: no field of anything.\n",
    )
    found = shelf.documents()
    document = found["REQ-A"]
    assert (found["DOC-1"].status, found["DOC-1"].type_name, found["DOC-1"].name) == (
        "Draft",
        "Document",
        "Requirements",
    )
    assert (document.name, document.status, document.parent_id) == ("Stop", "Active", "docs:DOC-1")
    assert document.sections == {
        "statement": "It shall stop.",
        "rationale": "Safety.\n\n- first",
        "description": "After.",
    }
    assert (document.fields["MID"], document.fields["Owner"]) == ("12", "Bee")
    assert found["DOC-1"].sections["Other"] == "Other\n\nNote: no field of anything."
    assert shelf.links() == {("SYS-7", "REQ-A", "Refines")}


def test_links_in_every_form(shelf):
    shelf.put(
        "a.md",
        "---\nid: REQ-9\nlinks:\n  refines: [A-1]\n  verified_by: A-2\n  concerns: {satisfies: A-3}\n"
        "traces:\n- {id: A-4, type: copies}\n- A-5: fingerprint\n- [[A-6]]\n- hrid: a-7\n  uuid: 81e6\n"
        "tests: A-8; A-9 A-9\nparent: REQ-9\nchild: B-1\nupstream: [B-1, null]\n---\n",
    )
    for key in (*(f"A-{n}" for n in range(1, 10)), "B-1"):
        shelf.put(f"{key}.md", f"---\nkey: {key}\n---\n")
    assert shelf.links() == {
        ("A-1", "REQ-9", "refines"),
        ("REQ-9", "A-2", "verified_by"),
        ("A-3", "REQ-9", "satisfies"),
        ("A-4", "REQ-9", "copies"),
        ("A-5", "REQ-9", "traces"),
        ("A-6", "REQ-9", "traces"),
        ("A-7", "REQ-9", "traces"),
        ("A-8", "REQ-9", "tests"),
        ("A-9", "REQ-9", "tests"),
        ("REQ-9", "B-1", "child"),
        ("B-1", "REQ-9", "upstream"),
    }


def test_the_keys_of_links_can_be_chosen(shelf):
    shelf.put("a.md", "---\nid: REQ-1\ntests: TC-1\nneeds: STK-1\nparent: TC-1\n---\n")
    shelf.put("b.md", "---\nid: TC-1\n---\n\n# STK-1\n")
    shelf.put("c.md", "---\nid: STK-1\n---\n")
    links = shelf.links(upstream=("needs", "tests"), downstream=("tests",))
    assert links == {("REQ-1", "TC-1", "tests"), ("STK-1", "REQ-1", "needs")}


def test_the_form_of_ids_can_be_chosen(shelf):
    shelf.put("a.md", "# A\n\n## R17 Stop\n\n## REQ-1 Go\n")
    assert list(shelf.documents(heading_ids=r"R\d+")) == ["a.md", "R17"]
    assert list(shelf.documents(heading_ids=r"(?i)r\d+|go")) == ["a.md", "R17"]
    assert list(shelf.documents(heading_ids=r"x*")) == ["a.md"]
    with pytest.raises(ValueError, match="not a regular expression"):
        FolderOptions(path=".", heading_ids="(")


def test_a_text_between_rules_is_no_front_matter(shelf):
    shelf.put("a.md", "---\nJust a *text*.\n---\nMore.\n")
    shelf.put("b.md", "---\n- a\n- list\n---\nMore.\n")
    shelf.put("c.md", "---\nnever: closed\n")
    found = shelf.documents()
    assert found["a.md"].sections == {"description": "Just a *text*.\n\nMore."}
    assert found["b.md"].sections == {"description": "- a\n- list\n\nMore."}
    assert found["c.md"].sections == {"description": "never: closed"}


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("a: b\nid: [1\n", r"^a\.md:4: not YAML"),
        ("a: 1\nb: 2\na: 3\n", r"^a\.md:4: the key 'a' is there twice"),
        ("a: &x [1]\nb: *x\n", r"^a\.md:3: the alias \*x"),
        ("? [a]\n: b\n", r"^a\.md:2: a key that is no text"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", r"^a\.md:2: more than 50 levels"),
        ("a: \x01\n", r"^a\.md:2: not YAML"),
        ("a: b\n--- !!set\nc: d\n", r"^a\.md:3: more than one YAML document"),
    ],
)
def test_broken_front_matter_is_refused_with_its_line(shelf, front, message):
    shelf.put("a.md", f"---\n{front}---\nText.\n")
    with pytest.raises(SourceError, match=message):
        shelf.documents()


def test_tags_of_yaml_are_not_obeyed(shelf):
    shelf.put("a.md", "---\nid: !!python/object/apply:os.getcwd []\nname: !!int 7\n---\n")
    document = shelf.documents()["a.md"]
    assert (document.name, document.fields) == ("7", {"file": "a.md"})


@pytest.mark.parametrize(
    ("source", "uid", "title"),
    [
        ("REQ-12 Title", "REQ-12", "Title"),
        ("REQ-12: Title", "REQ-12", "Title"),
        ("REQ-12 \u2013 Title", "REQ-12", "Title"),
        ("SYS_REQ-0012 - Title", "SYS_REQ-0012", "Title"),
        ("`REQ-12` *Title*", "REQ-12", "Title"),
        ("[REQ-12]", "REQ-12", ""),
        ("REQ-12", "REQ-12", ""),
        ("REQ-12. Title", "REQ-12", "Title"),
        ("[REQ-12]: Title", "REQ-12", "Title"),
        ("[REQ-12]Title", "", "[REQ-12]Title"),
        ("[", "", "["),
        ("Title {#REQ-12}", "REQ-12", "Title"),
        ("Title {#intro}", "", "Title"),
        ("About REQ-12", "", "About REQ-12"),
        ("REQ-12A", "", "REQ-12A"),
        ("[REQ-12 Title", "", "[REQ-12 Title"),
        ("Set {a, b}", "", "Set {a, b}"),
        ("Set {}", "", "Set {}"),
        ("1.2 Title", "", "1.2 Title"),
    ],
)
def test_ids_in_headings(source, uid, title):
    found = read_heading(source, re.compile(IDS))
    assert (found.uid, found.title) == (uid, title)
