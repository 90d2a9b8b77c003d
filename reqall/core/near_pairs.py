"""Finds all pairs of texts that are alike, without comparing each with each.

Terms are put in one order, the rarest first. Two texts whose cosine reaches the threshold have a
term in common among their first ones, those without which the rest of the text is too short to
reach it (Bayardo, Ma and Srikant 2007, doi:10.1145/1242572.1242591). So only texts that share such
a term are compared: a block of them per term.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from reqall.core.likeness import Weights
from reqall.core.terms import terms_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_PARTNERS = 10
"""Earlier texts that are kept of those like a text: a template filled in a thousand times must not be half a million
pairs."""

MOST_IN_BLOCK = 1000
"""Texts that are compared for one term in common: from there on the time would grow with their square."""

ROUNDING = 1e-5
"""Cosines are computed in float32."""


class Pair(NamedTuple):
    """Two texts by their places, the earlier one first, and their cosine."""

    first: int
    second: int
    score: float


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs, the most alike first; `compared` two texts each time.

    `crowded` texts have words so common that some of their pairs may be missing.
    """

    pairs: tuple[Pair, ...]
    crowded: int
    compared: int


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Vectors of length 1, one after the other: row i holds terms[starts[i]:starts[i + 1]], the rarest first."""

    starts: "npt.NDArray[np.int64]"
    terms: "npt.NDArray[np.int32]"
    values: "npt.NDArray[np.float32]"

    def row(self, number: int) -> tuple[Any, Any]:
        place = slice(self.starts[number], self.starts[number + 1])
        return self.terms[place], self.values[place]


def near_pairs(
    texts: Iterable[str], weights: Weights, threshold: float, progress: Callable[[int], None] = lambda _done: None
) -> NearPairs:
    """Find pairs whose cosine is at least `threshold` (above 0); texts without words are in none.

    Of a text, the most alike of those before it are kept, at most `MOST_PARTNERS`; of texts with the same
    words, each is paired with the first of them alone.
    """
    rows = _rows(texts, weights)
    search = _Search(rows, threshold - ROUNDING)
    first: dict[bytes, int] = {}
    for number in range(len(rows.starts) - 1):
        terms, values = rows.row(number)
        same = first.setdefault(terms.tobytes() + values.tobytes(), number)
        if not len(terms):
            continue
        if same != number:
            search.pairs.append(Pair(same, number, 1.0))
        else:
            search.add(number)
        progress(number + 1)
    return NearPairs(
        tuple(sorted(search.pairs, key=lambda pair: (-pair.score, *pair[:2]))), search.crowded, search.compared
    )


class _Search:
    """The texts seen so far, in blocks of those that have one of their first terms in common."""

    def __init__(self, rows: _Rows, threshold: float) -> None:
        import numpy as np

        self._rows, self._threshold = rows, threshold
        self._blocks: dict[int, array[int]] = {}
        self._dense = np.zeros(int(rows.terms.max(initial=-1)) + 1, np.float32)
        self.pairs: list[Pair] = []
        self.crowded = 0
        self.compared = 0

    def add(self, number: int) -> None:
        """Compare a text with those before it that it shares a block with, then put it into its blocks."""
        terms, values = self._rows.row(number)
        blocks = [self._blocks.setdefault(term, array("l")) for term in terms[: self._first_terms(values)].tolist()]
        roomy = [block for block in blocks if len(block) < MOST_IN_BLOCK]
        self.crowded += len(roomy) < len(blocks)
        earlier = sorted(set().union(*blocks))
        self.compared += len(earlier)
        if earlier:
            found = sorted(self._scored(number, earlier), key=lambda pair: (-pair.score, pair.first))
            self.pairs += found[:MOST_PARTNERS]
        for block in roomy:
            block.append(number)

    def _first_terms(self, values: Any) -> int:
        """Count the terms after which the rest is shorter than the threshold."""
        import numpy as np

        rest = np.sqrt(np.cumsum((values.astype(np.float64) ** 2)[::-1])[::-1])
        return int(np.count_nonzero(rest >= self._threshold))

    def _scored(self, number: int, others: list[int]) -> Iterable[Pair]:
        """Compare one text with others: a product of it with all their rows at once."""
        import numpy as np

        starts, ends = self._rows.starts[others], self._rows.starts[np.add(others, 1)]
        lengths = ends - starts
        offsets = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths)
        terms, values = self._rows.row(number)
        self._dense[terms] = values
        scores = np.add.reduceat(self._dense[self._rows.terms[places]] * self._rows.values[places], offsets)
        self._dense[terms] = 0
        for place in np.flatnonzero(scores >= self._threshold).tolist():
            yield Pair(others[place], number, min(1.0, float(scores[place])))


def _rows(texts: Iterable[str], weights: Weights) -> _Rows:
    """Weigh the words of all texts; terms are numbered from the rarest to the most common one."""
    import numpy as np

    numbers: dict[str, int] = {}
    starts, terms, values = array("q", [0]), array("i"), array("f")
    for text in texts:
        for term, count in Counter(terms_of(text)).items():
            terms.append(numbers.setdefault(term, len(numbers)))
            values.append((1 + log(count)) * weights.weight(term))
        starts.append(len(terms))
    bounds = np.array(starts, np.int64)
    known, found = np.array(terms, np.int32), np.array(values, np.float32)
    order = np.argsort(np.bincount(known, minlength=len(numbers)), kind="stable")
    ranks = np.empty(len(numbers), np.int32)
    ranks[order] = np.arange(len(numbers), dtype=np.int32)
    row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    lengths = np.sqrt(np.bincount(row, found.astype(np.float64) ** 2, minlength=len(bounds) - 1))
    sorting = np.lexsort((ranks[known], row))
    return _Rows(bounds, ranks[known][sorting], (found / lengths[row]).astype(np.float32)[sorting])
