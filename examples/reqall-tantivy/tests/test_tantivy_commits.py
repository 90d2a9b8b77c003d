"""A batch and its position are one commit of the engine, and nothing else is one."""

import json
import sys

import pytest
from reqall_tantivy.folder import META, Folder
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import TantivyRecaller, build_tantivy

from reqall import CatalogError, Filters, IndexBatch, PluginError, Position, Services


def commits(shelf):
    """What the engine says its newest commit is."""
    return (shelf.services.folder / META).read_bytes()


def segments(shelf):
    return json.loads(commits(shelf))["segments"]


def test_entries_and_position_appear_at_once(shelf):
    """Another reader sees the old state or the new one, whatever it asks first."""
    reader = build_tantivy(TantivyOptions(), shelf.services)
    for turn in range(1, 6):
        shelf.write([shelf.entry(f"d{turn}", "valve")], seq=turn)
        assert reader.position() == Position("f", turn)
        assert len(reader.recall(["valve"], 9, Filters())[0].best_chunks) == turn


def test_an_applied_batch_writes_nothing_when_it_is_applied_again(shelf):
    batch, prepared = shelf.write([shelf.entry("d1", "valve"), shelf.entry("d2", "brake")], ["d3"], seq=1)
    before = commits(shelf)
    shelf.apply(batch, prepared)
    shelf.apply(IndexBatch({}, ["never there"]), None)
    assert commits(shelf) == before


def test_only_documents_that_differ_are_written(shelf):
    entries = [shelf.entry(f"d{number}", "valve") for number in range(20)]
    shelf.write(entries, seq=1)
    shelf.write([*entries[:19], shelf.entry("d19", "brake")], seq=2)
    # Beside them the position is a document too: two were replaced.
    assert sum((segment["deletes"] or {"num_deleted_docs": 0})["num_deleted_docs"] for segment in segments(shelf)) == 2


def test_a_batch_is_one_commit(shelf):
    """The engine numbers its operations: two deletions, two documents, one commit."""
    shelf.write([shelf.entry("d1", "valve")], seq=1)
    before = json.loads(commits(shelf))["opstamp"]
    shelf.write([shelf.entry("d2", "valve")], seq=2)
    assert json.loads(commits(shelf))["opstamp"] == before + 5


def test_a_batch_that_fails_midway_leaves_the_last_commit(shelf):
    shelf.write([shelf.entry("d1", "valve")], seq=1)
    broken = shelf.entry("d2", "valve", number=2**80)
    with pytest.raises(CatalogError, match="could not be written"):
        shelf.write([shelf.entry("d1", "brake"), broken], seq=2)
    assert shelf.recaller.position() == Position("f", 1)
    assert shelf.find("valve") == ["d1"]
    shelf.write([shelf.entry("d1", "brake")], seq=2)
    assert shelf.find("valve") == []
    assert [pair[1] for pair in shelf.recaller.inventory(None)] == ["d1"]


def test_small_batches_are_merged(shelf):
    for turn in range(40):
        shelf.write([shelf.entry(f"d{turn}", "valve")], seq=turn + 1)
    assert len(segments(shelf)) < 12
    assert len(list(shelf.services.folder.iterdir())) < 12 * 8


def test_two_writers_that_take_turns_leave_no_files_behind(shelf):
    """Each must know of the files that the other made, or nobody ever removes them."""
    others = [build_tantivy(TantivyOptions(), shelf.services) for _ in range(2)]
    for turn in range(12):
        batch = IndexBatch({"d": [shelf.entry("d", f"valve {turn}")]}, (), Position("f", turn + 1))
        others[turn % 2].apply(batch, None, None)
    listed = json.loads(commits(shelf))
    alive = {segment["segment_id"].replace("-", "") for segment in listed["segments"]}
    present = {file.name.partition(".")[0] for file in shelf.services.folder.iterdir() if len(file.name) > 32}
    assert present == alive


def test_a_batch_larger_than_the_writer_s_memory_is_one_commit(make_shelf):
    shelf = make_shelf(writer_memory_mb=15)
    text = " ".join(f"word{number}" for number in range(4000))
    shelf.write([shelf.entry(f"d{number}", f"{text} x{number}") for number in range(300)], seq=1)
    assert shelf.recaller.position() == Position("f", 1)
    assert len(shelf.find("word1", 400)) == 300


def test_building_touches_no_file(tmp_path):
    recaller = TantivyRecaller(TantivyOptions(), tmp_path / "index")
    assert recaller.position() is None
    assert recaller.recall(["valve"], 5, Filters())[0].chunks == ()
    assert list(recaller.inventory(None)) == []
    assert recaller.damage(None) == []
    recaller.drop(None)
    assert not (tmp_path / "index").exists()


def test_a_dropped_index_leaves_only_its_lock(shelf):
    shelf.put("d1", "valve")
    shelf.drop()
    assert [file.name for file in shelf.services.folder.iterdir()] == ["reqall.lock"]


def test_many_chunks_of_few_documents_do_not_hide_the_others(shelf):
    for number in range(3):
        shelf.put(f"long{number}", *["valve valve valve"] * 150)
    for number in range(30):
        shelf.put(f"short{number:02}", f"valve and {number} other things that make it longer")
    found = shelf.find("valve", 20)
    assert found[:3] == ["long0", "long1", "long2"]
    assert len(found) == 20


@pytest.mark.parametrize("limit", [1, 3, 20])
def test_of_equal_documents_the_first_by_id_are_kept_in_whatever_order_they_were_written(shelf, limit):
    names = [f"d{number:03}" for number in range(100)]
    for part in (names[50:], names[:50]):
        shelf.write([shelf.entry(name, "valve") for name in reversed(part)])
    assert shelf.find("valve", limit) == names[:limit]


def test_a_folder_of_its_own_is_needed():
    with pytest.raises(PluginError, match="folder"):
        build_tantivy(TantivyOptions(), Services())


@pytest.mark.parametrize("package", ["tantivy", "filelock"])
def test_a_missing_package_is_told_when_the_recaller_is_built(monkeypatch, tmp_path, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PluginError, match=f"pip install {package}"):
        build_tantivy(TantivyOptions(), Services(folder=tmp_path))


def test_a_searcher_is_kept_while_nothing_is_committed(shelf):
    shelf.put("d1", "valve")
    folder = shelf.recaller._folder
    assert isinstance(folder, Folder)
    shelf.find("valve")
    before = folder._opened
    shelf.find("valve")
    assert folder._opened is before
    shelf.put("d2", "valve")
    shelf.find("valve")
    assert folder._opened is not before
