"""Timings against a reference of the same run, as medians, and their table."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

_REST = 0.05


@dataclass(frozen=True)
class Ratio:
    """One measured figure: `ours` and `reference` in milliseconds, and what their ratio should be at most."""

    name: str
    ours: float
    reference: float
    ratio: float
    target: float

    @classmethod
    def of(cls, name: str, ours: Sequence[float], reference: Sequence[float], target: float) -> "Ratio":
        """Take the median of the ratios, pair by pair: what disturbs the machine disturbs both of a pair."""
        ratios = [mine / theirs for mine, theirs in zip(ours, reference, strict=True)]
        medians = statistics.median(ours), statistics.median(reference)
        return cls(name, medians[0] * 1000, medians[1] * 1000, statistics.median(ratios), target)

    def __str__(self) -> str:
        verdict = "ok" if self.ratio <= self.target else "MISSED"
        return (
            f"{self.name:<52} {self.ours:9.2f} ms / {self.reference:9.2f} ms = {self.ratio:5.2f}x"
            f"  (target <= {self.target:.2f}x) {verdict}"
        )


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(works: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    """Run all works in each round, so that all meet the same state of the machine; seconds per round.

    Before each, the threads of the one before come to rest: those of BLAS wait for more work at full speed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            time.sleep(_REST)
            seconds[name].append(timed(partial(work, number)))
    return seconds
