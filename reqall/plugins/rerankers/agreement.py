"""How well two texts agree, weighed by how rare in the pool is what they share."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from math import log, sqrt
from operator import mul
from typing import TypeVar

H = TypeVar("H", bound=Hashable)

WINDOW = 8
"""Words within which neighbours of the query count as near (Metzler and Croft 2005, doi:10.1145/1076034.1076115)."""


def cosines(query: Mapping[str, int], texts: Sequence[Mapping[str, int]]) -> list[float]:
    """Return the cosine of each text with the query, 0 to 1.

    A term weighs log((n + 1) / (df + 1)) + 1 in the pool of n texts; in a text by the root of its count,
    in the query by its count. Unlike BM25's, the length that is divided by counts rare terms more: a
    text about something else besides is further away.
    """
    rarity = _rarity(texts)
    unseen = log(len(texts) + 1) + 1
    asked = {term: count * rarity.get(term, unseen) for term, count in query.items()}
    length = sqrt(sum(weight * weight for weight in asked.values()))
    squares = {term: weight * weight for term, weight in rarity.items()}
    return [_cosine(asked, length, text, rarity, squares) for text in texts]


def nearness(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the share of the query's neighbouring words that stand near each other in each text, 0 to 1.

    Words that more than half of the texts have are passed over; pairs are weighed like terms, and those
    that no text has do not count.
    """
    holding = _holding([set(text) for text in texts])
    telling = {word for word in query if holding[word] * 2 <= len(texts)}
    kept = [word for word in query if word in telling]
    asked = {(first, second) for pair in pairwise(kept) for first, second in (pair, pair[::-1]) if first != second}
    found = [_near(asked, [(place, word) for place, word in enumerate(text) if word in telling]) for text in texts]
    rarity = _rarity(found)
    total = sum(rarity.values())
    return [sum(rarity[pair] for pair in pairs) / total if total else 0.0 for pairs in found]


def _rarity(texts: "Sequence[Mapping[H, int]] | Sequence[set[H]]") -> dict[H, float]:
    return {term: log((len(texts) + 1) / (count + 1)) + 1 for term, count in _holding(texts).items()}


def _holding(texts: "Sequence[Mapping[H, int]] | Sequence[set[H]]") -> Counter[H]:
    """Count the texts that hold each term."""
    holding: Counter[H] = Counter()
    for text in texts:
        holding.update(set(text))
    return holding


def _cosine(
    asked: Mapping[str, float],
    length: float,
    text: Mapping[str, int],
    rarity: Mapping[str, float],
    squares: Mapping[str, float],
) -> float:
    shared = asked.keys() & text.keys()
    if not shared:
        return 0.0
    product = sum(sqrt(text[term]) * rarity[term] * asked[term] for term in shared)
    return product / (length * sqrt(sum(map(mul, text.values(), map(squares.__getitem__, text)))))


def _near(asked: set[tuple[str, str]], placed: Sequence[tuple[int, str]]) -> set[tuple[str, str]]:
    """Find the pairs that stand within the window, in either order; each is told once, sorted."""
    pairs: set[tuple[str, str]] = set()
    for start, (place, word) in enumerate(placed):
        for later, other in placed[start + 1 : start + WINDOW]:
            if later - place >= WINDOW:
                break
            if (word, other) in asked:
                pairs.add((min(word, other), max(word, other)))
    return pairs
