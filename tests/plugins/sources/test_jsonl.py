"""The `jsonl` source on small files, and on every collection under the folder REQALL_BENCH."""

import json
import os
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import reqall.plugins.sources
from reqall import Document, ItemType, Project, Services, SupportsCount, SupportsValidation
from reqall.core.collection import Collection
from reqall.plugins.sources.jsonl import JsonlOptions, JsonlSource

BENCH = os.environ.get("REQALL_BENCH", "")
COLLECTIONS = sorted(path.parent for path in Path(BENCH).glob("*/corpus.jsonl")) if BENCH else []


@pytest.fixture
def source(tmp_path):
    def build(*lines, **options):
        folder = tmp_path / "corpus-1.2"
        folder.mkdir(exist_ok=True)
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (folder / "corpus.jsonl").write_text(text, encoding="utf-8")
        return JsonlSource(JsonlOptions(path=folder, **options), Services(name="files"))

    return build


def walk(source, project=None, since=None):
    project = project or source.projects()[0]
    return [document for page in source.documents(project, since) for document in page.items]


def test_the_package_registers_it():
    (registration,) = reqall.plugins.sources.register_sources()
    built = registration.build(registration.options(path="x"), Services(name="files"))
    assert registration.name == "jsonl"
    assert isinstance(built, SupportsCount)
    assert isinstance(built, SupportsValidation)


def test_a_full_line_becomes_a_document(source):
    metadata = {
        "type": "System requirement",
        "status": "Approved",
        "created": "2024-02-29",
        "modified": "2024-03-01T01:00:00+02:00",
        "rank": 3,
        "safe": True,
    }
    made = source({"_id": "SRS:7", "title": " Volume ", "text": "Sync the volume.\n", "metadata": metadata})
    assert made.projects() == [Project("files:corpus-1.2", "files", "corpus-1.2", "corpus-1.2")]
    assert walk(made) == [
        Document(
            id="files:SRS:7",
            source="files",
            project_id="files:corpus-1.2",
            key="SRS:7",
            type_id="System requirement",
            type_name="System requirement",
            name="Volume",
            status="Approved",
            sections={"description": "Sync the volume."},
            fields={"rank": 3, "safe": True},
            created=datetime(2024, 2, 29, tzinfo=UTC),
            modified=datetime(2024, 2, 29, 23, tzinfo=UTC),
        )
    ]


def test_a_bare_line_becomes_a_document(source):
    (document,) = walk(source({"_id": 7}))
    assert (document.id, document.key, document.name) == ("files:7", "7", "7")
    assert (document.type_id, document.type_name, document.status) == ("document", "document", None)
    assert document.sections == {}
    assert document.fields == {}


def test_without_keys_no_text_of_a_document_holds_its_id(source):
    (document,) = walk(source({"_id": "R12", "title": "", "text": "Warn."}, keys=False))
    assert (document.id, document.key, document.name) == ("files:R12", "", "")
    assert document.sections == {"description": "Warn."}


def test_answers_and_lists_never_become_fields(source):
    answers = dict.fromkeys(("parents", "parent", "relations", "links", "self"), "SECRET")
    metadata = {**answers, "section": "UI", "tags": ["SECRET"], "more": {"a": "SECRET"}, "none": None}
    made = source({"_id": "1", "metadata": metadata})
    (document,) = walk(made)
    assert document.fields == {"section": "UI"}
    assert "SECRET" not in repr(document)
    assert list(made.links(made.projects()[0])) == []


@pytest.mark.parametrize("date", ["spring 2003", "0001-01-01T00:00+14:00", 2003, ""])
def test_a_date_that_is_none_stays_a_field(source, date):
    (document,) = walk(source({"_id": "1", "metadata": {"modified": date}}))
    assert document.modified is None
    assert document.fields == {"modified": date}


def test_times_are_utc(source):
    made = source({"_id": "1", "metadata": {"created": "2024-01-01T12:00:00", "modified": "2024-01-01T12:00:00Z"}})
    (document,) = walk(made)
    assert document.created == document.modified == datetime(2024, 1, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert document.created.utcoffset() == document.modified.utcoffset() == timedelta(0)


def test_pages_are_full_and_hold_every_document_once(source):
    made = source(*[{"_id": str(n)} for n in range(7)], page_size=3)
    project = made.projects()[0]
    pages = list(made.documents(project, None))
    assert [len(page.items) for page in pages] == [3, 3, 1]
    assert [document.id for page in pages for document in page.items] == [f"files:{n}" for n in range(7)]
    assert [i for page in made.document_ids(project) for i in page.items] == [f"files:{n}" for n in range(7)]
    assert made.count(project) == 7
    assert {page.watermark for page in pages} == {None}


def test_since_is_ignored(source):
    made = source({"_id": "1", "metadata": {"modified": "2020-01-01"}})
    assert walk(made, since="2024-01-01") == walk(made)


def test_a_field_divides_the_corpus_into_projects(source):
    lines = [{"_id": f"{n}", "metadata": {"project": p, "type": f"T{n}"}} for n, p in enumerate(["B:x", "A", "B:x", 7])]
    made = source(*lines, project_field="project")
    projects = made.projects()
    assert [project.name for project in projects] == ["B:x", "A", "7"]
    assert [[document.id for document in walk(made, project)] for project in projects] == [
        ["files:0", "files:2"],
        ["files:1"],
        ["files:3"],
    ]
    assert [made.count(project) for project in projects] == [2, 1, 1]
    assert all(document.project_id == projects[0].id for document in walk(made, projects[0]))
    assert [item.id for item in made.describe(projects[0])] == ["T0", "T2"]


def test_the_one_project_can_be_named(source):
    made = source({"_id": "1"}, project="Braking")
    assert made.projects() == [Project("files:Braking", "files", "Braking", "Braking")]
    assert walk(made)[0].project_id == "files:Braking"


def test_a_file_can_be_named_instead_of_a_folder(tmp_path):
    (tmp_path / "brakes.v2.jsonl").write_text('{"_id": "1"}', encoding="utf-8")
    made = JsonlSource(JsonlOptions(path=tmp_path / "brakes.v2.jsonl"), Services(name="files"))
    assert made.projects()[0].name == "brakes.v2"
    assert len(walk(made)) == 1


def test_types_are_described_with_their_fields(source):
    made = source(
        {"_id": "1", "metadata": {"type": "Need", "level": "high", "parents": ["2"]}},
        {"_id": "2"},
        {"_id": "3", "metadata": {"type": "Need", "owner": "me"}},
    )
    assert made.describe(made.projects()[0]) == [
        ItemType("Need", "Need", {"level": "level", "owner": "owner"}),
        ItemType("document", "document", {}),
    ]


def test_byte_order_mark_blank_lines_and_windows_line_ends_are_accepted(tmp_path):
    text = '{"_id": "1", "text": "größer"}\r\n\r\n \t\r\n{"_id": "2", "text": "\\u00e9"}'
    (tmp_path / "corpus.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode())
    made = JsonlSource(JsonlOptions(path=tmp_path), Services(name="files"))
    assert [document.sections["description"] for document in walk(made)] == ["größer", "é"]


def test_a_walk_holds_one_page_not_the_corpus(tmp_path):
    count, size = 2000, 10_000
    with (tmp_path / "corpus.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"_id": str(n), "text": "x" * size}) + "\n" for n in range(count))
    made = JsonlSource(JsonlOptions(path=tmp_path, page_size=10), Services(name="files"))
    project = made.projects()[0]
    tracemalloc.start()
    try:
        assert sum(len(page.items) for page in made.documents(project, None)) == count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < count * size / 10


@pytest.mark.parametrize(
    "folder",
    COLLECTIONS or [pytest.param(None, marks=pytest.mark.skip(reason="REQALL_BENCH names no folder of collections"))],
    ids=lambda folder: folder.name if folder else "none",
)
def test_a_collection_loads_and_its_counts_are_those_it_states(folder):
    made = JsonlSource(JsonlOptions(path=folder, keys=False), Services(name="bench"))
    ids = {document.id.removeprefix("bench:") for document in walk(made)}
    collection = Collection.read(folder)
    assert collection.name == made.projects()[0].name == folder.name
    judged = {document for judgements in collection.qrels.values() for document in judgements}
    assert judged <= ids
    stated = folder / "stats.json"
    if stated.exists():
        stats = json.loads(stated.read_text(encoding="utf-8"))
        assert len(ids) == made.count(made.projects()[0]) == stats["docs"]
        assert len(collection.queries) == stats["queries_with_rel"]
        assert sum(len(judgements) for judgements in collection.qrels.values()) == stats["qrels"]
