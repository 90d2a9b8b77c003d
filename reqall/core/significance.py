"""Is one system better than another? Paired tests over the queries of judged collections.

A metric of a collection is a ratio of sums over its queries (see `metrics`), that of several
collections the mean of theirs. Under the hypothesis that two systems do the same, a query's results
could as well have been the other's: the randomisation test exchanges them at random (Smucker, Allan
and Carterette 2007, doi:10.1145/1321440.1321528). The interval is that of the percentile bootstrap
(Efron 1979, doi:10.1214/aos/1176344552), which draws queries within each collection.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from reqall.core.metrics import Part

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]
    Counts: TypeAlias = npt.NDArray[np.uint16]
    Choice: TypeAlias = Callable[[int, int, tuple[int, ...]], list[Counts]]

PERMUTATIONS = 10_000
SEED = 20_07
CONFIDENCE = 0.95
TIE = 1e-9
"""Two values nearer than this are equal: they differ by the order of a sum only."""

_AT_A_TIME = 1_000

Paired: TypeAlias = Sequence[tuple[Part, Part]]
"""For each query of a collection what (the system, the baseline) add to a metric."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system against the baseline in one metric.

    `difference` is the system's value less the baseline's, `low` and `high` its interval of 95 %;
    `p` is two-sided, `adjusted` the same after Holm's correction. A win is a query for which the
    system's own value is higher.
    """

    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    wins: int
    ties: int
    losses: int


def compare(
    systems: Mapping[str, Sequence[Paired]], count: int = PERMUTATIONS, seed: int = SEED
) -> dict[str, Comparison]:
    """Compare each system with the baseline over the same collections; corrected for their number.

    `systems` maps a name to its pairs, a list for each collection. One collection is compared by
    itself, several by the mean over them.
    """
    if not systems:
        return {}
    found = _comparisons(list(systems.values()), count, seed)
    adjusted = holm({name: each.p for name, each in zip(systems, found, strict=True)})
    return {name: replace(each, adjusted=adjusted[name]) for name, each in zip(systems, found, strict=True)}


def interval(collections: Sequence[Sequence[Part]], seed: int = SEED) -> tuple[float, float]:
    """Return the interval of 95 % of a system's own value, as `compare` does of a difference."""
    against_nothing = [[(part, (0.0, 0.0)) for part in parts] for parts in collections]
    found = compare({"": against_nothing}, seed=seed)[""]
    return found.low, found.high


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Correct p values for their number (Holm 1979, jstor:4615733): the family's error rate is kept."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, (name, p) in enumerate(sorted(values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(values) - rank) * p))
        adjusted[name] = highest
    return {name: adjusted[name] for name in values}


def _comparisons(systems: Sequence[Sequence[Paired]], count: int, seed: int) -> list[Comparison]:
    """Compare all at once: each is exchanged and drawn alike, so one product of matrices does for all."""
    import numpy as np

    collections = len(systems[0])
    observed, exchanged, drawn = (
        np.zeros(len(systems)),
        np.zeros((count, len(systems))),
        np.zeros((count, len(systems))),
    )
    outcomes = np.zeros((len(systems), 3), dtype=int)
    for place in range(collections):
        # Axes: queries, systems, and the dividend and divisor of the system and of the baseline.
        table = np.array([system[place] for system in systems], dtype=np.float64)
        table = table.reshape(len(systems), -1, 4).transpose(1, 0, 2)
        own = _difference(table)
        outcomes += np.stack([(own >= TIE).sum(0), (abs(own) < TIE).sum(0), (own <= -TIE).sum(0)], axis=1)
        observed += _difference(table.sum(axis=0)) / collections
        swap = table[..., (2, 3, 0, 1)] - table
        exchanged += _difference(table.sum(axis=0) + _summed(_exchanges, swap, count, (seed, place))) / collections
        drawn += _difference(_summed(_draws, table, count, (seed, place))) / collections
    as_far = (abs(exchanged) >= abs(observed) - TIE).sum(axis=0)
    low, high = np.quantile(drawn, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2), axis=0)
    p = (as_far + 1) / (count + 1)  # what was observed is one of the exchanges: p is never 0
    return [
        Comparison(
            observed[at].item(), low[at].item(), high[at].item(), p[at].item(), p[at].item(), *outcomes[at].tolist()
        )
        for at in range(len(systems))
    ]


def _difference(sums: "Floats") -> "Floats":
    """Divide: the last axis holds dividend and divisor of the system, then of the baseline."""
    import numpy as np

    system, baseline = (
        np.divide(sums[..., at], sums[..., at + 1], out=np.zeros(sums.shape[:-1]), where=sums[..., at + 1] != 0)
        for at in (0, 2)
    )
    difference: Floats = system - baseline
    return difference


def _summed(choose: "Choice", table: "Floats", count: int, seed: tuple[int, ...]) -> "Floats":
    """Sum the queries of each repetition; shape (repetitions, systems, 4)."""
    import numpy as np

    flat = table.reshape(len(table), -1)
    blocks = [some.astype(np.float64) @ flat for some in choose(len(table), count, seed)]
    return np.vstack(blocks).reshape(count, *table.shape[1:])


@lru_cache(maxsize=32)
def _exchanges(queries: int, count: int, seed: tuple[int, ...]) -> "list[Counts]":
    """Choose for each repetition which queries are exchanged; shape (repetitions, queries), in blocks."""
    import numpy as np

    random = np.random.default_rng([*seed, 1])
    return [random.integers(0, 2, (size, queries), dtype=np.uint16) for size in _blocks(count)]


@lru_cache(maxsize=32)
def _draws(queries: int, count: int, seed: tuple[int, ...]) -> "list[Counts]":
    """Choose for each repetition how often each query is drawn; shape (repetitions, queries), in blocks."""
    import numpy as np

    random = np.random.default_rng([*seed, 2])
    even = np.full(queries, 1 / queries)
    return [random.multinomial(queries, even, size).astype(np.uint16) for size in _blocks(count)]


def _blocks(count: int) -> list[int]:
    return [min(_AT_A_TIME, count - start) for start in range(0, count, _AT_A_TIME)]
