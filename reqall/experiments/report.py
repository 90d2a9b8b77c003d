"""What an experiment found: scores of every system on every collection, and comparisons with the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeAlias

from reqall.core.collection import Collection
from reqall.core.evaluation import Searched
from reqall.core.metrics import Part, Scores
from reqall.core.significance import Comparison, Paired, compare

MEAN = "mean"
"""Stands for the mean over collections, where there are several."""

SIGNIFICANT = 0.05
"""A corrected p below this is shown as significant."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one system found of one collection, and how good that is."""

    searched: Searched
    scores: Scores


Outcomes: TypeAlias = Mapping[str, Mapping[str, Outcome]]
"""Collection -> system -> outcome; a system need not have run on every collection."""


@dataclass(frozen=True, slots=True)
class Report:
    """An experiment's results.

    `comparisons` is metric -> collection, or MEAN -> system -> comparison with the baseline; it lacks
    the baseline itself. `chosen` names the pipeline that tuning chose in each fold, `tuned` its row.
    """

    metrics: tuple[str, ...]
    baseline: str
    collections: tuple[Collection, ...]
    outcomes: Outcomes
    comparisons: Mapping[str, Mapping[str, Mapping[str, Comparison]]]
    depth: int
    tuned: str = ""
    chosen: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """List the systems in the order in which they were given."""
        return list(dict.fromkeys(name for found in self.outcomes.values() for name in found))

    @property
    def places(self) -> list[str]:
        """List the collections, then MEAN where there are several."""
        names = [collection.name for collection in self.collections]
        return [*names, MEAN] if len(names) > 1 else names

    @property
    def warnings(self) -> list[str]:
        """List what searches had to do without, each with its collection."""
        told = {
            f"{place}: {warning}"
            for place, found in self.outcomes.items()
            for outcome in found.values()
            for warning in outcome.searched.warnings
        }
        return sorted(told)

    def systems_at(self, place: str) -> list[str]:
        """List the systems that a place has values of; the mean has those that ran on every collection."""
        if place in self.outcomes:
            return list(self.outcomes[place])
        return [name for name in self.systems if all(name in found for found in self.outcomes.values())]

    def value(self, place: str, system: str, metric: str) -> float:
        """Return a value of a collection, or the mean over collections."""
        if place in self.outcomes:
            return self.outcomes[place][system].scores.means[metric]
        values = [found[system].scores.means[metric] for found in self.outcomes.values()]
        return fsum(values) / len(values)

    def parts(self, place: str, system: str, metric: str) -> list[list[Part]]:
        """Return what each query adds to a metric, a list for each collection of the place."""
        names = [place] if place in self.outcomes else list(self.outcomes)
        return [list(self.outcomes[name][system].scores.parts[metric].values()) for name in names]


def compared(
    metrics: Sequence[str], baseline: str, collections: Sequence[Collection], outcomes: Outcomes
) -> dict[str, dict[str, dict[str, Comparison]]]:
    """Compare all systems with the baseline, in every metric, on each collection and on the mean over them."""
    bare = Report(tuple(metrics), baseline, tuple(collections), outcomes, {}, 0)
    found: dict[str, dict[str, dict[str, Comparison]]] = {}
    for metric in metrics:
        found[metric] = {}
        for place in bare.places:
            others = [name for name in bare.systems_at(place) if name != baseline]
            found[metric][place] = compare({name: _paired(bare, place, name, metric) for name in others})
    return found


def _paired(report: Report, place: str, system: str, metric: str) -> list[Paired]:
    pairs = zip(report.parts(place, system, metric), report.parts(place, report.baseline, metric), strict=True)
    return [list(zip(own, others, strict=True)) for own, others in pairs]
