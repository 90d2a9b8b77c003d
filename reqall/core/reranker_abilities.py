"""What a reranker may be able to do besides reranking: optional abilities that the host makes use of."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from reqall.core.ranking import DocumentRanking
from reqall.core.types import Passage


@runtime_checkable
class SupportsDeadline(Protocol):
    """A reranker that can stop early."""

    def rerank_within(self, query: str, passages: Sequence[Passage], seconds: float) -> DocumentRanking:
        """Order the first passages, as many as can be read in time; the others stay behind them as they came."""


@runtime_checkable
class SupportsScores(Protocol):
    """A reranker that judges each passage by itself, whatever the others are.

    The host then calls `score` in place of `rerank`: batch by batch in fused order, until the time is
    up, and remembers the scores.
    """

    @property
    def identity(self) -> str:
        """What makes two scores comparable: the model and its hash, instruction, limits; empty: not to be kept."""

    @property
    def batch_size(self) -> int:
        """Passages that one call of `score` is given at most."""

    def score(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Return one finite number per passage; a higher one is better."""
