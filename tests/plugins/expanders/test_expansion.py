"""One question becomes several: the user's own text first, nothing twice, few in all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Query, Services
from reqall.plugins.expanders import register_expanders

REGISTRATIONS = {registration.name: registration for registration in register_expanders()}
BY_TEXT = ["lexical_variants", "sub_queries"]


def expand(name, text, sub_queries=(), **options):
    registration = REGISTRATIONS[name]
    return list(registration.build(registration.options(**options), Services()).expand(Query(text, sub_queries)))


def folded(text):
    return " ".join(text.split()).casefold()


@given(st.text(), st.lists(st.text(), max_size=9).map(tuple))
@pytest.mark.parametrize("name", BY_TEXT)
def test_the_text_comes_first_and_nothing_twice(name, text, sub_queries):
    texts = expand(name, text, sub_queries)
    assert texts[0] == text
    assert len(texts) <= 5
    assert len({folded(one) for one in texts}) == len(texts)
    assert all(one.strip() for one in texts[1:])


@pytest.mark.parametrize("name", BY_TEXT)
def test_the_clients_sub_queries_are_used_in_order(name):
    given_texts = ("user logout", "LOGIN  timeout", "", "session expiry", "user Logout ")
    assert expand(name, "login timeout", given_texts) == ["login timeout", "user logout", "session expiry"]
    many = tuple(f"rewrite {number}" for number in range(9))
    assert expand(name, "text", many) == ["text", *many[:4]]


def test_sub_queries_adds_nothing_of_its_own():
    assert expand("sub_queries", "what is the login timeout") == ["what is the login timeout"]
    assert expand("sub_queries", "a", ("b", "c"), limit=2) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "variants"),
    [
        ("How does the login timeout work?", ["login timeout work?"]),
        ("login timeout", []),
        ("what is it", []),
        ("用户登录超时后系统应当锁定", []),
        ("", []),
        ("the power goes down", ["power goes down"]),
        (" ".join(["the", *["word"] * 12]), []),
    ],
)
def test_lexical_variants_leave_stop_words_out_of_short_texts(text, variants):
    assert expand("lexical_variants", text) == [text, *variants]


def test_truncations_drop_one_more_word_each():
    text = "how to set the maximum volume level"
    assert expand("lexical_variants", text, truncations=2) == [
        text,
        "set maximum volume level",
        "set maximum volume",
        "set maximum",
    ]
    assert expand("lexical_variants", "the volume", truncations=3) == ["the volume", "volume"]
    assert expand("lexical_variants", text, max_words=6, truncations=2) == [text]


def test_variants_give_way_to_the_clients_sub_queries():
    assert expand("lexical_variants", "what is the volume", ("loudness",)) == ["what is the volume", "loudness"]
