"""Reciprocal rank fusion (Cormack, Clarke, Buettcher 2009, doi:10.1145/1571941.1572114)."""

from collections.abc import Sequence

from pydantic import Field

from reqall import DocumentRanking, PluginOptions
from reqall.plugins.fusers.summing import weighted_sums


class RrfOptions(PluginOptions):
    """Options of `rrf`."""

    k: int = Field(
        default=60, ge=1, le=1_000_000, description="How much the first ranks are levelled; 60 is the paper's."
    )


class Rrf:
    """Adds weight / (k + rank) over the rankings; ranks count from 1.

    A ranking of weight 0 adds nothing to a score, yet its documents stay in the pool.
    """

    def __init__(self, options: RrfOptions) -> None:
        """Take k from the options."""
        self._k = options.k

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores need not be comparable, only ranks count."""
        shares = [[(d.document_id, 1 / (self._k + d.rank)) for d in ranking] for ranking in rankings]
        return DocumentRanking.of(weighted_sums(shares, weights).items())
