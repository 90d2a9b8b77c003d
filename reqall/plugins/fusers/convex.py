"""Convex combination of scores (Bruch, Gai, Ingber 2023, doi:10.1145/3596512)."""

from collections.abc import Sequence
from math import fsum

from reqall import DocumentRanking
from reqall.plugins.fusers.normalisation import ScoreOptions, normalised
from reqall.plugins.fusers.summing import tamed, weighted_sums


class Convex:
    """Averages normalised scores by weight; a document that a ranking lacks has 0 in it.

    Min-max takes a ranking of equal scores, or of one document, for 1. A ranking of weight 0 adds
    nothing to a score, yet its documents stay in the pool.
    """

    def __init__(self, options: ScoreOptions) -> None:
        """Take the normalisation from the options."""
        self._options = options

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; with min-max and theoretical, scores lie between 0 and 1."""
        sums = weighted_sums(normalised(rankings, self._options), weights)
        total = fsum(tamed(weights)) or 1.0
        return DocumentRanking.of((document_id, score / total) for document_id, score in sums.items())
