"""What the built-in recallers keep beyond the contract."""

import pytest


@pytest.mark.parametrize("name", ["sqlite_fts5", "sqlite_vec", "rank_bm25"])
def test_the_answer_does_not_depend_on_the_order_of_writing(make_shelf, name):
    shelf, other = make_shelf(name), make_shelf(name)
    bodies = {f"d{number}": "volume level" if number % 2 else "volume sync" for number in range(30)}
    for number, (document_id, body) in enumerate(bodies.items()):
        shelf.put(document_id, body, number=number + 1)
    for number, (document_id, body) in reversed(list(enumerate(bodies.items()))):
        other.put(document_id, body, number=number + 1)
    assert shelf.ranking("volume sync", 7) == other.ranking("volume sync", 7)


@pytest.mark.parametrize("text", ["p", "t", "None", "project"])
@pytest.mark.parametrize("name", ["sqlite_fts5", "rank_bm25"])
def test_facets_are_no_words(make_shelf, name, text):
    shelf = make_shelf(name)
    shelf.put("d1", "volume", project="p", type="t")
    assert shelf.find("volume") == ["d1"]
    assert shelf.find(text) == []
