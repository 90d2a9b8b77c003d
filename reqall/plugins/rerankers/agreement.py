"""How well two texts agree, weighed by how rare in the pool is what they share."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from math import log
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

WINDOW = 8
"""Words within which neighbours of the query count as near (Metzler and Croft 2005, doi:10.1145/1076034.1076115)."""


def cosines(
    query: Sequence[str], texts: Sequence[Sequence[str]], cut: Callable[[str], Iterable[str]] = lambda word: (word,)
) -> list[float]:
    """Return the cosine of each text with the query, 0 to 1; `cut` makes the terms of a word.

    A term weighs log((n + 1) / (df + 1)) + 1 in the pool of n texts; in a text by the root of its count,
    in the query by its count. Unlike BM25's, the length that is divided by counts rare terms more: a
    text about something else besides is further away.
    """
    import numpy as np

    row, term, count, size = _counted([query, *texts], cut)
    rarity = np.log((len(texts) + 1) / (np.bincount(term[row > 0], minlength=size) + 1)) + 1
    asked = np.zeros(size)
    asked[term[row == 0]] = count[row == 0] * rarity[term[row == 0]]
    weight = np.sqrt(count) * rarity[term]
    product = np.bincount(row, weight * asked[term], minlength=len(texts) + 1)[1:]
    length = np.sqrt(np.bincount(row, weight * weight, minlength=len(texts) + 1)[1:]) * np.sqrt(asked @ asked)
    found: list[float] = np.divide(product, length, out=np.zeros(len(texts)), where=product > 0).tolist()
    return found


def _counted(
    texts: Sequence[Sequence[str]], cut: Callable[[str], Iterable[str]]
) -> "tuple[Integers, Integers, Integers, int]":
    """Count the terms of each text: arrays of (text, term, count), and how many terms there are.

    Each different word is cut once, whatever the number of texts that have it.
    """
    import numpy as np

    words, terms = _Numbers(), _Numbers()
    numbers = [[words[word] for word in text] for text in texts]
    cuts = [[terms[term] for term in cut(word)] for word in words]
    flat = np.fromiter(chain.from_iterable(cuts), np.int64)
    sizes = np.fromiter(map(len, cuts), np.int64)
    word = np.fromiter(chain.from_iterable(numbers), np.int64)
    many = sizes[word]
    # Where the terms of each word stand in `flat`, one after the other.
    place = np.arange(many.sum()) + np.repeat((np.cumsum(sizes) - sizes)[word] - (np.cumsum(many) - many), many)
    row = np.repeat(np.repeat(np.arange(len(texts)), [len(text) for text in texts]), many)
    size = max(len(terms), 1)
    keys, count = np.unique(row * size + flat[place], return_counts=True)
    return keys // size, keys % size, count, size


class _Numbers(dict[str, int]):
    """Numbers its keys from 0 as they are asked for."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def nearness(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the share of the query's neighbouring words that stand near each other in each text, 0 to 1.

    Words that more than half of the texts have are passed over; pairs are weighed like terms, and those
    that no text has do not count.
    """
    holding = Counter(chain.from_iterable(map(set, texts)))
    telling = {word for word in query if holding[word] * 2 <= len(texts)}
    kept = [word for word in query if word in telling]
    asked = {(first, second) for pair in pairwise(kept) for first, second in (pair, pair[::-1]) if first != second}
    found = [_near(asked, [(place, word) for place, word in enumerate(text) if word in telling]) for text in texts]
    holders = Counter(chain.from_iterable(found))
    rarity = {pair: log((len(texts) + 1) / (count + 1)) + 1 for pair, count in holders.items()}
    total = sum(rarity.values())
    return [sum(rarity[pair] for pair in pairs) / total if total else 0.0 for pairs in found]


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
