"""How alike candidates are: what an index may know of it, and a fuser make of it. Optional abilities."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from reqall.core.protocols import Vectors
from reqall.core.ranking import DocumentRanking

Likeness: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Takes ids of documents; returns their cosines with each other, of shape (documents, documents)."""


@runtime_checkable
class SupportsLikeness(Protocol):
    """A recaller that knows how alike its documents are."""

    def likeness(self, document_ids: Sequence[str]) -> "Vectors":
        """Return cosines of shape (documents, documents); those of a document that it does not hold are 0."""


@runtime_checkable
class SupportsNeighbours(Protocol):
    """A fuser that also looks at how alike the candidates are; the host calls this in place of `fuse`."""

    def fuse_alike(
        self, rankings: Sequence[DocumentRanking], weights: Sequence[float], likeness: Likeness
    ) -> DocumentRanking:
        """Fuse as `fuse` does; `likeness` is that of the first index that supports it."""
