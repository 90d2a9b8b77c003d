"""How alike two texts are, and what is told of them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall.core.catalog import Catalog
from reqall.core.differences import MOST_DIFFERENCES, agreeing_sentences, differences
from reqall.core.likeness import SAMPLE, Weights, cosine, item_text, shared_terms
from reqall.core.terms import terms_of
from reqall.related import THRESHOLD
from reqall.testing.strategies import section_texts

CORPUS = [
    "The pump shall alarm within 15 s when the line is blocked.",
    "The pump shall alarm when the bag is empty.",
    "The pump shall show the remaining battery time.",
    "The pump shall log every change of the rate.",
]
WEIGHTS = Weights.of([*CORPUS, *(f"The pump shall keep value {number}." for number in range(30))])


def alike(one, other, weights=WEIGHTS):
    return cosine(weights.vector(one), weights.vector(other))


@given(section_texts(), section_texts(), st.lists(section_texts(), max_size=4))
def test_a_score_is_from_0_to_1_and_the_same_from_both_sides(one, other, corpus):
    weights = Weights.of(corpus)
    assert 0 <= alike(one, other, weights) <= 1
    assert alike(one, other, weights) == pytest.approx(alike(other, one, weights))
    assert bool(alike(one, other, weights)) == bool(set(terms_of(one)) & set(terms_of(other)))
    if terms_of(one):
        assert alike(one, " ".join(reversed(one.split())), weights) == pytest.approx(1)


@settings(max_examples=25)
@given(st.integers(), st.integers(0, 19), st.sampled_from(["change", "remove", "add", "turn"]), st.integers(0, 3))
def test_a_small_edit_stays_above_the_threshold_and_other_words_below(seed, place, edit, copies):
    shuffled = random.Random(seed).sample([f"word{number}" for number in range(30)], 30)
    words, others = shuffled[:20], shuffled[16:]
    edited = {
        "change": [*words[:place], "else", *words[place + 1 :]],
        "remove": words[:place] + words[place + 1 :],
        "add": [*words[:place], "more", *words[place:]],
        "turn": words[place:] + words[:place],
    }[edit]
    weights = Weights.of([*[" ".join(words)] * copies, " ".join(others), *shuffled])
    assert alike(" ".join(words), " ".join(edited), weights) >= THRESHOLD
    assert alike(" ".join(words), " ".join(others), weights) < THRESHOLD / 2


def test_two_items_of_a_tiny_project_are_alike_although_all_words_are_common():
    texts = [
        "The pump shall alarm within 15 s of a blocked line.",
        "The pump shall alarm within 45 s of a blocked line.",
    ]
    assert alike(*texts, Weights.of(texts)) >= THRESHOLD


def test_rare_words_say_more_than_those_of_every_item():
    shared_rare = alike("The blocked line", "blocked line")
    shared_common = alike("The pump shall stop", "The pump shall start")
    assert shared_rare > 0.8 > shared_common


def test_case_width_and_addresses_do_not_count_and_chinese_does():
    assert terms_of("Pump \uff30\uff35\uff2d\uff30, see https://jama.example/perspective.req?docId=7 now") == [
        "pump",
        "pump",
        "see",
        "now",
    ]
    assert terms_of("汉字高度") == ["汉字", "字高", "高度"]
    assert alike("汉字高度", "汉字宽度") > 0


def test_shared_terms_are_the_telling_ones():
    vectors = [WEIGHTS.vector(text) for text in (CORPUS[0], "The line of the pump: once blocked, tell the nurse.")]
    assert set(shared_terms(*vectors, 2)) == {"blocked", "line"}
    assert "pump" not in shared_terms(*vectors, 20)
    assert shared_terms(WEIGHTS.vector("one"), WEIGHTS.vector("two"), 3) == ()


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("alarm within 15 s", "alarm within 45 s", ("15 -> 45",)),
        ("alarm within 15 s", "alarm loudly within 15 s now", ("+ loudly", "+ now")),
        ("alarm at once", "alarm", ("- at once",)),
        ("alarm  at\nonce", "alarm at once", ()),
    ],
)
def test_differences_say_what_to_change(one, other, told):
    assert differences(one, other) == told


def test_of_many_differences_the_last_says_how_many_more():
    told = differences(" ".join(f"same a{n}" for n in range(20)), " ".join(f"same b{n}" for n in range(20)))
    assert len(told) == MOST_DIFFERENCES
    assert told[-1] == "and 15 more"


def test_the_sentences_shown_say_more_than_a_number_in_common():
    one = "1. Connect the set. 2. Clamp the line before the cannula. 3. Wait."
    other = "1. Prepare. 2. Expected: alarm while the line is under clamp. 3. End."
    assert agreeing_sentences(one, other, WEIGHTS) == (
        "Clamp the line before the cannula.",
        "Expected: alarm while the line is under clamp.",
    )
    assert agreeing_sentences("alpha", "beta", WEIGHTS) == ("", "")


def test_weights_come_from_a_sample_spread_over_the_projects(bench, document):
    count = SAMPLE + 10
    bench.commit(*(document(n, "late" if n > count // 2 else "early") for n in range(1, count + 1)))
    weights = Weights.sampled(Catalog(bench.database), ["s:p"])
    assert SAMPLE / 2 <= weights.items <= SAMPLE
    assert weights.holding["late"] == pytest.approx(weights.holding["early"], abs=2)
    assert Weights.sampled(bench.catalog, ["none"]) == Weights(0, {})


def test_an_item_says_its_name_and_its_sections(document):
    found = document(1, "text", name=" ")
    assert item_text(found) == "text"
    assert item_text(document(2, "text", name="name")) == "name\ntext"
