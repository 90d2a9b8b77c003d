"""How long searches took: percentiles per stage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from reqall.core.evaluation import Timings
from reqall.experiments.report import Report

TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that half of the searches, and 95 of 100, did not exceed."""

    p50: float
    p95: float


def latencies(report: Report, system: str) -> dict[str, Latency]:
    """Return stage -> percentiles over all collections, and TOTAL; empty for a system that did not run here.

    The first search of each collection is left out: it loads what the pipeline needs.
    """
    searches: list[Timings] = []
    for found in report.outcomes.values():
        if system in found:
            searches += found[system].searched.timings[1:]
    stages = dict.fromkeys(stage for timings in searches for stage in timings)
    by_stage = {stage: _percentiles(t[stage] for t in searches if stage in t) for stage in stages}
    if by_stage:
        # A stage with a dot is a part of the one before the dot.
        by_stage[TOTAL] = _percentiles(sum(t[stage] for stage in t if "." not in stage) for t in searches)
    return by_stage


def _percentiles(values: Iterable[float]) -> Latency:
    ordered = sorted(values)
    return Latency(_nearest(ordered, 0.5), _nearest(ordered, 0.95))


def _nearest(ordered: Sequence[float], share: float) -> float:
    """Return the percentile by nearest rank."""
    return round(ordered[max(ceil(share * len(ordered)), 1) - 1], 3)
