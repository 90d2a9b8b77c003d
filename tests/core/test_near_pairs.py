"""Pairs that are alike: the same as by comparing each text with each, without doing so."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.likeness import Weights, cosine
from reqall.core.near_pairs import MOST_IN_BLOCK, MOST_PARTNERS, near_pairs

WORDS = [f"w{number}" for number in range(12)]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=MOST_PARTNERS)


def same_words(one, other):
    return sorted(one.split()) == sorted(other.split())


@given(TEXTS, st.sampled_from([0.3, 0.5, 0.8, 0.95]))
def test_every_pair_is_found_that_comparing_all_finds(texts, threshold):
    weights = Weights.of(texts)
    vectors = [weights.vector(text) for text in texts]
    scores = {(i, j): cosine(vectors[i], vectors[j]) for i, j in combinations(range(len(texts)), 2)}
    first = [next(j for j, other in enumerate(texts) if same_words(other, text)) for text in texts]
    found = {pair[:2]: pair.score for pair in near_pairs(texts, weights, threshold).pairs}
    for pair, score in scores.items():
        i, j = pair
        if first[j] != j:
            assert (pair in found) == (first[j] == i and bool(texts[i].split()))
        elif first[i] != i:
            assert pair not in found
        elif abs(score - threshold) > 1e-4:
            assert (pair in found) == (score >= threshold)
        assert pair not in found or found[pair] == pytest.approx(score, abs=1e-4)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_only_texts_that_share_a_rare_word_are_compared():
    chance = random.Random(1)
    vocabulary = [f"word{number}" for number in range(3000)]
    texts = [" ".join(["the", "pump", "shall", *chance.choices(vocabulary, k=12)]) for _ in range(600)]
    texts += [texts[5] + " now", texts[7].replace("pump", "system")]
    found = near_pairs(texts, Weights.of(texts), 0.8)
    assert {pair[:2] for pair in found.pairs} == {(5, 600), (7, 601)}
    assert found.compared < len(texts) ** 2 / 100
    assert not found.crowded


def test_copies_are_paired_with_the_first_and_templates_with_a_few():
    copies = ["the same words", *["words the same"] * 30]
    assert [pair[:2] for pair in near_pairs(copies, Weights.of(copies), 0.8).pairs] == [(0, n) for n in range(1, 31)]
    template = "when the operator presses the key the pump shall show value"
    filled = [f"{template} {number}" for number in range(MOST_PARTNERS * 3)]
    pairs = near_pairs(filled, Weights(1000, {}), 0.5).pairs
    assert len(pairs) <= MOST_PARTNERS * len(filled)
    assert {place for pair in pairs for place in pair[:2]} == set(range(len(filled)))


def test_what_a_full_block_leaves_out_is_counted():
    texts = [f"alpha beta n{number}" for number in range(MOST_IN_BLOCK + 5)]
    found = near_pairs(texts, Weights(10, {"alpha": 0, "beta": 0}), 0.3)
    assert found.crowded == 5


def test_nothing_and_texts_without_words_have_no_pairs():
    assert near_pairs([], Weights.of([]), 0.8).pairs == ()
    assert near_pairs(["", "?!", "?!"], Weights.of([]), 0.8).pairs == ()
