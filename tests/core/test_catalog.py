"""The catalog: what is written is read back, keys are found, ancestors end, changes move their numbers."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reqall import ChunkDraft, Document, Filters, ItemType, Link, Project
from reqall.core.catalog import MAX_DEPTH, Catalog
from reqall.core.changes import Change, ChangeLog
from reqall.core.database import Database
from reqall.core.rows import Hashes, storable

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)
TIMES = st.none() | st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001 - hypothesis adds the zones
    datetime(2999, 1, 1),  # noqa: DTZ001 - likewise
    timezones=st.none() | st.just(UTC) | st.just(timezone(timedelta(hours=9))),
)
DOCUMENTS = st.builds(
    Document,
    id=ANY_TEXT,
    source=ANY_TEXT,
    project_id=ANY_TEXT,
    key=ANY_TEXT,
    type_id=ANY_TEXT,
    type_name=ANY_TEXT,
    name=ANY_TEXT,
    status=st.none() | ANY_TEXT,
    sections=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3),
    fields=st.dictionaries(ANY_TEXT, ANY_JSON, max_size=3),
    parent_id=st.none() | ANY_TEXT,
    url=st.none() | ANY_TEXT,
    created=TIMES,
    modified=TIMES,
)


@pytest.fixture
def catalog(tmp_path):
    opened = Catalog(Database(tmp_path / "catalog.db"))
    yield opened
    opened.database.close()


@pytest.fixture
def log(catalog):
    return ChangeLog(catalog.database)


def document(number, **changes):
    plain = Document(f"s:{number}", "s", "s:p", f"P-{number}", "t", "Requirement", f"Name {number}")
    return replace(plain, **changes)


def write(catalog, *documents):
    with catalog.database.writing() as tx:
        catalog.write_documents(tx, documents)


def paths(catalog, *ids):
    return {key: found.path for key, found in catalog.documents(ids).items()}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENTS)
def test_any_document_is_read_back_as_it_was_made_storable(catalog, given_document):
    clean = storable(given_document)
    write(catalog, clean)
    assert catalog.documents([clean.id]) == {clean.id: replace(clean, path=())}
    assert catalog.hashes([clean.id]) == {clean.id: Hashes.of(clean)}
    with catalog.database.writing() as tx:
        catalog.delete_documents(tx, [clean.id])
    assert catalog.documents([clean.id]) == {}


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS)
def test_what_is_storable_is_utf_8_in_utc_and_stays_as_it_is(given_document):
    clean = storable(given_document)
    assert storable(clean) == clean
    texts = [clean.id, clean.key, clean.name, *clean.sections, *clean.sections.values(), json.dumps(dict(clean.fields))]
    assert "\x00" not in "".join(texts)
    "".join(texts).encode()
    assert all(time is None or time.tzinfo is UTC for time in (clean.created, clean.modified))


def test_unicode_is_kept_and_only_what_sqlite_cannot_hold_is_replaced(catalog):
    kept = "naïve Größe 汉字高度 пример 🔊 e\u0301 \u200d \ufeff \uffff"
    broken = storable(document(1, name=kept, sections={"description": "half \ud83d pair", "notes": "a\x00b"}))
    assert broken.name == kept
    assert dict(broken.sections) == {"description": "half \ufffd pair", "notes": "a\ufffdb"}
    write(catalog, broken)
    assert catalog.documents(["s:1"])["s:1"] == broken


@pytest.fixture
def in_tokyo(monkeypatch):
    """A time without a zone is never this machine's."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_times_are_utc_to_the_microsecond(catalog):
    precise = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    tokyo = precise.astimezone(timezone(timedelta(hours=9)))
    write(catalog, storable(document(1, created=tokyo, modified=precise.replace(tzinfo=None))))
    found = catalog.documents(["s:1"])["s:1"]
    assert (found.created, found.modified) == (precise, precise)
    assert found.created.utcoffset() == timedelta(0)


def test_sections_keep_their_reading_order(catalog):
    write(catalog, document(1, sections={"z": "first", "a": "second"}))
    assert list(catalog.documents(["s:1"])["s:1"].sections.items()) == [("z", "first"), ("a", "second")]


@pytest.mark.parametrize(
    "change", [{"name": "other"}, {"sections": {"description": "other"}}, {"sections": {"b": "y", "a": "x"}}]
)
def test_a_change_of_text_moves_the_text_hash_alone(change):
    before = document(1, sections={"a": "x", "b": "y"})
    after = replace(before, **change)
    assert Hashes.of(before).text != Hashes.of(after).text
    assert Hashes.of(before).facets == Hashes.of(after).facets


@pytest.mark.parametrize(
    "change",
    [
        {"status": "Approved"},
        {"parent_id": "s:9"},
        {"project_id": "s:other"},
        {"type_id": "other"},
        {"type_name": "other"},
        {"key": "other"},
        {"url": "http://host/1"},
        {"fields": {"priority": "high"}},
        {"created": datetime(2024, 1, 1, tzinfo=UTC)},
        {"modified": datetime(2024, 1, 1, microsecond=1, tzinfo=UTC)},
    ],
)
def test_any_other_change_moves_the_facet_hash_alone(change):
    before = document(1)
    after = replace(before, **change)
    assert Hashes.of(before).text == Hashes.of(after).text
    assert Hashes.of(before).facets != Hashes.of(after).facets


def test_a_document_without_a_name_is_titled_by_its_key():
    before = document(1, name=" ")
    assert Hashes.of(before).text != Hashes.of(replace(before, key="other")).text


def test_paths_name_the_ancestors_outermost_first(catalog):
    write(
        catalog,
        document(1, name="Project set"),
        document(2, name="Folder", parent_id="s:1"),
        document(3, parent_id="s:2"),
        document(4, parent_id="s:missing"),
    )
    assert paths(catalog, "s:1", "s:2", "s:3", "s:4") == {
        "s:1": (),
        "s:2": ("Project set",),
        "s:3": ("Project set", "Folder"),
        "s:4": (),
    }


def test_a_renamed_or_moved_parent_shows_at_once(catalog):
    write(catalog, document(1, name="Old"), document(2, name="Elsewhere"), document(3, parent_id="s:1"))
    write(catalog, document(1, name="New"))
    assert paths(catalog, "s:3") == {"s:3": ("New",)}
    write(catalog, document(1, name="New", parent_id="s:2"))
    assert paths(catalog, "s:3") == {"s:3": ("Elsewhere", "New")}


def test_parents_in_a_circle_are_named_once_each(catalog):
    write(
        catalog,
        document(1, name="A", parent_id="s:3"),
        document(2, name="B", parent_id="s:1"),
        document(3, name="C", parent_id="s:2"),
        document(4, name="Own parent", parent_id="s:4"),
        document(5, parent_id="s:1"),
    )
    assert paths(catalog, "s:1", "s:4", "s:5") == {"s:1": ("B", "C"), "s:4": (), "s:5": ("B", "C", "A")}


def test_a_path_names_the_nearest_ancestors_of_a_deep_tree(catalog):
    deep = [document(n, name=f"L{n}", parent_id=f"s:{n - 1}") for n in range(MAX_DEPTH + 10)]
    write(catalog, *deep)
    (path,) = paths(catalog, f"s:{MAX_DEPTH + 9}").values()
    assert path == tuple(f"L{n}" for n in range(9, MAX_DEPTH + 9))


def test_keys_are_found_in_any_case_and_script(catalog):
    write(catalog, document(1, key="SA-TC-7"), document(2, key="ÄÖ-1"), document(3, key=""), document(4, key="sa-tc-7"))
    assert catalog.with_keys(["sa-Tc-7"], Filters()) == ["s:1", "s:4"]
    assert catalog.with_keys(["äö-1"], Filters()) == ["s:2"]
    assert catalog.with_keys(["", "SA-TC"], Filters()) == []
    assert catalog.with_keys(["\ud800", "a\x00"], Filters()) == []
    write(catalog, storable(document(5, key="K\x00")))
    assert catalog.with_keys(["k\x00"], Filters()) == ["s:5"]


def test_keys_are_found_within_filters_only(catalog):
    noon = datetime(2024, 1, 2, 12, tzinfo=UTC)
    write(
        catalog,
        document(1, key="K", status="Draft", modified=noon),
        document(2, key="K", project_id="s:q", type_id="u"),
    )
    one, two = ["s:1"], ["s:2"]
    tick = timedelta(microseconds=1)
    for filters, expected in [
        (Filters(), one + two),
        (Filters(project_ids=("s:q",)), two),
        (Filters(project_ids=("s:q", "s:p")), one + two),
        (Filters(type_ids=("t",)), one),
        (Filters(statuses=("Draft",)), one),
        (Filters(statuses=("Approved",)), []),
        (Filters(modified_after=noon), one),
        (Filters(modified_after=noon + tick), []),
        (Filters(modified_before=noon), one),
        (Filters(modified_before=noon - tick), []),
        (Filters(type_ids=("u",), statuses=("Draft",)), []),
    ]:
        assert catalog.with_keys(["k"], filters) == expected, filters


def test_links_are_replaced_as_a_whole(catalog):
    first = [Link("s:1", "s:2", "verifies"), Link("s:1", "s:2", "satisfies", suspect=True)]
    with catalog.database.writing() as tx:
        catalog.replace_links(tx, "s:p", first)
        catalog.replace_links(tx, "s:q", [Link("s:8", "s:9", "verifies")])
    assert sorted(catalog.links("s:p"), key=lambda link: link.type, reverse=True) == first
    with catalog.database.writing() as tx:
        catalog.replace_links(tx, "s:p", [Link("s:1", "s:2", "half \ud800"), Link("s:1", "s:2", "half \ud800")])
    assert catalog.links("s:p") == [Link("s:1", "s:2", "half \ufffd")]
    assert catalog.links("s:q") == [Link("s:8", "s:9", "verifies")]


def test_a_walk_keeps_the_order_in_which_documents_came(catalog):
    numbers = [5, 3, 9, 1, 7]
    write(catalog, *(document(n) for n in numbers))
    write(catalog, document(9, name="edited"), document(2, project_id="s:other"))
    assert [found.id for found in catalog.walk("s:p", size=2)] == [f"s:{n}" for n in numbers]
    assert catalog.document_ids("s:p") == [f"s:{n}" for n in numbers]
    assert catalog.count("s:p") == 5


def test_types_and_statuses_of_projects_are_listed(catalog):
    write(
        catalog,
        document(1, status="Draft"),
        document(2, type_id="u", type_name="Defect", status="Approved"),
        document(3, project_id="s:q", type_id="v", type_name="Test", status="Passed"),
        document(4),
    )
    assert catalog.item_types(["s:p"]) == [ItemType("u", "Defect"), ItemType("t", "Requirement")]
    assert catalog.statuses(["s:p"]) == ["Approved", "Draft"]
    assert catalog.statuses(["s:p", "s:q"]) == ["Approved", "Draft", "Passed"]
    assert catalog.item_types([]) == []


def test_a_project_keeps_its_watermark_when_it_is_renamed(catalog):
    time = datetime(2024, 1, 1, tzinfo=UTC)
    with catalog.database.writing() as tx:
        catalog.write_project(tx, Project("s:p", "s", "P", "Old"))
    assert catalog.project("s:p").watermark is None
    assert catalog.project("s:p").synced is None
    with catalog.database.writing() as tx:
        catalog.write_synced(tx, "s:p", "mark", time)
        catalog.write_project(tx, Project("s:p", "s", "P2", "New \ud800"))
    (state,) = catalog.projects()
    assert (state.project, state.watermark, state.synced) == (Project("s:p", "s", "P2", "New \ufffd"), "mark", time)
    assert catalog.project("s:q") is None


def test_each_change_has_one_row_that_moves(catalog, log):
    write(catalog, document(1), document(2))
    with catalog.database.writing() as tx:
        assert log.record(tx, ["s:1", "s:2"], deleted=False) == 2
        assert log.record(tx, [], deleted=True) == 2
        assert log.record(tx, ["s:1"], deleted=False) == 3
        assert log.record(tx, ["s:2"], deleted=True) == 4
    assert log.after(0, 10) == [Change("s:1", 3, deleted=False), Change("s:2", 4, deleted=True)]
    assert log.after(3, 10) == [Change("s:2", 4, deleted=True)]
    assert log.after(0, 1) == [Change("s:1", 3, deleted=False)]
    assert log.places(["s:1", "s:2", "s:3"]) == {"s:1": 3, "s:2": 4}
    assert log.seq() == 4


def test_pending_counts_documents_that_exist(catalog, log):
    write(catalog, document(1), document(2, project_id="s:q"), document(3))
    with catalog.database.writing() as tx:
        log.record(tx, ["s:1", "s:2", "s:3"], deleted=False)
        catalog.delete_documents(tx, ["s:3"])
        log.record(tx, ["s:3"], deleted=True)
    assert log.pending(0) == 2
    assert log.pending(0, ["s:q"]) == 1
    assert log.pending(1) == 1
    assert log.pending(4) == 0


def test_chunk_ids_are_never_given_twice(catalog, log):
    draft = ChunkDraft("description", "Name", "text")
    first = log.number({"s:1": [draft, draft], "s:2": []})
    assert [chunk.ordinal for chunk in first["s:1"]] == [0, 1]
    assert first["s:2"] == []
    with catalog.database.writing() as tx:
        log.write_chunks(tx, "whole", first["s:1"])
    assert log.chunks_of(["s:1"], "whole") == {"s:1": first["s:1"]}
    assert log.chunks_of(["s:1"], "other") == {}
    with catalog.database.writing() as tx:
        log.drop_chunks(tx, ["s:1"])
    (again,) = log.number({"s:1": [draft]})["s:1"]
    assert again.id > max(chunk.id for chunk in first["s:1"])
    assert log.chunks([chunk.id for chunk in first["s:1"]]) == {}


def test_chunks_go_with_their_document(catalog, log):
    write(catalog, document(1))
    chunks = log.number({"s:1": [ChunkDraft("", "Name", "text")]})["s:1"]
    with catalog.database.writing() as tx:
        log.write_chunks(tx, "whole", chunks)
        catalog.delete_documents(tx, ["s:1"])
    assert log.chunks([chunks[0].id]) == {}
