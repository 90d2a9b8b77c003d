"""The in-memory recaller, against the package it is built on and against plain counting."""

import pytest


@pytest.fixture
def shelf(make_shelf):
    return make_shelf("rank_bm25")


@pytest.mark.parametrize("options", [{}, {"k1": 0.4}, {"b": 0.0}, {"k1": 4.0, "b": 1.0}])
def test_scores_are_the_packages(make_shelf, options):
    from rank_bm25 import BM25Okapi

    shelf = make_shelf("rank_bm25", **options)
    bodies = ["volume level", "volume sync sync", "brake", "engine brake level", "valve sensor alarm"]
    for number, body in enumerate(bodies):
        shelf.put(f"d{number}", body)
    expected = BM25Okapi([body.split() for body in bodies], **options).get_scores(["sync", "level"])
    found = {chunk.document_id: chunk.score for chunk in shelf.ranking("SYNC, level!")}
    assert found == pytest.approx({f"d{n}": score for n, score in enumerate(expected) if score})
    assert sorted(found) == ["d0", "d1", "d3"]


def test_a_word_of_most_documents_still_finds_them(shelf):
    shelf.put("d1", "volume")
    assert shelf.find("volume") == ["d1"]
    shelf.put("d2", "volume brake")
    shelf.put("d3", "brake")
    assert sorted(shelf.find("volume")) == ["d1", "d2"]


def test_documents_without_any_word_are_no_error(shelf):
    shelf.put("d1", "?!")
    assert shelf.find("volume") == []
    assert shelf.find("?!") == []


def test_keys_names_and_unspaced_scripts_are_words(shelf):
    shelf.put("d1", "text", key="SA-7", name="Volume")
    shelf.put("d2", "登录超时")
    assert shelf.find("volume") == ["d1"]
    assert shelf.find("sa-7") == ["d1"]
    assert shelf.find("登录") == ["d2"]


def test_it_lives_in_its_process_alone(shelf):
    shelf.write([shelf.entry("d1", "volume")], seq=3)
    shelf.open()
    assert shelf.recaller.position() is None
    assert shelf.find("volume") == []
