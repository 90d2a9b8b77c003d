"""Reciprocal rank fusion (Cormack, Clarke, Buettcher 2009, doi:10.1145/1571941.1572114)."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum

from pydantic import Field

from reqall import DocumentRanking, PluginOptions


class RrfOptions(PluginOptions):
    """Options of `rrf`."""

    k: int = Field(default=60, ge=1, description="How much the first ranks are levelled; 60 is the paper's.")


class Rrf:
    """Adds weight / (k + rank) over the rankings; ranks count from 1.

    A ranking of weight 0 adds nothing to a score, yet its documents stay in the pool.
    """

    def __init__(self, options: RrfOptions) -> None:
        """Take k from the options."""
        self._k = options.k

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores need not be comparable, only ranks count."""
        shares: dict[str, list[float]] = defaultdict(list)
        for ranking, weight in zip(rankings, weights, strict=True):
            for document in ranking:
                shares[document.document_id].append(weight / (self._k + document.rank))
        # fsum is exact: the order of the rankings cannot decide a tie.
        return DocumentRanking.of((document_id, fsum(parts)) for document_id, parts in shares.items())
