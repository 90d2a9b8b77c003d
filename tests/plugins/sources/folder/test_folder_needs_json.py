"""sphinx-needs' needs.json becomes documents: the needs, below the documents and sections of the Sphinx project."""

import json
from datetime import UTC, datetime

import pytest

from reqall import SourceError

SCHEMA = {
    "properties": {
        "id": {"type": "string", "field_type": "core"},
        "status": {"type": "string", "field_type": "core", "default": None},
        "asil": {"type": "string", "field_type": "extra", "default": "QM"},
        "why": {"type": "string", "field_type": "extra", "default": ""},
        "links": {"type": "array", "field_type": "links", "default": []},
        "tests": {"type": "array", "field_type": "links", "default": []},
        "derived_by": {"type": "array", "field_type": "links", "default": []},
        "tests_back": {"type": "array", "field_type": "backlinks", "default": []},
    }
}


def needs_json(needs, schema=None, **version):
    held = {"needs": {need["id"]: need for need in needs}, **({"needs_schema": schema} if schema else {}), **version}
    return json.dumps(
        {"current_version": "2.0", "project": "Brakes", "versions": {"1.0": {"needs": {"OLD": {}}}, "2.0": held}}
    )


def test_needs_with_their_fields_and_links(shelf):
    needs = [
        {
            "id": "REQ_1",
            "title": "Stop",
            "type": "req",
            "type_name": "Requirement",
            "status": "open",
            "content": "It **shall**\n\nstop.",
            "docname": "srs/brakes",
            "sections": ["Limits", "Brakes"],
            "why": "Because.\nIndeed.",
            "tags": ["a", "b"],
            "lineno": 7,
            "layout": "",
            "arch": {"x": "@startuml"},
            "links": ["STK_1"],
            "derived_by": ["REQ_2"],
            "tests_back": ["TC_1"],
        },
        {"id": "REQ_2", "title": "Hold", "type": "req", "type_name": "Need", "docname": "srs/brakes", "asil": "B"},
        {"id": "STK_1", "title": "Be safe", "type": "stk", "content": "It is *safe*.", "doctype": ".md"},
        {
            "id": "TC_1",
            "title": "Try",
            "type": "test",
            "parent_need": "REQ_1",
            "docname": "srs/brakes",
            "tests": ["REQ_1.part", "REQ_2"],
            "description": "Old text.",
        },
    ]
    shelf.put("build/needs.json", needs_json(needs, SCHEMA, created="2024-02-29T10:00:00"))
    found = shelf.documents()
    file = "build/needs.json"
    assert [(key, document.name, document.type_name) for key, document in found.items()] == [
        ("build", "build", "Folder"),
        (file, "Brakes", "Document"),
        (f"{file}#/srs/brakes", "srs/brakes", "Document"),
        (f"{file}#/srs/brakes#brakes", "Brakes", "Section"),
        (f"{file}#/srs/brakes#brakes#limits", "Limits", "Section"),
        ("REQ_1", "Stop", "Requirement"),
        ("REQ_2", "Hold", "Requirement"),
        ("STK_1", "Be safe", "stk"),
        ("TC_1", "Try", "test"),
    ]
    first = found["REQ_1"]
    assert (first.id, first.status, first.parent_id) == ("docs:REQ_1", "open", f"docs:{file}#/srs/brakes#brakes#limits")
    assert first.sections == {"content": "It **shall**\n\nstop.", "why": "Because.\nIndeed."}
    assert first.fields == {"file": file, "asil": "QM", "tags": ["a", "b"]}
    assert first.created == datetime(2024, 2, 29, 10, tzinfo=UTC)
    assert (found["REQ_2"].parent_id, found["REQ_2"].fields["asil"]) == (f"docs:{file}#/srs/brakes", "B")
    assert (found["STK_1"].parent_id, found["STK_1"].sections) == (f"docs:{file}", {"content": "It is safe."})
    assert (found["TC_1"].parent_id, found["TC_1"].sections) == ("docs:REQ_1", {"content": "Old text."})
    assert shelf.links() == {
        ("STK_1", "REQ_1", "links"),
        ("REQ_1", "REQ_2", "derived_by"),
        ("REQ_1", "TC_1", "tests"),
        ("REQ_2", "TC_1", "tests"),
    }


def test_files_without_a_schema_tell_link_fields_by_their_back_links(shelf):
    needs = [
        {"id": "A.1", "links": ["B"], "links_back": [], "checks": ["B"], "checks_back": [], "owners": ["me"]},
        {"id": "B", "links": ["A.1"], "checks": [], "checks_back": ["A.1"]},
    ]
    shelf.put("needs.json", needs_json(needs))
    assert shelf.links() == {("B", "A.1", "links"), ("B", "A.1", "checks"), ("A.1", "B", "links")}
    assert shelf.documents()["A.1"].fields == {"file": "needs.json", "owners": ["me"]}


def test_needs_nested_in_a_circle_stand_in_their_file(shelf):
    shelf.put("needs.json", needs_json([{"id": "A", "parent_need": "B"}, {"id": "B", "parent_need": "A"}]))
    parents = {key: document.parent_id for key, document in shelf.documents().items()}
    assert parents == {"needs.json": None, "A": None, "B": "docs:A"}


def test_values_that_json_does_not_have_become_text(shelf):
    shelf.put("needs.json", needs_json([{"id": "A", "amount": 1}]).replace('"amount": 1', '"amount": NaN'))
    assert shelf.documents()["A"].fields["amount"] == "nan"


def test_fields_nested_deep_are_kept_as_json(shelf):
    value = 1
    for _ in range(300):
        value = [value]
    shelf.put("needs.json", needs_json([{"id": "A", "deep": value}]))
    field = shelf.documents()["A"].fields["deep"]
    for _ in range(8):
        (field,) = field
    assert json.loads(field)[0][0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("{}", "'versions'"),
        ('{"versions": {}}', "current_version"),
        ('{"current_version": "1", "versions": {}}', "not found"),
        ('{"current_version": "1", "versions": {"1": {}}}', "no 'needs'"),
        ('{"format_version": 99, "versions": {}}', "format version"),
        ("[" * 100_000, "too large"),
        ("1" * 10_000, "too large"),
    ],
)
def test_what_is_no_needs_json_is_refused(shelf, text, what):
    shelf.put("needs.json", text)
    with pytest.raises(SourceError) as caught:
        shelf.documents()
    assert caught.value.message.startswith("needs.json:1: ")
    assert what in caught.value.message


def test_other_json_is_left_alone(shelf):
    shelf.put("package.json", "{}")
    shelf.put("my_needs.json", "{}")
    assert shelf.documents() == {}
