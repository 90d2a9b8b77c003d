"""BM25 over fields (Robertson and Zaragoza 2009, doi:10.1561/1500000019), of terms as `words` cuts them.

Beside words it counts their beginnings, which is what inflected forms, compounds and words of related languages
share (McNamee and Mayfield 2004, doi:10.1023/B:INRT.0000009441.78971.be), and pairs of neighbours, as in the
sequential dependence model (Metzler and Croft 2005, doi:10.1145/1076034.1076115). The idf is never negative
(Lucene's), so that a word of most documents still counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any

STUB = 5
"""Characters of the beginning of a word; a shorter word has none."""

Frequency = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Weighting:
    """How terms count: BM25's `k1` and `b`, one weight per field, and the share of stubs and pairs beside words."""

    k1: float
    b: float
    fields: Sequence[float]
    stub: float
    pair: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Chunks of an index, and the mean of their lengths in terms."""

    chunks: int
    mean_length: float

    def idf(self, frequency: int) -> float:
        """Weigh a term that so many chunks hold."""
        frequency = min(frequency, self.chunks)
        return log(1 + (self.chunks - frequency + 0.5) / (frequency + 0.5))


class Bm25:
    """One query against chunks that are given as their fields of terms."""

    def __init__(
        self, terms: Sequence[str], weighting: Weighting, statistics: Statistics, words: Frequency, stubs: Frequency
    ) -> None:
        """Weigh the query's terms, each by its occurrences and its idf; a pair has the mean idf of its two."""
        idf = {term: statistics.idf(words(term)) for term in dict.fromkeys(terms)}
        self._words = {term: count * idf[term] for term, count in Counter(terms).items()}
        self._stubs = {
            stub: count * weighting.stub * statistics.idf(stubs(stub))
            for stub, count in Counter(stubs_of(terms) if weighting.stub else ()).items()
        }
        self._pairs = {
            (first, second): count * weighting.pair * (idf[first] + idf[second]) / 2
            for (first, second), count in Counter(pairwise(terms) if weighting.pair else ()).items()
            if first != second
        }
        self._weighting = weighting
        self._mean_length = statistics.mean_length or 1.0

    def score(self, fields: Sequence[Sequence[str]], length: int) -> float:
        """Score a chunk of so many terms."""
        words: dict[Any, float] = {}
        stubs: dict[Any, float] = {}
        pairs: dict[Any, float] = {}
        for weight, terms in zip(self._weighting.fields, fields, strict=True):
            if weight and terms:
                _add(words, [term for term in terms if term in self._words], weight)
                if self._stubs:
                    _add(stubs, stubs_of([term for term in terms if term[:STUB] in self._stubs]), weight)
                if self._pairs:
                    _add(pairs, [pair for pair in pairwise(terms) if pair in self._pairs], weight)
        k1, b = self._weighting.k1, self._weighting.b
        norm = k1 * (1 - b + b * length / self._mean_length)
        return (
            _saturated(words, self._words, k1, norm)
            + _saturated(stubs, self._stubs, k1, norm)
            + _saturated(pairs, self._pairs, k1, norm)
        )


def stubs_of(terms: Iterable[str]) -> Iterable[str]:
    """Return the beginnings of words, those of identifiers and numbers not."""
    return [term[:STUB] for term in terms if len(term) >= STUB and term.isalpha()]


def _add(counts: dict[Any, float], found: Iterable[Any], weight: float) -> None:
    for term in found:
        counts[term] = counts.get(term, 0.0) + weight


def _saturated(counts: Mapping[Any, float], weights: Mapping[Any, float], k1: float, norm: float) -> float:
    return sum(weights[term] * count * (k1 + 1) / (count + norm) for term, count in counts.items())
