"""What a hit shows: the piece that was found, or the passage with most words of the query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Chunk, Document
from reqall.core.present import SHOWN_CHARACTERS, best_text, shorten


def document(**sections):
    return Document("s:1", "s", "s:p", "P-1", "t", "Requirement", "Name", sections=sections)


def test_a_piece_of_one_section_is_shown_as_it_was_found():
    chunk = Chunk("steps", "Name | Steps", "press the button", 1, "s:1", 0)
    assert best_text(document(description="volume volume"), chunk, "volume") == ("steps", "press the button")


@pytest.mark.parametrize("chunk", [None, Chunk("", "Name", "press the button\n\nvolume sync", 1, "s:1", 0)])
def test_of_a_whole_document_the_best_passage_is_shown(chunk):
    found = document(description="press the button", steps="Volume SYNC is on", notes="volume")
    assert best_text(found, chunk, "volume sync?") == ("steps", "Volume SYNC is on")


def test_without_a_common_word_the_first_text_is_shown():
    assert best_text(document(description="", steps="one", notes="two"), None, "volume") == ("steps", "one")


def test_a_document_without_text_shows_none():
    assert best_text(document(), None, "volume") == ("", "")
    assert best_text(document(description=" \n "), None, "volume") == ("", "")


def test_a_passage_deep_in_a_long_section_is_found():
    lines = [f"line {number} says nothing of interest to anyone" for number in range(200)]
    lines[150] = "the volume follows the remote control"
    section, text = best_text(document(description="\n".join(lines)), None, "volume remote")
    assert section == "description"
    assert "the volume follows the remote control" in text
    assert len(text) <= SHOWN_CHARACTERS + 2


def test_a_passage_deep_in_one_long_paragraph_is_found():
    words = ["nothing"] * 1000
    words[700] = "volume"
    assert "volume" in best_text(document(description=" ".join(words)), None, "volume")[1]


def test_chinese_is_found_in_a_long_text():
    text = "无关的句子。" * 400 + "汉字高度为三毫米。" + "无关的句子。" * 400
    assert "汉字高度" in best_text(document(description=text), None, "汉字高度")[1]


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_text_is_shortened_at_its_end_only_and_the_cut_is_marked(text, limit):
    short = shorten(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        assert short.endswith(" …")
        assert text.startswith(short.removesuffix(" …"))
        assert limit // 2 <= len(short) - 2 <= limit


def test_a_cut_falls_between_words():
    assert shorten("one two three", 9) == "one two …"
    assert shorten("one two three", 7) == "one two …"
    assert shorten("abcdefghij", 4) == "abcd …"
