"""The reranker `lexical`: what agrees is ahead, in several scripts, and the parts add up."""

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Passage
from reqall.plugins.rerankers.agreement import cosines, nearness
from reqall.plugins.rerankers.lexical import Lexical, LexicalOptions
from reqall.plugins.rerankers.terms import codes, pieces, words
from reqall.testing.contracts.examples import examples

TEXTS = st.text("ab é用户1.-\n", max_size=12)


def _words(letters, most):
    return st.lists(st.sampled_from(letters), max_size=most)


def _lists(letters, most):
    return st.lists(_words(letters, most), max_size=6)


def first(query, *texts, **options):
    """The number of the text that is put first."""
    passages = [Passage(f"s:{number}", text) for number, text in enumerate(texts)]
    return int(Lexical(LexicalOptions(**options)).rerank(query, passages).documents[0].document_id[2:])


@pytest.mark.parametrize(
    ("query", "wrong", "right"),
    [
        ("volume synchronisation", "The door closes.", "Speakers synchronise the volume."),
        ("Bremsen prüfen", "Das Licht ist an.", "Prüfung der Notbremse vor der Fahrt"),
        ("用户登录超时", "用户打开车门的时间", "登录超时后用户必须重新登录"),
        ("скорость поезда", "цвет дверей", "ограничение скорости поездов"),
        ("alarm within 5 s", "alarm within 7 s", "alarm within 5 s"),
        ("alarm at 5 s", "alarm at 5 m", "alarm at 5 s"),
        ("error E-1047 of the pump", "error E-1046 of the pump", "error E-1047 of the pump"),
        ("clock by NTP", "clock by GPS", "clock by NTP"),
    ],
)
def test_what_agrees_is_first(query, wrong, right):
    assert first(query, wrong, right) == 1
    assert first(query, right, wrong) == 0


def test_a_rare_word_decides_over_a_common_one():
    texts = ["The system shall log in.", "The system shall start.", "The system shall stop.", "An occlusion"]
    assert first("system occlusion", *texts) == 3


def test_near_words_are_ahead_of_the_same_words_far_apart():
    filler = " ".join(f"x{number}" for number in range(20))
    texts = [f"flow {filler} limit", f"flow limit {filler}", "something else", "quite another", "one more"]
    assert first("flow limit", *texts) == 1
    assert first("flow limit", *texts[::-1]) == 3


def test_a_name_decides_between_equal_texts():
    passages = [
        Passage("s:a", "Pump > Other\nvolume of sound", "Other"),
        Passage("s:b", "Pump\nvolume", "Sound volume"),
    ]
    by_name = Lexical(LexicalOptions(name=5)).rerank("sound volume", passages)
    assert by_name.documents[0].document_id == "s:b"
    assert by_name.parts["s:b"]["name"] == pytest.approx(5)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("within 5 ms and 10%", {"5", "5 ms", "10", "10 %"}),
        ("3,5 V or -4.25 °C", {"3.5", "3.5 V", "4.25", "4.25 °C"}),
        ("SA-TC-7 of NTP, max_speed, maxSpeed", {"sa-tc-7", "ntp", "max_speed", "maxspeed"}),
        ("The Pump stops; A is b.", set()),
        ("version 1.2.3", {"1.2.3"}),
    ],
)
def test_codes_are_identifiers_and_numbers_with_their_units(text, found):
    assert set(codes(text)) == found


def test_words_of_unspaced_scripts_are_pairs():
    assert words("ABS 用户登录 ok") == ["abs", "ok", "用户", "户登", "登录"]
    assert pieces("用户") == (" 用户 ",)
    assert pieces("alarm") == (" ala", "alar", "larm", "arm ")


@given(st.lists(TEXTS, min_size=1, max_size=6), TEXTS)
@examples(60)
def test_the_parts_of_a_score_add_up_to_it(texts, query):
    ranking = Lexical(LexicalOptions()).rerank(query, [Passage(f"s:{n}", t, t[:4]) for n, t in enumerate(texts)])
    for ranked in ranking:
        parts = ranking.parts[ranked.document_id]
        assert set(parts) == {"wording", "proximity", "codes", "name"}
        assert ranked.score == pytest.approx(sum(parts.values()))
        assert all(0 <= value <= 1 + 1e-9 for value in parts.values())


@given(_lists("abcdef", 6), _words("abcxyz", 6))
@examples(100)
def test_cosines_are_those_of_the_formula(texts, query):
    assert cosines(query, texts) == pytest.approx([_cosine(query, text, texts) for text in texts])


def _cosine(query, text, texts):
    """The same as plainly as possible."""

    def rarity(term):
        return math.log((len(texts) + 1) / (sum(term in each for each in texts) + 1)) + 1

    asked = {term: count * rarity(term) for term, count in Counter(query).items()}
    held = {term: math.sqrt(count) * rarity(term) for term, count in Counter(text).items()}
    length = math.hypot(*asked.values()) * math.hypot(*held.values())
    return sum(asked[term] * held.get(term, 0) for term in asked) / length if length else 0.0


@given(_lists("abcdefgh", 14), _words("abcdxyz", 7))
@examples(100)
def test_nearness_is_that_of_the_formula(texts, query):
    assert nearness(query, texts) == pytest.approx(_nearness(query, texts))


def _nearness(query, texts):
    kept = [word for word in query if sum(word in text for text in texts) * 2 <= len(texts)]
    asked = {frozenset(pair) for pair in pairwise(kept) if len(set(pair)) == 2}

    def near(pair, text):
        return any({text[i], text[j]} == pair for i in range(len(text)) for j in range(i + 1, min(i + 8, len(text))))

    found = [{pair for pair in asked if near(pair, text)} for text in texts]
    counts = Counter(pair for pairs in found for pair in pairs)
    rarity = {pair: math.log((len(texts) + 1) / (count + 1)) + 1 for pair, count in counts.items()}
    return [sum(rarity[pair] for pair in pairs) / sum(rarity.values()) if rarity else 0.0 for pairs in found]
