"""Pseudo-relevance feedback: the model is that of the papers, and its weights survive into the text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Document, FoundDocument, Query
from reqall.plugins.expanders.rm3 import MOST_WORDS, Rm3, Rm3Options
from reqall.plugins.expanders.terms import terms_of

OTHERS = ["brake disc pad", "door window glass", "seat belt buckle", "engine oil pump"]


def found(*texts, scores=None):
    scores = scores or [1.0] * len(texts)
    return [
        FoundDocument(Document(f"s:{n}", "s", "s:p", f"P-{n}", "t", "T", "", sections={"d": text}), score)
        for n, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]


def rm3(**options):
    return Rm3(Rm3Options(**options))


def test_the_model_is_the_mean_of_the_documents_by_their_scores():
    pool = found("alarm alarm horn", "alarm volume", *OTHERS, scores=[3.0, 1.0, 0.5, 0.5, 0.5, 0.5])
    model = rm3(documents=2, terms=10).relevance(pool)
    assert model == pytest.approx({"alarm": 0.75 * 2 / 3 + 0.25 / 2, "horn": 0.75 / 3, "volume": 0.25 / 2})


def test_scores_that_cannot_be_likelihoods_count_the_same():
    pool = found("alarm", "volume", *OTHERS, scores=[2.0, -1.0, -2.0, -3.0, -4.0, -5.0])
    assert rm3(documents=2).relevance(pool) == pytest.approx({"alarm": 0.5, "volume": 0.5})


def test_only_the_most_probable_terms_stay_and_sum_to_1():
    pool = found("alarm alarm alarm horn horn volume", *OTHERS)
    assert rm3(documents=1, terms=2).relevance(pool) == pytest.approx({"alarm": 0.6, "horn": 0.4})


@pytest.mark.parametrize(
    ("word", "texts"),
    [
        ("the", ["the alarm", "the door", "the seat", "the pump"]),
        ("der", ["der alarm", "der griff", "der sitz", "der hebel"]),
        ("系统", ["系统报警", "系统车门", "系统座椅", "系统油泵"]),
    ],
)
def test_what_most_candidates_hold_says_nothing_in_any_language(word, texts):
    assert word in rm3(documents=1, common=1).relevance(found(*texts))
    assert word not in rm3(documents=1, common=0.5).relevance(found(*texts))


def test_numbers_alone_are_no_terms():
    assert set(rm3(documents=1).relevance(found("alarm 42 ISO26262", *OTHERS))) == {"alarm", "iso26262"}


def test_weights_are_occurrences():
    pool = found("alarm alarm alarm horn", *OTHERS)
    *_, text = rm3(documents=1, terms=2, original=0.5).expand_from(Query("loud signal"), pool)
    assert Counter(text.split()) == {"loud": 2, "signal": 2, "alarm": 3, "horn": 1}
    *_, text = rm3(documents=1, terms=2, original=0.8).expand_from(Query("loud signal"), pool)
    assert Counter(text.split()) == {"loud": 8, "signal": 8, "alarm": 3, "horn": 1}


def test_identifiers_of_the_query_stay_whole():
    *_, text = rm3(documents=1).expand_from(Query("SA-TC-7 horn"), found("alarm", *OTHERS))
    assert "SA-TC-7 horn" in text


@pytest.mark.parametrize(("original", "expected"), [(1, ["loud"]), (0, ["loud", "alarm alarm"])])
def test_the_share_of_the_query_goes_from_nothing_to_all(original, expected):
    assert rm3(documents=1, terms=1, original=original).expand_from(Query("loud"), found("alarm", *OTHERS)) == expected


@pytest.mark.parametrize("pool", [[], found(""), found("1 2 3", "4")])
def test_without_a_term_the_query_stays_alone(pool):
    query = Query("loud", ("noisy",))
    assert rm3().expand_from(query, pool) == rm3().expand(query) == ["loud", "noisy"]


@given(
    st.lists(st.sampled_from(["aa", "ab", "b"]), max_size=300).map(" ".join),
    st.lists(st.lists(st.sampled_from(["aa", "bc", "cd", "7"]), max_size=9).map(" ".join), max_size=8),
    st.floats(0, 1),
    st.integers(1, 30),
)
def test_the_text_is_bounded_and_a_mixture(text, texts, original, terms):
    expander = rm3(original=original, terms=terms)
    model = expander.relevance(found(*texts))
    assert not model or sum(model.values()) == pytest.approx(1)
    given_texts = expander.expand_from(Query(text), found(*texts))
    for added in given_texts[1:]:
        words = terms_of(added)
        assert len(words) <= MOST_WORDS + len(terms_of(text))
        assert set(words) <= set(terms_of(text)) | set(model)
