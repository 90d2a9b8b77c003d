"""What an expander is given and what it gives: the protocol, its ability to read a first search, its nouns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from reqall.core.types import Document, Query


@dataclass(frozen=True, slots=True)
class Variant:
    """A text to search with; `weight` counts in the fusion beside that of the user's own text (0 or more)."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that a first search found, with its fused score; a higher score is better."""

    document: Document
    score: float


class QueryExpander(Protocol):
    """Turns one question into several."""

    def expand(self, query: Query) -> Sequence[str | Variant]:
        """Return the texts to search with, the user's own first, no duplicates."""


@runtime_checkable
class SupportsDisclosure(Protocol):
    """An expander that sends the texts of queries to another machine, and says so."""

    @property
    def sends_to(self) -> str:
        """Name the host that the texts go to."""


@runtime_checkable
class SupportsFeedback(Protocol):
    """An expander that reads what a search with the user's text alone finds (pseudo-relevance feedback).

    Where it can be had, this is called in place of `expand`.
    """

    def expand_from(self, query: Query, found: Sequence[FoundDocument]) -> Sequence[str | Variant]:
        """Return the texts to search with, as `expand`; `found` is the pool, filtered, best first, maybe empty."""
