"""StrictDoc's files become documents, sections and requirements with their links."""

import pytest

from reqall import SourceError
from reqall.plugins.sources.folder.sdoc_syntax import parse_sdoc

SYSTEM = """\
[DOCUMENT]
MID: 8a87daf1
TITLE: System
UID: SYS
VERSION: 2.0
PREFIX: SYS-
OPTIONS:
  ENABLE_MID: True
  VIEW_STYLE: Table
METADATA:
  Author: A. Bee
VIEWS:
- ID: short
  NAME: Short
  TAGS:
  - OBJECT_TYPE: REQUIREMENT
    VISIBLE_FIELDS:
    - NAME: TITLE

[GRAMMAR]
ELEMENTS:
- TAG: REQUIREMENT
  FIELDS:
  - TITLE: PRIORITY
    TYPE: SingleChoice(High, Low)
    REQUIRED: True

[TEXT]
STATEMENT: >>>
Read [LINK: SYS-1, the first one] and [LINK: SYS-2].

[ANCHOR: INTRO, "Where it begins"]
<<<

[[SECTION]]
TITLE: Braking

[TEXT]
MID: 1
STATEMENT: All about stopping.

[REQUIREMENT]
UID: SYS-1
STATUS: Approved
PRIORITY: High
TITLE: Stop
STATEMENT: >>>
The vehicle shall stop

within 40 m.
<<<
RATIONALE: Safety.
COMMENT: One.
COMMENT: >>>
Two.
<<<
RELATIONS:
- TYPE: Parent
  VALUE: STK-1
  ROLE: Refines
- TYPE: Child
  VALUE: SYS-2
- TYPE: File
  FORMAT: Python
  PATH: src/brake.py
- TYPE: File
  VALUE: src/old.py

[[REQUIREMENT]]
UID: SYS-2
TITLE: Composite

[TEST_CASE]
TITLE: Try it
STEPS: >>>
1. Drive.
2. Brake.
<<<

[[/REQUIREMENT]]

[[/SECTION]]
"""


def test_a_document_with_all_its_parts(shelf):
    shelf.put("sys.sdoc", SYSTEM)
    shelf.put("stk.sdoc", "[DOCUMENT]\nTITLE: Needs\n\n[REQUIREMENT]\nUID: STK-1\nSTATEMENT: Be safe.\n")
    found = shelf.documents()
    assert list(found) == [
        *("stk.sdoc", "STK-1", "SYS", "sys.sdoc#braking", "SYS-1", "SYS-2", "sys.sdoc#SYS-2/try-it"),
    ]
    whole = found["SYS"]
    assert (whole.id, whole.name, whole.type_name) == ("docs:SYS", "System", "Document")
    assert whole.fields == {
        "file": "sys.sdoc",
        "mid": "8a87daf1",
        "version": "2.0",
        "prefix": "SYS-",
        "author": "A. Bee",
    }
    assert whole.sections == {"text": "Read the first one and SYS-2.\n\nWhere it begins"}
    section, requirement = found["sys.sdoc#braking"], found["SYS-1"]
    assert (section.type_name, section.parent_id) == ("SECTION", "docs:SYS")
    assert section.sections == {"text": "All about stopping."}
    assert (requirement.name, requirement.status, requirement.parent_id) == ("Stop", "Approved", section.id)
    assert requirement.sections == {
        "statement": "The vehicle shall stop\n\nwithin 40 m.",
        "rationale": "Safety.",
        "comment": "One.\n\nTwo.",
    }
    assert requirement.fields == {"file": "sys.sdoc", "priority": "High", "files": ["src/brake.py", "src/old.py"]}
    composite, inner = found["SYS-2"], found["sys.sdoc#SYS-2/try-it"]
    assert (composite.type_name, composite.parent_id) == ("REQUIREMENT", section.id)
    assert (inner.type_name, inner.parent_id) == ("TEST_CASE", composite.id)
    assert inner.sections == {"steps": "1. Drive.\n2. Brake."}
    assert shelf.links() == {("STK-1", "SYS-1", "Refines"), ("SYS-1", "SYS-2", "Child")}


def test_an_included_file_hangs_where_it_is_included(shelf):
    shelf.put(
        "a/all.sdoc",
        "[DOCUMENT]\nTITLE: All\n\n[[SECTION]]\nUID: SEC\nTITLE: Parts\n\n"
        "[DOCUMENT_FROM_FILE]\nFILE: ../b/./part.sdoc\n\n[[/SECTION]]\n",
    )
    shelf.put("b/part.sdoc", "[DOCUMENT]\nTITLE: Part\n\n[REQUIREMENT]\nUID: P-1\nSTATEMENT: One.\n")
    found = shelf.documents()
    assert found["b/part.sdoc"].parent_id == "docs:SEC"
    assert found["P-1"].parent_id == "docs:b/part.sdoc"


def test_files_that_include_each_other_do_not_hang_in_the_air(shelf):
    for name, other in (("a", "b"), ("b", "a"), ("c", "c")):
        shelf.put(f"{name}.sdoc", f"[DOCUMENT]\nTITLE: {name}\n\n[DOCUMENT_FROM_FILE]\nFILE: {other}.sdoc\n")
    parents = {key: document.parent_id for key, document in shelf.documents().items()}
    assert parents == {"a.sdoc": None, "b.sdoc": "docs:a.sdoc", "c.sdoc": None}


def test_a_file_outside_cannot_be_included(shelf):
    shelf.put("a/all.sdoc", "[DOCUMENT]\nTITLE: All\n\n[DOCUMENT_FROM_FILE]\nFILE: ../../etc/x.sdoc\n")
    with pytest.raises(SourceError, match=r"^a/all\.sdoc:4: it includes a file outside"):
        shelf.documents()


def test_markdown_is_cleaned_where_the_document_says_it_is_markdown(shelf):
    body = "[REQUIREMENT]\nUID: {}\nSTATEMENT: It **shall** stop.\n"
    shelf.put("m.sdoc", "[DOCUMENT]\nTITLE: M\nOPTIONS:\n  MARKUP: Markdown\n\n" + body.format("M-1"))
    shelf.put("r.sdoc", "[DOCUMENT]\nTITLE: R\n\n" + body.format("R-1"))
    found = shelf.documents()
    assert found["M-1"].sections == {"statement": "It shall stop."}
    assert found["R-1"].sections == {"statement": "It **shall** stop."}


def test_older_forms_are_read(shelf):
    shelf.put(
        "old.sdoc",
        "\ufeff[DOCUMENT]\r\nTITLE: Old\r\nREQ_PREFIX: O-\r\n\r\n[FREETEXT]\r\nBefore all.\r\n\r\nMore.\r\n"
        "[/FREETEXT]\r\n\r\n[SECTION]\r\nUID: S-1\r\nTITLE: One\r\n\r\n"
        "[COMPOSITE_REQUIREMENT]\r\nUID: O-1\r\nTITLE: Whole\r\n\r\n"
        "[REQUIREMENT]\r\nUID: O-2\r\nREFS:\r\n- TYPE: Parent\r\n  VALUE: O-1\r\n\r\n[/COMPOSITE_REQUIREMENT]\r\n\r\n"
        "[/SECTION]\r\n",
    )
    found = shelf.documents()
    assert found["old.sdoc"].sections == {"text": "Before all.\n\nMore."}
    assert [found[key].parent_id for key in ("S-1", "O-1", "O-2")] == ["docs:old.sdoc", "docs:S-1", "docs:O-1"]
    assert shelf.links() == {("O-1", "O-2", "Parent")}


def test_what_a_newer_strictdoc_may_write_is_kept(shelf):
    shelf.put(
        "new.sdoc",
        "[DOCUMENT]\nTITLE: New\nAUTHORS: Bee\nOPTIONS:\n  SHINE: On\n\n\n"
        "[REQUIREMENT]\nUID: N-1\nTITLE: >>>\nTwo\nlines\n<<< \nHue: red",
    )
    found = shelf.documents()
    assert found["new.sdoc"].fields == {"file": "new.sdoc", "authors": "Bee", "shine": "On"}
    assert (found["N-1"].name, found["N-1"].fields["hue"]) == ("Two\nlines", "red")


def test_sections_of_one_title_have_addresses_of_their_own(shelf):
    part = "\n[[SECTION]]\nTITLE: Limits!\n\n[NOTE]\nSTATEMENT: x\n\n[[/SECTION]]\n"
    shelf.put("a.sdoc", "[DOCUMENT]\nTITLE: A\n" + part * 2)
    assert list(shelf.documents()) == [
        *("a.sdoc", "a.sdoc#limits", "a.sdoc#limits/note", "a.sdoc#limits-2", "a.sdoc#limits-2/note"),
    ]


def test_sections_may_be_nested_to_any_depth(shelf):
    depth = 3000
    opened = "".join(f"\n[[SECTION]]\nUID: S-{n}\nTITLE: t\n" for n in range(depth))
    shelf.put("deep.sdoc", f"[DOCUMENT]\nTITLE: D\n{opened}" + "\n[[/SECTION]]\n" * depth)
    found = shelf.documents()
    assert found[f"S-{depth - 1}"].parent_id == f"docs:S-{depth - 2}"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "an SDoc file begins with"),
        ("\n\nTITLE: x\n", 3, "an SDoc file begins with"),
        ("[DOCUMENT]\nTITLE x\n", 2, "a field such as TITLE: is expected"),
        ("[DOCUMENT]\nTITLE: x\n\nfree text\n", 4, "a node such as"),
        ("[DOCUMENT]\nTITLE: x\n\n[DOCUMENT]\nTITLE: y\n", 4, "a node such as"),
        ("[DOCUMENT]\nTITLE: x\n\n[REQUIREMENT]\nSTATEMENT: >>>\nnever ends\n", 5, "no <<< ends"),
        ("[DOCUMENT]\nTITLE: x\n\n[REQUIREMENT]\nUID: 1\nand a line\n", 6, "a field such as"),
        ("[DOCUMENT]\nTITLE: x\n\n[[SECTION]]\nTITLE: y\n", 4, "[SECTION] is not closed"),
        ("[DOCUMENT]\nTITLE: x\n\n[[SECTION]]\nTITLE: y\n\n[[/REQUIREMENT]]\n", 7, "closes nothing"),
        ("[DOCUMENT]\nTITLE: x\n\n[FREETEXT]\n", 4, "no [/FREETEXT] ends"),
    ],
)
def test_what_could_lose_text_is_refused_with_its_line(text, line, what):
    with pytest.raises(SourceError) as caught:
        parse_sdoc(text, "a.sdoc")
    assert caught.value.message.startswith(f"a.sdoc:{line}: ")
    assert what in caught.value.message
