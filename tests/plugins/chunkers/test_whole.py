import pytest

from reqall import Budget, ConfigError, Document, Services
from reqall.plugins.chunkers import register_chunkers

REGISTRATION = next(r for r in register_chunkers() if r.name == "whole")


def words(text):
    return len(text.split())


def cut(limit=None, name="Volume sync", **sections):
    item = Document("jama:1", "jama", "jama:9", "REQ-1", "t", "Requirement", name, sections=sections)
    return REGISTRATION.build(REGISTRATION.options(), Services()).chunk(item, Budget(limit, words))


def test_all_sections_are_one_piece_in_order():
    (draft,) = cut(description="First. \n", empty=" ", test_steps="Second.")
    assert (draft.section, draft.context, draft.body) == ("", "Volume sync", "First.\n\nSecond.")


def test_without_a_limit_nothing_is_cut():
    (draft,) = cut(name="name " * 1000, description="word " * 100_000)
    assert words(draft.text) == 101_000


def test_a_document_without_text_is_its_name_or_its_key():
    assert [draft.text for draft in cut()] == ["Volume sync"]
    assert [draft.text for draft in cut(name="")] == ["REQ-1"]


def test_what_fits_a_limit_is_whole_and_what_does_not_is_refused():
    assert words(cut(limit=5, description="one two three")[0].text) == 5
    with pytest.raises(ConfigError, match="'sentences'") as caught:
        cut(limit=5, description="confidential two three four")
    assert "confidential" not in str(caught.value)
