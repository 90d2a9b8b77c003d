"""How alike two texts are: the cosine between their words, rare words counting more.

The vector space model of Salton, Wong and Yang (1975, doi:10.1145/361219.361220). 1 is the same words
as often, 0 no word in common. What a word weighs depends on a sample of the projects: words that stand
in every item (system, shall) say little.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

from reqall.core.catalog import Catalog
from reqall.core.terms import terms_of
from reqall.core.types import Document

SAMPLE = 1000
"""Items that the weights of words are taken from, evenly over the projects; measured: more change nothing."""

TRIFLE = 0.1
"""Share of the most telling term's contribution below which a common term is not told."""


def item_text(document: Document) -> str:
    """Return what an item says: its name, then its sections; the text that it is searched and compared with."""
    return "\n".join(part for part in (document.name, *document.sections.values()) if part.strip())


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each term says; `items` were counted, `holding` of them hold a term."""

    items: int
    holding: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Weights":
        """Count in how many of the texts each term stands."""
        holding: Counter[str] = Counter()
        items = 0
        for text in texts:
            holding.update(set(terms_of(text)))
            items += 1
        return cls(items, holding)

    @classmethod
    def sampled(cls, catalog: Catalog, project_ids: Sequence[str]) -> "Weights":
        """Count in a sample of the projects' items, the same one for as long as these are the same."""
        ids = [document_id for project_id in project_ids for document_id in catalog.document_ids(project_id)]
        step = max(1, -(-len(ids) // SAMPLE))
        return cls.of(item_text(document) for document in catalog.documents(ids[::step]).values())

    def weight(self, term: str) -> float:
        """Return the inverse document frequency (Sparck Jones 1972, doi:10.1108/eb026526), smoothed.

        A word of every item still counts: where all items are alike, what they share is what they say.
        """
        return log(1 + (self.items + 1) / (self.holding.get(term, 0) + 1))

    def vector(self, text: str) -> dict[str, float]:
        """Return what each term contributes to the text, as a vector of length 1; empty without words."""
        found = {term: (1 + log(count)) * self.weight(term) for term, count in Counter(terms_of(text)).items()}
        length = sqrt(sum(value * value for value in found.values()))
        return {term: value / length for term, value in found.items()}


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the cosine of two vectors of `Weights.vector`: 0 to 1."""
    if len(other) < len(one):
        one, other = other, one
    return min(1.0, sum(value * other[term] for term, value in one.items() if term in other))


def shared_terms(one: Mapping[str, float], other: Mapping[str, float], limit: int) -> tuple[str, ...]:
    """Return the terms that stand in both, those first that contribute most to their cosine, no trifles."""
    both = {term: value * other[term] for term, value in one.items() if term in other}
    least = max(both.values(), default=0.0) * TRIFLE
    telling = (term for term in both if both[term] >= least)
    return tuple(sorted(telling, key=lambda term: (-both[term], term))[:limit])
