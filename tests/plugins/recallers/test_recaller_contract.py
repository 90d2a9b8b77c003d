"""What holds for every built-in recaller."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reqall import ChunkRanking, Filters, IndexBatch, Position, Recaller, SupportsDrop

WORDS = [
    *("volume", "level", "sync", "brake", "engine", "login"),
    *("timeout", "pressure", "valve", "sensor", "alarm", "battery"),
]
DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def in_fixture(examples):
    """Examples of one property share the index: they only read, or replace what they wrote."""
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fill(shelf, count=40):
    """Documents of one to four chunks, with repeated texts, so that scores tie."""
    entries = []
    for number in range(count):
        for part in range(1 + number % 4):
            body = " ".join(WORDS[(number * step + part) % len(WORDS)] for step in (1, 3, 5))
            entries.append(shelf.entry(f"d{number:03}", body, project=f"p{number % 3}"))
    shelf.write(entries)


def test_it_is_a_recaller_that_can_be_dropped(shelf):
    recaller: Recaller = shelf.recaller
    assert recaller.storage in {"catalog", "memory"}
    assert isinstance(recaller, SupportsDrop)


def test_an_index_that_was_never_written_finds_nothing(shelf):
    assert shelf.recaller.position() is None
    assert shelf.recaller.recall(["volume", "sync"], 10, Filters()) == [ChunkRanking(), ChunkRanking()]
    assert shelf.embedder.queries == []


def test_no_texts_no_rankings(shelf):
    fill(shelf)
    assert list(shelf.recaller.recall([], 10, Filters())) == []


def test_one_ranking_per_text_in_order(shelf):
    fill(shelf)
    texts = ["brake engine", "", "login", "brake engine"]
    rankings = shelf.recaller.recall(texts, 7, Filters())
    assert list(rankings) == [shelf.recaller.recall([text], 7, Filters())[0] for text in texts]
    assert rankings[0].chunks
    assert rankings[0] != rankings[2]


def test_writing_a_document_again_replaces_all_its_chunks(shelf):
    shelf.put("d1", "volume level", "brake engine")
    shelf.put("d2", "valve")
    shelf.write([shelf.entry("d1", "pressure sensor", number=77)])
    for text in ("volume level", "brake engine", "pressure sensor"):
        assert [chunk.chunk_id for chunk in shelf.ranking(text) if chunk.document_id == "d1"] in ([], [77])
    assert shelf.find("pressure sensor")[0] == "d1"


def test_a_deleted_document_is_gone(shelf):
    shelf.put("d1", "volume level")
    shelf.put("d2", "volume level")
    shelf.write([], deletes=["d1", "never there"])
    assert shelf.find("volume level") == ["d2"]


def test_a_document_without_chunks_is_gone(shelf):
    shelf.put("d1", "volume level")
    shelf.put("d2", "volume level")
    shelf.apply(IndexBatch({"d1": []}), shelf.recaller.prepare([]))
    assert shelf.find("volume level") == ["d2"]


def test_applying_a_batch_twice_changes_nothing(shelf):
    fill(shelf)
    batch, prepared = shelf.write([shelf.entry("d001", "volume sync"), shelf.entry("new", "volume")], ["d002"], seq=3)
    before = shelf.ranking("volume sync")
    shelf.apply(batch, prepared)
    assert shelf.ranking("volume sync") == before
    assert shelf.recaller.position() == Position("f", 3)


def test_the_position_is_that_of_the_last_batch_that_had_one(shelf):
    shelf.write([shelf.entry("d1", "volume")], seq=4)
    shelf.write([shelf.entry("d2", "volume")])
    assert shelf.recaller.position() == Position("f", 4)
    shelf.write([], ["d2"], seq=9)
    assert shelf.recaller.position() == Position("f", 9)


def test_dropped_it_is_as_if_never_written(shelf):
    shelf.write([shelf.entry("d1", "volume")], seq=4)
    shelf.drop()
    shelf.drop()
    assert shelf.recaller.position() is None
    assert shelf.find("volume") == []
    shelf.put("d2", "volume")
    assert shelf.find("volume") == ["d2"]


def test_the_limit_counts_documents(shelf):
    for number in range(6):
        shelf.put(f"d{number}", *(f"volume level {WORDS[part % 9]}" for part in range(40)))
    assert len(shelf.find("volume level", limit=5)) == 5
    assert len(shelf.find("volume level", limit=50)) == 6
    assert shelf.find("volume level", limit=0) == []


@pytest.mark.parametrize("limit", [1, 40, 99])
def test_equal_scores_are_ordered_by_document_even_where_the_limit_cuts(shelf, limit):
    shelf.put("best", "volume", number=1000)
    shelf.write([shelf.entry(f"other{number}", f"brake {number}", number=2000 + number) for number in range(150)])
    shelf.write([shelf.entry(f"d{number:03}", "volume level", number=300 - number) for number in range(120)])
    found = shelf.find("volume", limit)
    assert found == ["best", *(f"d{number:03}" for number in range(120))][:limit]


@in_fixture(40)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.integers(1, 15), st.integers(0, 30))
def test_a_small_limit_is_the_beginning_of_a_large_one(shelf, words, limit, more):
    if shelf.find("volume") == []:
        fill(shelf)
    text = " ".join(words)
    few, many = shelf.ranking(text, limit).collapse(), shelf.ranking(text, limit + more).collapse()
    assert few == many.top(limit)


@in_fixture(150)
@given(st.text())
@example('"volume')
@example("volume* NEAR(sync, 2) AND OR NOT (")
@example("{body} : x ^y + -z facet:p")
@example("\x00volume\x00 \ud800 ' -- ;")
@example("SA-TC-7 _ __ -.- 3.5.")
def test_no_text_is_an_error(shelf, text):
    if shelf.recaller.position() is None:
        shelf.write([shelf.entry("d1", "volume level")], seq=1)
    readable = text.encode("utf-8", "replace").decode()
    shelf.put("any", readable, name=readable)
    (ranking,) = shelf.recaller.recall([text], 3, Filters())
    assert len(ranking.best_chunks) <= 3


@pytest.mark.parametrize("text", ["", "   \n\t"])
def test_a_blank_query_finds_nothing(shelf, text):
    fill(shelf)
    assert shelf.find(text) == []


@pytest.mark.parametrize("text", ["zebra", "?!", "—…", "p0", "project"])
def test_what_no_document_holds_is_not_found_by_words(lexical_shelf, text):
    fill(lexical_shelf)
    assert lexical_shelf.find(text) == []


def test_a_filter_comes_before_the_limit(shelf):
    for number in range(60):
        shelf.put(f"near{number:02}", "brake engine pressure", project="big", type="req", status="open", modified=DAY)
    for number in range(4):
        shelf.put(
            f"far{number}",
            f"brake {' '.join(WORDS[3:])} and {number} other things",
            project="small",
            type="test",
            status="done",
            modified=DAY + timedelta(days=1),
        )
    far = [f"far{number}" for number in range(4)]
    assert sorted(shelf.find("brake engine pressure", 4, project_ids=("small", "unknown"))) == far
    assert sorted(shelf.find("brake engine pressure", 4, type_ids=("test",))) == far
    assert sorted(shelf.find("brake engine pressure", 4, statuses=("done",))) == far
    assert sorted(shelf.find("brake engine pressure", 4, modified_after=DAY + timedelta(hours=1))) == far
    assert not set(shelf.find("brake engine pressure", 60, modified_before=DAY)) & set(far)
    assert shelf.find("brake engine pressure", project_ids=("small",), type_ids=("req",)) == []
    assert shelf.find("brake engine pressure", project_ids=("unknown",)) == []
    assert len(shelf.find("brake engine pressure", 99, project_ids=("small", "big"), statuses=("done", "open"))) == 64


def test_bounds_of_time_are_inclusive_and_exact(shelf):
    tick = timedelta(microseconds=1)
    for name, moment in {"early": DAY - tick, "at": DAY, "late": DAY + tick, "undated": None}.items():
        shelf.put(name, "volume", modified=moment)
    assert sorted(shelf.find("volume", modified_after=DAY)) == ["at", "late"]
    assert sorted(shelf.find("volume", modified_before=DAY)) == ["at", "early"]
    assert shelf.find("volume", modified_after=DAY, modified_before=DAY) == ["at"]
    old = datetime(1960, 1, 1, tzinfo=UTC)
    shelf.put("old", "volume", modified=old)
    assert shelf.find("volume", modified_before=old) == ["old"]
    assert len(shelf.find("volume")) == 5


def test_changed_facets_take_effect(shelf):
    shelf.put("d1", "volume level", status="draft", number=900)
    shelf.put("d2", "volume level", status="draft")
    shelf.put("d1", "volume level", status="done", number=900)
    assert shelf.find("volume", statuses=("done",)) == ["d1"]
    assert shelf.find("volume", statuses=("draft",)) == ["d2"]


def test_the_same_question_has_the_same_answer(shelf):
    fill(shelf)
    assert shelf.ranking("brake engine", 9) == shelf.ranking("brake engine", 9)


def test_the_answer_does_not_depend_on_the_order_of_writing(make_shelf, shelf):
    other = make_shelf(shelf._name)
    bodies = {f"d{number}": "volume level" if number % 2 else "volume sync" for number in range(30)}
    for number, (document_id, body) in enumerate(bodies.items()):
        shelf.put(document_id, body, number=number + 1)
    for number, (document_id, body) in reversed(list(enumerate(bodies.items()))):
        other.put(document_id, body, number=number + 1)
    assert shelf.ranking("volume sync", 7) == other.ranking("volume sync", 7)


def test_closed_and_opened_again_it_answers_alike(catalog_shelf):
    fill(catalog_shelf)
    catalog_shelf.write([], ["d003"], seq=8)
    before = catalog_shelf.ranking("brake engine", 9)
    catalog_shelf.database.close()
    catalog_shelf.open()
    assert catalog_shelf.recaller.position() == Position("f", 8)
    assert catalog_shelf.ranking("brake engine", 9) == before


def test_a_batch_that_fails_leaves_no_trace(catalog_shelf):
    fill(catalog_shelf)
    before = catalog_shelf.ranking("brake engine", 9)
    entries = [catalog_shelf.entry("d001", "brake engine")]
    batch = IndexBatch({"d001": entries}, ["d002"], Position("f", 9))
    prepared = catalog_shelf.recaller.prepare(entries)

    def fail_late():
        with catalog_shelf.database.writing() as tx:
            catalog_shelf.recaller.apply(batch, prepared, tx)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_late()
    assert catalog_shelf.ranking("brake engine", 9) == before
    assert catalog_shelf.recaller.position() is None


def test_four_threads_search_while_one_writes(shelf):
    """Every answer holds all documents, each as it was before or after a batch."""
    names = [f"d{number:02}" for number in range(20)]
    shelf.write([shelf.entry(name, "volume level") for name in names])
    done = threading.Event()
    failures, answers = [], []

    def search():
        try:
            while not done.is_set():
                answers.append(sorted(shelf.find("volume level", 30)))
        except Exception as error:  # noqa: BLE001 - a thread's error is told by the test
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(25):
        shelf.write([shelf.entry(name, f"volume level {WORDS[turn % 9]}") for name in names], seq=turn)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert answers
    assert all(answer == names for answer in answers)
