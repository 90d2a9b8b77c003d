"""How a query is cut into terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.plugins.recallers.words import STOP_WORDS, indexed_text, query_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Volume sync, volume!", {"volume": 2, "sync": 1}),
        ("SA-TC-7", {"sa tc 7": 1}),
        ("login-timeout", {"login": 1, "timeout": 1}),
        ("task_create", {"task create": 1, "task": 1, "create": 1}),
        ("IPv4/IPv6 at 3.5", {"ipv4": 1, "ipv6": 1, "3 5": 1}),
        ("e.g. user's", {"e": 1, "g": 1, "user": 1, "s": 1}),
        ("the alarm of a pump", {"alarm": 1, "pump": 1}),
        ("the of", {"the": 1, "of": 1}),
        ("登录超时", {"登 录": 1, "录 超": 1, "超 时": 1}),
        ("锁", {"锁": 1}),
        ("ABC登录 x", {"abc": 1, "登 录": 1, "x": 1}),
        ("ログ・イン", {"ロ グ": 1, "イ ン": 1}),
        ("", {}),
        ("—?!", {}),
    ],
)
def test_terms(text, terms):
    assert query_terms(text) == terms


@given(st.text())
def test_a_term_is_letters_and_blanks_only(text):
    """So no term can be read as FTS5 syntax once it stands in quotes."""
    assert not any(character in term for term in query_terms(text) for character in "\"*^:(){}+-\x00\\'")


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF)))
def test_text_of_spaced_scripts_stays_whole(text):
    assert " " not in text or indexed_text(text).count(" ") >= text.count(" ")
    assert indexed_text("volume level") == "volume level"


def test_stop_words_are_lower_case_words():
    assert len(STOP_WORDS) > 80
    assert all(word.isalpha() and word == word.lower() for word in STOP_WORDS)
