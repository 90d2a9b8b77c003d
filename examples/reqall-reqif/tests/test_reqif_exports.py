"""Exports in the manner of five tools become the documents that their users know."""

import zipfile
from datetime import UTC, datetime

import pytest

from reqall import Link


def test_doors_numbers_carry_their_module_prefix(documents_of, exports):
    assert set(documents_of(exports / "doors.reqif")) == {"NEED-1", "SYS-10", "SYS-11", "12"}


def test_doors_objects_are_resolved(documents_of, exports):
    brake = documents_of(exports / "doors.reqif")["SYS-11"]
    assert brake.name == "The brake shall hold the load as in [brake curve.ole: OLE Object]"
    assert brake.status == "agreed"
    assert brake.sections == {
        "description": (
            "The brake shall hold the load as in [brake curve.ole: OLE Object]\nMass | Torque\n10^3 kg | 250 Nm"
        ),
        "Rationale": "A falling load kills.",
    }
    assert brake.fields == {
        "ReqIF.ForeignCreatedOn": "2010-05-21T00:00:00+00:00",
        "Disciplines": ["Electronics", "Mechanics"],
        "Safety relevant": True,
        "attached files": ["brake curve.ole", "brake curve.png"],
    }
    assert brake.created == datetime(2010, 5, 21, tzinfo=UTC)
    assert brake.modified == datetime(2024, 3, 1, 16, 45, 10, 250_000, tzinfo=UTC)
    assert brake.parent_id == "reqif:_10_heading"
    assert brake.type_name == "Object"


def test_doors_headings_and_defaults(documents_of, exports):
    documents = documents_of(exports / "doors.reqif")
    assert documents["SYS-10"].name == "Brake"
    assert documents["SYS-10"].status is None, "an empty choice is a choice"
    assert documents["NEED-1"].status == "open", "no choice is the default"
    assert documents["NEED-1"].sections["description"].endswith("gently.\nNo jolt is felt.")


def test_an_object_in_two_modules_is_one_document(source_of, exports):
    source = source_of(exports / "doors.reqif")
    needs, system, unplaced = source.projects()
    assert [each.name for each in (needs, system)] == ["Stakeholder needs", "System requirements"]
    assert [source.count(each) for each in (needs, system, unplaced)] == [1, 2, 1]
    (page,) = source.documents(needs, None)
    assert page.items[0].fields["also placed in"] == ["System requirements"]
    assert page.items[0].parent_id is None
    (page,) = source.documents(unplaced, None)
    assert page.items[0].key == "12"


def test_doors_links_go_downstream_from_what_is_satisfied(source_of, exports):
    source = source_of(exports / "doors.reqif")
    expected = [Link("reqif:_1_need", "reqif:_11_brake", "satisfies", suspect=True)]
    for project in source.projects()[:2]:
        assert [link for page in source.links(project) for link in page.items] == expected
    assert source.collection().merged.relations[0].group == "Satisfaction"
    assert "relations that lead to objects in no file: 1" in source.collection().merged.notes


def test_polarion(documents_of, exports):
    documents = documents_of(exports / "polarion.reqif")
    section, door = documents["rmf-section"], documents["DOOR-818"]
    assert (section.type_name, section.name, section.sections) == (
        "Heading",
        "Closing",
        {"description": "How doors close."},
    )
    assert (door.type_name, door.name, door.status, door.fields) == (
        "System Requirement",
        "Anti-pinch",
        "Draft",
        {"Weight": 2.5},
    )
    assert door.sections["description"].splitlines() == [
        "The door shall reverse when it meets",
        "1. a hand,",
        "2. a bag:",
        "  - hard",
        "  - soft",
        "See DOOR-1 (https://polarion.example.com/#/workitem?id=DOOR-1).",
    ]
    assert door.parent_id == section.id


def packed(exports, folder):
    archive = folder / "jama.reqifz"
    with zipfile.ZipFile(archive, "w") as members:
        members.write(exports / "jama.reqif", "jci-export.reqif")
        members.writestr("image-FVeQ.png", b"\x89PNG")
        members.writestr(".backup/jci-export.reqif", b"older")
        members.writestr("__MACOSX/._jci-export.reqif", b"\x00\x05\x16\x07")
    return archive


@pytest.mark.parametrize("is_packed", [False, True])
def test_jama(documents_of, links_of, exports, tmp_path, is_packed):
    path = packed(exports, tmp_path) if is_packed else exports / "jama.reqif"
    documents = documents_of(path, upstream="source")
    pump, test = documents["PUMP-REQ-19"], documents["PUMP-TC-3"]
    assert (pump.name, pump.status) == ("Pump alarm", "Approved")
    assert pump.sections == {"description": "The pump shall sound an alarm at an occlusion:\n[image-FVeQ.png]"}
    assert pump.fields == {"Global ID": "GID-98882", "attached files": ["image-FVeQ.png"]}
    assert test.name == "Occlusion test"
    assert test.modified == datetime(2025, 8, 14, 6, 0, 0, 123_456, tzinfo=UTC)
    assert links_of(path, upstream="source") == [Link(pump.id, test.id, "Verified By")]


def test_a_jama_component_is_known_by_its_key(source_of, exports):
    project = source_of(exports / "jama.reqif").projects()[0]
    assert (project.id, project.key, project.name) == ("reqif:_j-spec", "PUMP-CMP-1", "Alarms")


def test_strictdoc(documents_of, links_of, exports):
    documents = documents_of(exports / "strictdoc.reqif")
    start, stop = documents["HC-1"], documents["HC-2"]
    assert start.sections == {
        "description": "The motor shall start within 2 s.\n\nIt shall be quiet & reach ½ of its speed at C:\\temp.",
        "RATIONALE": 'Waiting is "costly".',
    }
    assert (start.name, start.status, start.fields) == ("Start of the motor", "Approved", {"PRIORITY": "High"})
    assert stop.name == "The motor shall stop within 1 s."
    assert documents["SECTION-c4"].name == "Motor"
    assert links_of(exports / "strictdoc.reqif") == [Link(start.id, stop.id, "Parent")]


def test_capella_and_pror(documents_of, links_of, exports):
    documents = documents_of(exports / "capella.reqif")
    clock, copy = documents["PUID-1"], documents["rmf-2"]
    assert (clock.name, clock.type_name) == ("Clock", "Requirement Type")
    assert clock.sections == {"description": "The clock shall be in 24 h format."}
    assert clock.fields == {"DESC": "Kept for the audit", "Owner": "nobody"}
    assert clock.modified == datetime(2017, 11, 14, 14, 44, 26, tzinfo=UTC)
    assert (copy.name, copy.type_name, copy.modified, copy.parent_id) == ("Copy of the clock", "Object", None, clock.id)
    assert links_of(exports / "capella.reqif") == [Link(clock.id, copy.id, "copies")]


def test_all_exports_in_one_folder(source_of, exports):
    source = source_of(exports)
    names = [project.name for project in source.projects()]
    assert names == [
        "In-flight entertainment",
        "Stakeholder needs",
        "System requirements",
        "Alarms",
        "Door control",
        "Hoist controller",
        "Objects in no specification",
    ]
    assert source.validate(live=True) == []
