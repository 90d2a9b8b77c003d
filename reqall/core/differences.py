"""What to show of two texts that are alike: the words that differ, and the sentences that agree."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from reqall.core.likeness import Weights, cosine
from reqall.core.terms import terms_of

MOST_DIFFERENCES = 6
"""Differences that are told of two texts; of more, the last place says how many."""

MOST_WORDS = 12
"""Words that are shown of one side of a difference."""

COMPARED_WORDS = 2000
"""Words of each text that are compared one by one: the time grows with the square of them."""

MOST_SENTENCES = 40

FEWEST_WORDS = 3
"""What has fewer is no sentence but a list's number or a label."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")


def differences(one: str, other: str) -> tuple[str, ...]:
    """Return what to change in `one` to get `other`: `15 -> 45`, `- word`, `+ word`; empty when only space differs."""
    mine, yours = one.split()[:COMPARED_WORDS], other.split()[:COMPARED_WORDS]
    changes = SequenceMatcher(None, mine, yours, autojunk=False).get_opcodes()
    told = [_told(mine[a:b], yours[c:d]) for tag, a, b, c, d in changes if tag != "equal"]
    if len(told) > MOST_DIFFERENCES:
        told = [*told[: MOST_DIFFERENCES - 1], f"and {len(told) - MOST_DIFFERENCES + 1} more"]
    return tuple(told)


def agreeing_sentences(one: str, other: str, weights: Weights) -> tuple[str, str]:
    """Return a sentence of each text, those two that agree most; empty when none has a word in common.

    The more they say in common the better: two labels that are the same say little.
    """
    mine, yours = _vectors(one, weights), _vectors(other, weights)
    pairs = ((cosine(a, b) * _said(a, b, weights), here, there) for here, a in mine for there, b in yours)
    best = max(pairs, key=lambda pair: pair[0], default=(0.0, "", ""))
    return (best[1], best[2]) if best[0] > 0 else ("", "")


def _told(mine: Sequence[str], yours: Sequence[str]) -> str:
    if mine and yours:
        return f"{_few(mine)} -> {_few(yours)}"
    return f"- {_few(mine)}" if mine else f"+ {_few(yours)}"


def _few(words: Sequence[str]) -> str:
    return " ".join(words[:MOST_WORDS]) + (" …" if len(words) > MOST_WORDS else "")


def _said(one: Mapping[str, float], other: Mapping[str, float], weights: Weights) -> float:
    return sum(weights.weight(term) for term in one.keys() & other.keys())


def _vectors(text: str, weights: Weights) -> list[tuple[str, dict[str, float]]]:
    parts = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    sentences = [part for part in parts if len(terms_of(part)) >= FEWEST_WORDS] or parts
    return [(sentence, weights.vector(sentence)) for sentence in sentences[:MOST_SENTENCES]]
