"""The first stage of a search: one question becomes the texts that the arms are asked with, each with a weight.

The user's own text is always the first. A text that comes twice, whoever gave it, is searched with once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reqall.core import conformity
from reqall.core.expanding import FoundDocument, QueryExpander, SupportsDisclosure, SupportsFeedback, Variant
from reqall.core.guard import Call, Component, Guard, Workers
from reqall.core.trace import Trace
from reqall.core.types import Query

MAX_VARIANTS = 20
"""Most texts of one search unless the pipeline says otherwise: each is searched with in every arm."""


@dataclass(frozen=True, slots=True)
class VariantWeights:
    """What a ranking counts in the fusion by the origin of its text, beside the weight of its arm."""

    original: float = 1.0
    sub_queries: float = 1.0
    expansions: float = 1.0


ALIKE = VariantWeights()
"""Every text counts the same."""

_NAMELESS = Component("the expander")


@dataclass(frozen=True, slots=True)
class Expanding:
    """One expander of a pipeline, who answers for it, and which indexes its own texts are for (none: all).

    `weight` stands in place of the pipeline's weight of expansions.
    """

    expander: QueryExpander
    component: Component = _NAMELESS
    weight: float | None = None
    indexes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """A text that arms are asked with, and its weight; without `indexes` every arm is."""

    text: str
    weight: float = 1.0
    indexes: frozenset[str] = frozenset()

    def reaches(self, index: str) -> bool:
        """Tell whether an index is asked with it."""
        return not self.indexes or index in self.indexes


class Expansion:
    """The expanders of a pipeline, in order; one that fails is left out with a warning. Thread-safe."""

    def __init__(
        self,
        expanders: Sequence[Expanding],
        workers: Workers,
        weights: VariantWeights = ALIKE,
        most: int = MAX_VARIANTS,
    ) -> None:
        """Guard each expander by itself; at most so many texts, the user's own included."""
        self._steps = [(step, Guard(step.component, workers)) for step in expanders]
        self._weights = weights
        self._most = most

    def recipients(self) -> dict[str, str]:
        """Say by expander which hosts are sent the texts of queries."""
        steps = ((step.component.name, step.expander) for step, _ in self._steps)
        return {name: expander.sends_to for name, expander in steps if isinstance(expander, SupportsDisclosure)}

    def expand(self, query: Query, first_search: Callable[[], Sequence[FoundDocument]], trace: Trace) -> list[Asked]:
        """Ask all expanders at once; `first_search` is made when one of them wants to see what it finds."""
        calls: dict[int, Call[list[Variant]]] = {}
        feedback: dict[int, SupportsFeedback] = {}
        for number, (step, guard) in enumerate(self._steps):
            if isinstance(step.expander, SupportsFeedback):
                feedback[number] = step.expander
            else:
                calls[number] = guard.begin(_plain(step.expander, query))
        found = first_search() if feedback else ()
        for number, expander in feedback.items():
            calls[number] = self._steps[number][1].begin(_fed(expander, query, found))
        asked = [Asked(query.text, self._weights.original)]
        for number, (step, guard) in enumerate(self._steps):
            try:
                asked += [self._asked(step, variant, query) for variant in calls[number].result()]
            except Exception as error:  # noqa: BLE001 - a plugin that fails must not take the search down
                lost = "only the query itself was used" if len(self._steps) == 1 else "its texts are missing"
                trace.warnings.append(f"{guard.subject} was left out, {lost}: {guard.told(error)}")
        return self._bounded(_merged(asked), trace)

    def _asked(self, step: Expanding, variant: Variant, query: Query) -> Asked:
        """Weigh a text by its origin; the client's own go to every arm, whoever passes them on."""
        if variant.text in query.sub_queries:
            return Asked(variant.text, self._weights.sub_queries * variant.weight)
        weight = self._weights.expansions if step.weight is None else step.weight
        return Asked(variant.text, weight * variant.weight, step.indexes)

    def _bounded(self, asked: list[Asked], trace: Trace) -> list[Asked]:
        if len(asked) > self._most:
            trace.warnings.append(f"searched with {self._most} of {len(asked)} texts: max_variants is {self._most}")
        return asked[: self._most]


def _plain(expander: QueryExpander, query: Query) -> Callable[[object], list[Variant]]:
    return lambda _call: conformity.variants(expander.expand(query))


def _fed(expander: SupportsFeedback, query: Query, found: Sequence[FoundDocument]) -> Callable[[object], list[Variant]]:
    return lambda _call: conformity.variants(expander.expand_from(query, found))


def _merged(asked: Sequence[Asked]) -> list[Asked]:
    """Keep the first of texts that differ in case or white space alone; it reaches what any of them does."""
    kept: dict[str, Asked] = {}
    for each in asked:
        folded = " ".join(each.text.split()).casefold()
        first = kept.setdefault(folded, each)
        if first.indexes and first is not each:
            reached = first.indexes | each.indexes if each.indexes else frozenset[str]()
            kept[folded] = replace(first, indexes=reached)
    return list(kept.values())
