from datetime import UTC, datetime

import pytest

from reqall.plugins.sources.jama.reading.items import iso, moment, steps_text
from reqall.plugins.sources.jama.reading.schema import parse_type
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

RICH = {"fieldType": "TEXT", "textType": "RICHTEXT"}
FIELDS = [
    {"name": "name", "label": "Name", "fieldType": "STRING"},
    {"name": "status", "label": "Status", "fieldType": "LOOKUP", "pickList": 61},
    {"name": "notes$90", "label": "Notes / Sources", **RICH},
    {"name": "description", "label": "What it is", **RICH},
    {"name": "code$90", "label": "Source Code", "fieldType": "TEXT", "textType": "TEXTAREA"},
    {"name": "mode$90", "label": "Mode", "fieldType": "LOOKUP", "pickList": 61},
    {"name": "modes$90", "label": "Modes", "fieldType": "MULTI_LOOKUP", "pickList": 61},
    {"name": "twin$90", "label": "Mode", "fieldType": "LOOKUP", "pickList": 61},
    {"name": "owner$90", "label": "Owner", "fieldType": "USER"},
    {"name": "release", "label": "Release", "fieldType": "RELEASE"},
    {"name": "safe$90", "label": "Safe?", "fieldType": "BOOLEAN"},
    {"name": "size$90", "label": "Size", "fieldType": "INTEGER"},
    {"name": "due$90", "label": "Due", "fieldType": "DATE"},
    {"name": "odd$90", "label": "Odd", "fieldType": "TEST_RUN_RESULTS"},
    {"name": "umlaut$90", "label": "Prüf-Ärger", "fieldType": "STRING"},
    {"name": "testCaseSteps", "label": "Steps", "fieldType": "STEPS"},
]


def world(**fields):
    """A project with one item of a type that has every kind of field."""
    project = tiny_project(1)
    project["itemtypes"].append(
        {"id": 90, "typeKey": "X", "display": "Thing", "displayPlural": "Things", "category": "CORE", "fields": FIELDS}
    )
    project["items"].append(
        project["items"][3] | {"id": 700, "documentKey": "TNY-X-1", "itemType": 90, "fields": fields}
    )
    return JamaSimulator(project=project)


@pytest.fixture
def read(source_of):
    """Serve an item with these fields and read it as a document."""

    def build(forbidden=(), unserved=None, **fields):
        with world(**fields) as jama:
            jama.faults.forbidden_paths.extend(forbidden)
            source = source_of(jama.url)
            row = source.client.one("/abstractitems/700")
            return source.reader.document(row | {"fields": fields | (unserved or {})}, "jama:2")

    return build


def test_ids_become_text(read):
    document = read(
        name="  A\n thing &amp; <b> ",
        status=293,
        **{"mode$90": 300, "modes$90": [300, 301], "twin$90": 293, "owner$90": 15, "release": 75},
    )
    assert document.name == "A thing &amp; <b>"
    assert document.status == "Approved"
    assert document.fields == {
        "mode": "High",
        "modes": ["High", "Retired"],
        "twin": "Approved",
        "owner": "Ada Tiny",
        "release": "R1",
    }


def test_scalars_stay_what_they_are_and_boxes_are_opened(read):
    fields = {"mode$90": [300], "safe$90": [False], "size$90": [0], "due$90": "2024-06-01", "odd$90": "x < y"}
    document = read(**fields, **{"owner$90": [16], "umlaut$90": "ja", "modes$90": 300})
    assert document.fields == {
        "mode": "High",
        "modes": ["High"],
        "owner": "Gone Tiny",
        "safe": False,
        "size": 0,
        "due": "2024-06-01",
        "odd": "x < y",
        "prüf_ärger": "ja",
    }


def test_names_and_short_texts_are_plain_and_keep_every_character(read):
    name = "<b>R&amp;D</b>\u200b \u202eשבת\u202c\u00a0 \ue000 \U0001f469\u200d\U0001f52c\t\n\ud83d end\ud800 "
    clean = "<b>R&amp;D</b>\u200b \u202eשבת\u202c \ue000 \U0001f469\u200d\U0001f52c \ufffd end\ufffd"
    document = read(unserved={"name": name, "odd$90": name}, **{"umlaut$90": " \n", "due$90": ["a  b", "c\u2028d"]})
    assert document.name == clean
    assert document.fields == {"odd": clean, "due": ["a b", "c d"]}
    assert document.name.encode()


def test_what_cannot_be_resolved_stays_a_number(read):
    document = read(
        status=9999, **{"mode$90": 8888, "owner$90": 777, "release": 666, "nobody$90": 5, "modes$90": [1, 300]}
    )
    assert document.status == "9999"
    assert document.fields == {
        "mode": 8888,
        "modes": [1, "High"],
        "owner": 777,
        "release": 666,
        "nobody": 5,
    }


def test_what_is_no_scalar_or_empty_is_left_out(read):
    document = read(**{"odd$90": {"a": 1}, "size$90": None, "umlaut$90": "", "modes$90": [], "mode$90": [{}]})
    assert document.fields == {}
    assert document.sections == {}


def test_refused_users_and_picklists_leave_ids(read):
    document = read(forbidden=["/users", "/picklist"], **{"owner$90": 15, "mode$90": 300})
    assert document.fields == {"owner": 15, "mode": 300}


def test_sections_are_clean_and_in_reading_order(read):
    steps = [{"action": "<p>Press</p>", "expectedResult": "on", "notes": ""}, {"action": "Wait", "notes": "5 s"}]
    document = read(
        name="x",
        testCaseSteps=steps,
        **{"notes$90": "<p>see&nbsp;<b>A</b></p>", "code$90": "if a<b:\n  c", "description": "<p>What</p>"},
    )
    assert dict(document.sections) == {
        "description": "What",
        "notes_sources": "see A",
        "source_code": "if a<b:\n  c",
        "test_steps": "1. Action: Press Expected: on\n2. Action: Wait Notes: 5 s",
    }
    assert next(iter(document.sections)) == "description"


def test_an_undefined_field_may_still_be_text(read):
    document = read(actualResults="<p>All <i>well</i></p>", **{"other$7": "<b>kept</b>"})
    assert document.sections == {"actual_results": "All well"}
    assert document.fields == {"other": "<b>kept</b>"}


def test_the_frame_of_a_document(jama, source_of):
    source = source_of(f"{jama.url}/", name="plant")
    document = source.reader.document(source.client.one("/abstractitems/1001"), "plant:2")
    assert (document.id, document.source, document.project_id) == ("plant:1001", "plant", "plant:2")
    assert (document.key, document.type_id, document.type_name) == ("TNY-REQ-1", "24", "Requirement")
    assert document.parent_id == "plant:102"
    assert document.url == f"{jama.url}/perspective.req#/items/1001?projectId=2"
    assert document.created == document.modified == datetime(2024, 1, 1, 0, 1, tzinfo=UTC)
    assert document.path == ()
    top = source.reader.document(source.client.one("/abstractitems/100"), "plant:2")
    assert top.parent_id is None
    run = source.reader.document(source.client.one("/abstractitems/106"), "plant:2")
    assert (run.type_name, run.status) == ("Test Run", "PASSED")


def test_steps_of_many_lines_are_indented_under_their_number():
    steps = [
        {"action": "<ul><li>a</li><li>b</li></ul>", "expectedResult": "c", "status": "PASSED"},
        {},
        {"action": "d"},
    ]
    assert steps_text(steps) == "1. Action: - a\n   - b\n   Expected: c\n   Status: PASSED\n3. Action: d"
    assert steps_text("no list") == ""


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-04-03T11:18:23.000+0000", datetime(2024, 4, 3, 11, 18, 23, tzinfo=UTC)),
        ("2024-04-03T11:18:23.500+0200", datetime(2024, 4, 3, 9, 18, 23, 500_000, tzinfo=UTC)),
        ("2024-04-03", datetime(2024, 4, 3, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_jamas_times(text, time):
    assert moment(text) == time


def test_times_go_out_as_iso_8601():
    assert iso(moment("2024-04-03T11:18:23.500+0200")) == "2024-04-03T09:18:23Z"
    assert iso(None) == ""


def test_field_keys_are_unique_and_readable():
    labels = ["Status", "status", "STATUS!", "Description", "", "状態", "Test Steps"]
    fields = [{"name": f"f{n}$9", "label": label, "fieldType": "STRING"} for n, label in enumerate(labels)]
    schema = parse_type({"id": 9, "display": "T", "fields": [*fields, {"label": "no name"}]})
    keys = [field.key for field in schema.fields.values()]
    assert keys == ["status", "f1", "f2", "f3", "f4", "状態", "f6"]
    assert schema.described().fields["状態"] == "状態"
