"""The browse tools answer from the files."""

import pytest
from reqall_reqif.tools.browse import get_object, list_children, list_relations, list_specifications, list_types
from reqall_reqif.tools.offered import browse_tools, told_list, told_object

from reqall import InputError, NotFoundError


@pytest.fixture
def doors(exports, source_of):
    return source_of(exports / "doors.reqif", name="doors")


@pytest.fixture
def many(xml, written, source_of):
    """A specification with 45 objects below one, which all refer to the first."""
    objects = "".join(xml.spec_object(f"o{n}", xml.value("ID", f"R-{n}")) for n in range(46))
    nodes = xml.node("o0", *(xml.node(f"o{n}") for n in range(1, 46)))
    relations = "".join(xml.relation(f"o{n}", "o0") for n in range(1, 46))
    file = written(
        xml.text(objects, xml.spec_type(xml.attribute("ID")), xml.specification("S", nodes, name="Book"), relations)
    )
    return source_of(file), file


def test_specifications(doors, exports):
    answer = list_specifications(doors)
    assert (answer.total, answer.returned, answer.cursor) == (3, 3, "")
    system = answer.specifications[1]
    assert system.model_dump() == {
        "project_id": "doors:_system",
        "key": "System requirements",
        "name": "System requirements",
        "type": "Module Type",
        "objects": 2,
        "changed": "2024-03-05T09:30:00+00:00",
        "exported": "2024-03-05T09:30:00+00:00",
        "tool": "IBM Rational DOORS",
        "file": str(exports / "doors.reqif"),
    }
    assert "relations that lead to objects in no file: 1" in answer.note
    assert told_list(answer).splitlines()[:2] == ["3 of 3", "Stakeholder needs | Stakeholder needs | Module Type | 1"]


@pytest.mark.parametrize("wanted", ["SYS-11", "sys-11", "_11_brake", "doors:_11_brake", " SYS-11 "])
def test_an_object_in_full(doors, wanted):
    found = get_object(doors, wanted)
    assert (found.object_id, found.key, found.status) == ("_11_brake", "SYS-11", "agreed")
    assert (found.parent_id, found.path, found.project_id) == ("_10_heading", ["Brake"], "doors:_system")
    assert found.fields["Disciplines"] == "Electronics, Mechanics"
    assert found.fields["Safety relevant"] == "true"
    assert found.sections["Rationale"] == "A falling load kills."
    assert found.created == "2010-05-21T00:00:00+00:00"
    assert not found.truncated
    assert told_object(found).startswith("SYS-11 The brake shall hold")


def test_a_long_text_is_cut_and_says_so(xml, written, source_of):
    types = xml.spec_type(xml.attribute("Text", "XHTML"), xml.attribute("Rationale"))
    values = xml.value("Text", "long " * 5_000, "XHTML"), xml.value("Rationale", "why")
    found = get_object(source_of(written(xml.text(xml.spec_object("o", *values), types))), "o")
    assert found.truncated
    assert found.sections["description"].endswith("long [cut: 4999 more characters]")
    assert found.sections["Rationale"] == "[cut: 3 more characters]"


def test_children_of_objects_and_of_specifications(doors):
    below = list_children(doors, "SYS-10")
    assert [(row.key, row.children) for row in below.objects] == [("SYS-11", 0), ("NEED-1", 0)]
    top = list_children(doors, "System requirements")
    assert [(row.key, row.children) for row in top.objects] == [("SYS-10", 2)]
    assert [row.key for row in list_children(doors, "doors:_needs").objects] == ["NEED-1"]
    assert [row.key for row in list_children(doors, "UNPLACED").objects] == ["12"]


def test_relations_of_both_ends(doors, exports, source_of):
    (row,) = list_relations(doors, "SYS-11").relations
    assert (row.direction, row.relation_type, row.suspect, row.group) == ("upstream", "satisfies", True, "Satisfaction")
    assert (row.key, row.project_id) == ("NEED-1", "doors:_needs")
    (row,) = list_relations(doors, "NEED-1").relations
    assert (row.direction, row.key) == ("downstream", "SYS-11")
    turned = source_of(exports / "doors.reqif", upstream="source")
    assert list_relations(turned, "NEED-1").relations[0].direction == "upstream"


def test_types(doors):
    (row,) = list_types(doors).types
    assert (row.name, row.objects) == ("Object", 4)
    assert row.attributes["Disciplines"] == "ENUMERATION"
    assert list_types(doors, "System requirements").types[0].objects == 2


@pytest.mark.parametrize("ask", [list_children, list_relations])
def test_a_cursor_leads_to_every_row_once(many, ask):
    source, _ = many
    keys, cursor, pages = [], "", 0
    while pages == 0 or cursor:
        answer = ask(source, "R-0", cursor)
        rows = answer.objects if ask is list_children else answer.relations
        assert answer.total == 45
        assert answer.returned == len(rows) <= 20
        keys += [row.key for row in rows]
        cursor, pages = answer.cursor, pages + 1
    assert keys == [f"R-{n}" for n in range(1, 46)]
    assert pages == 3


def test_a_cursor_is_good_for_its_question_only(many, xml):
    source, file = many
    cursor = list_children(source, "R-0").cursor
    with pytest.raises(InputError, match="another question"):
        list_relations(source, "R-0", cursor)
    with pytest.raises(InputError, match="another question"):
        list_children(source, "R-1", cursor)
    with pytest.raises(InputError, match="not one of this tool's"):
        list_children(source, "R-0", "nonsense")
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(InputError, match="files have changed"):
        list_children(source, "R-0", cursor)


def test_what_is_not_there_is_said_with_a_hint(doors):
    with pytest.raises(NotFoundError) as caught:
        get_object(doors, "SYS-13")
    assert "Did you mean 'SYS-1" in caught.value.remedy
    with pytest.raises(NotFoundError, match="search_doors_semantics"):
        list_children(doors, "nothing of the kind")
    with pytest.raises(NotFoundError, match="Did you mean 'System requirements'"):
        list_types(doors, "System requirement")
    with pytest.raises(InputError, match="no object was given"):
        get_object(doors, " ")


def test_a_key_of_two_objects_asks_for_an_id(xml, written, source_of):
    objects = xml.spec_object("a", xml.value("ID", "X")) + xml.spec_object("b", xml.value("ID", "X"))
    source = source_of(written(xml.text(objects, xml.spec_type(xml.attribute("ID")))))
    with pytest.raises(InputError, match="Pass one of their ids: a, b"):
        get_object(source, "X")
    assert get_object(source, "b").identifier == "b"


def test_names_of_two_specifications_ask_for_an_id(xml, written, source_of):
    source = source_of(
        written(xml.text(specifications=xml.specification("S", name="B") + xml.specification("T", name="B")))
    )
    with pytest.raises(InputError, match="Pass one of their ids: reqif:S, reqif:T"):
        list_types(source, "b")


def test_tools_carry_the_name_of_the_source_and_build_it_late():
    def build():
        raise AssertionError("no source is built before a tool is called")

    assert [tool.name for tool in browse_tools("hoist", build)] == [
        "list_hoist_specifications",
        "get_hoist_object",
        "get_hoist_object_children",
        "get_hoist_object_relations",
        "list_hoist_object_types",
    ]
