"""Several files, several specifications, several places: one document each, and nothing lost."""

import pytest

from reqall import Link, SourceError


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "exchange"
    made.mkdir()
    return made


@pytest.fixture
def put(folder):
    def write(name, text):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def ids(source, project):
    return [key for page in source.document_ids(project) for key in page.items]


def test_relations_lead_across_files(xml, put, folder, source_of):
    types = xml.spec_type()
    relation = '<SPEC-RELATION-TYPE IDENTIFIER="relates" LONG-NAME="refines"/>'
    put("a.reqif", xml.text(xml.spec_object("a"), types, xml.specification("A", xml.node("a"))))
    put(
        "below/b.REQIF",
        xml.text(xml.spec_object("b"), types + relation, xml.specification("B", xml.node("b")), xml.relation("b", "a")),
    )
    source = source_of(folder)
    expected = [Link("reqif:a", "reqif:b", "refines")]
    for project in source.projects():
        assert [link for page in source.links(project) for link in page.items] == expected


def test_hidden_files_and_others_are_not_read(xml, put, folder, source_of):
    put("a.reqif", xml.text(xml.spec_object("a"), xml.spec_type(), xml.specification("A", xml.node("a"))))
    for name in ("._a.reqif", ".trash/b.reqif", "notes.xml", "a.reqif.bak"):
        put(name, "no ReqIF")
    assert [project.id for project in source_of(folder).projects()] == ["reqif:A"]


def test_of_an_object_in_two_files_the_later_counts(xml, put, folder, source_of):
    types = xml.spec_type(xml.attribute("A"))
    put(
        "a.reqif",
        xml.text(
            xml.spec_object("o", xml.value("A", "old"), changed="2024-01-01T00:00:00Z")
            + xml.spec_object("p", xml.value("A", "first")),
            types,
            xml.specification("A", xml.node("o"), xml.node("p")),
        ),
    )
    put(
        "b.reqif",
        xml.text(
            xml.spec_object("o", xml.value("A", "new"), changed="2024-01-01T00:00:01Z")
            + xml.spec_object("p", xml.value("A", "second")),
            types,
        ),
    )
    source = source_of(folder)
    (page,) = source.documents(source.projects()[0], None)
    assert [document.sections["A"] for document in page.items] == ["new", "first"]
    assert source.collection().merged.notes == ["objects in several files, of which what was changed last counts: 2"]


def test_a_specification_in_two_files_is_an_error_that_names_both(xml, put, folder, source_of):
    text = xml.text(xml.spec_object("o"), xml.spec_type(), xml.specification("S", xml.node("o"), name="Brakes"))
    first, second = put("a.reqif", text), put("b.reqif", text)
    with pytest.raises(SourceError) as caught:
        source_of(folder).projects()
    assert caught.value.message == f"{second}: the specification 'Brakes' is also in {first}"
    assert len(source_of(folder).validate(live=True)) == 1


def test_what_is_below_an_unknown_object_moves_up(xml, put, folder, documents_of, source_of):
    tree = xml.node("a", xml.node("gone", xml.node("b", xml.node("c"))), xml.node("d"))
    objects = "".join(map(xml.spec_object, "abcd"))
    put("a.reqif", xml.text(objects, xml.spec_type(), xml.specification("S", tree)))
    documents = documents_of(folder)
    parents = {key: document.parent_id for key, document in documents.items()}
    assert parents == {"a": None, "b": "reqif:a", "c": "reqif:b", "d": "reqif:a"}
    merged = source_of(folder).collection().merged
    assert merged.children == {"a": ["b", "d"], "b": ["c"]}
    assert merged.notes == ["places in hierarchies for objects in no file: 1"]


def test_a_parent_is_in_the_same_specification(xml, put, folder, documents_of, source_of):
    """What stands below a borrowed object belongs to the next one above it that is no loan."""
    objects = "".join(map(xml.spec_object, "abcd"))
    specifications = xml.specification("S", xml.node("b")) + xml.specification(
        "T", xml.node("a", xml.node("b", xml.node("c"))), xml.node("b", xml.node("d"))
    )
    put("a.reqif", xml.text(objects, xml.spec_type(), specifications))
    parents = {key: document.parent_id for key, document in documents_of(folder).items()}
    assert parents == {"b": None, "a": None, "c": "reqif:a", "d": None}
    source = source_of(folder)
    assert [ids(source, project) for project in source.projects()] == [["reqif:b"], ["reqif:a", "reqif:c", "reqif:d"]]


def test_the_prefix_of_a_module_is_for_numbers_only(xml, put, folder, documents_of):
    types = xml.spec_type(xml.attribute("ID"), xml.attribute("Prefix"))
    objects = xml.spec_object("a", xml.value("ID", "7")) + xml.spec_object("b", xml.value("ID", "SYS-8"))
    tree = xml.specification("S", xml.node("a"), xml.node("b"), values=xml.value("Prefix", "SYS-"))
    put("a.reqif", xml.text(objects, types, tree))
    assert set(documents_of(folder)) == {"SYS-7", "SYS-8"}


def test_an_object_below_itself_ends(xml, put, folder, documents_of):
    tree = xml.node("a", xml.node("b", xml.node("a", xml.node("b"))))
    put("a.reqif", xml.text("".join(map(xml.spec_object, "ab")), xml.spec_type(), xml.specification("S", tree)))
    parents = {key: document.parent_id for key, document in documents_of(folder).items()}
    assert parents == {"a": None, "b": "reqif:a"}


def test_objects_in_no_specification_are_a_project_of_their_own(xml, put, folder, source_of):
    put("a.reqif", xml.text(xml.spec_object("a") + xml.spec_object("b"), xml.spec_type()))
    source = source_of(folder)
    (project,) = source.projects()
    assert (project.id, project.key) == ("reqif:~unplaced", "UNPLACED")
    assert ids(source, project) == ["reqif:a", "reqif:b"]


def test_an_empty_exchange_has_no_projects(put, folder, source_of):
    put("a.reqif", "<REQ-IF/>")
    assert source_of(folder).projects() == []


def test_strings_are_searchable_where_a_type_has_no_text(xml, put, folder, documents_of):
    """Else a type with attributes of its own names would leave nothing to be found by."""
    values = xml.value("REQ-TXT", "The system shall observe."), xml.value("Count", "3", "INTEGER")
    types = xml.spec_type(xml.attribute("REQ-TXT"), xml.attribute("Count", "INTEGER"))
    put("a.reqif", xml.text(xml.spec_object("o", *values), types))
    found = documents_of(folder)["o"]
    assert (found.sections, found.fields) == ({"REQ-TXT": "The system shall observe."}, {"Count": 3})
    assert documents_of(folder, text_attributes="d-REQ-TXT")["o"].sections == {
        "description": "The system shall observe."
    }


def test_rich_text_is_searchable_whatever_it_is_called(xml, put, folder, documents_of):
    kinds = {"Text": "STRING", "Musings": "XHTML", "Owner": "STRING"}
    values = [xml.value(name, name.lower(), kind) for name, kind in kinds.items()]
    types = xml.spec_type(*(xml.attribute(name, kind) for name, kind in kinds.items()))
    put("a.reqif", xml.text(xml.spec_object("o", *values), types))
    found = documents_of(folder)["o"]
    assert found.sections == {"description": "text", "Musings": "musings"}
    assert found.fields == {"Owner": "owner"}


def test_a_type_has_one_name_in_all_files(xml, put, folder, source_of):
    for each, name in (("a", "First"), ("b", "Second")):
        tree = xml.specification(each.upper(), xml.node(each))
        put(f"{each}.reqif", xml.text(xml.spec_object(each), xml.spec_type(name=name), tree))
    source = source_of(folder)
    for project in source.projects():
        (page,) = source.documents(project, None)
        assert [page.items[0].type_name, *(each.name for each in source.describe(project))] == ["First", "First"]


def test_a_relation_to_itself_is_no_link(xml, put, folder, links_of, source_of):
    put("a.reqif", xml.text(xml.spec_object("a"), xml.spec_type(), relations=xml.relation("a", "a")))
    assert links_of(folder) == []
    assert source_of(folder).collection().merged.notes == ["relations that lead from an object to itself: 1"]


def exported_again(text):
    """Make all IDENTIFIERs new, as StrictDoc does."""
    for old in ("SECTION-c4", "REQUIREMENT-b5", "REQUIREMENT-5a", "SPECIFICATION-9f", "REQUIREMENT_6a", "SECTION_a6"):
        assert old in text
        text = text.replace(old, f"{old}-new")
    return text


def test_with_the_key_as_identity_another_export_has_the_same_ids(exports, folder, put, source_of):
    text = (exports / "strictdoc.reqif").read_text(encoding="utf-8")
    put("a.reqif", text)
    source = source_of(folder, identity="key")
    (project,) = source.projects()
    before = ids(source, project)
    assert project.id == "reqif:Hoist controller"
    assert before == ["reqif:Hoist controller/Motor", "reqif:HC-1", "reqif:HC-2"]
    put("a.reqif", exported_again(text))
    assert source.projects() == [project]
    assert ids(source, project) == before
    (page,) = source.documents(project, None)
    assert [document.parent_id for document in page.items] == [None, before[0], before[0]]


def test_objects_without_a_key_are_told_by_their_way(xml, put, folder, source_of):
    objects = "".join(xml.spec_object(each, LONG_NAME="Heading") for each in "abc")
    tree = xml.specification("S", xml.node("a", xml.node("b")), xml.node("c"), name="Book")
    put("a.reqif", xml.text(objects, xml.spec_type(), tree))
    source = source_of(folder, identity="key")
    (project,) = source.projects()
    assert ids(source, project) == ["reqif:Book/Heading", "reqif:Book/Heading/Heading", "reqif:Book/Heading#2"]


def test_a_key_that_two_objects_have_is_no_identity(xml, put, folder, source_of):
    objects = xml.spec_object("a", xml.value("UID", "X-1")) + xml.spec_object("b", xml.value("UID", "X-1"))
    put("a.reqif", xml.text(objects, xml.spec_type(xml.attribute("UID"))))
    assert len(ids(source_of(folder), source_of(folder).projects()[0])) == 2
    with pytest.raises(SourceError, match="the key 'X-1' is that of two objects, a and b"):
        source_of(folder, identity="key").projects()


def test_a_name_that_two_specifications_have_is_no_identity(xml, put, folder, source_of):
    both = xml.specification("S", name="Book") + xml.specification("T", name="Book")
    put("a.reqif", xml.text(specifications=both))
    assert len(source_of(folder).projects()) == 2
    with pytest.raises(SourceError, match="two specifications have the key 'Book'"):
        source_of(folder, identity="key").projects()


def test_options_choose_the_attributes(xml, put, folder, documents_of):
    types = xml.spec_type(*(xml.attribute(name) for name in ("Number", "Caption", "Wording", "Stage", "Why", "ID")))
    values = (("Number", "N-1"), ("Caption", "Brake"), ("Wording", "It brakes."), ("Stage", "old"), ("Why", "Safety"))
    item = xml.spec_object("o", *(xml.value(*pair) for pair in values), xml.value("ID", "X-9"))
    put("a.reqif", xml.text(item, types))
    plain = documents_of(folder)["X-9"]
    assert (plain.name, plain.status, plain.fields) == ("", None, {})
    assert plain.sections == {
        "Number": "N-1",
        "Caption": "Brake",
        "Wording": "It brakes.",
        "Stage": "old",
        "Why": "Safety",
    }
    chosen = documents_of(
        folder,
        key_attributes="number",
        name_attributes=["Missing", "D-CAPTION"],
        text_attributes=["Wording"],
        status_attributes=["Stage"],
        section_attributes=["Why"],
    )["N-1"]
    assert (chosen.name, chosen.status, chosen.fields) == ("Brake", "old", {"ID": "X-9"})
    assert chosen.sections == {"description": "It brakes.", "Why": "Safety"}
