"""CombSUM (Fox and Shaw, Combination of Multiple Searches, TREC-2, 1994)."""

from collections.abc import Sequence

from reqall import DocumentRanking
from reqall.plugins.fusers.normalisation import ScoreOptions, normalised
from reqall.plugins.fusers.summing import weighted_sums


class CombSum:
    """Adds weight x normalised score over the rankings; a document that a ranking lacks has 0 in it.

    Without normalisation this is the paper's sum; Lee 1997 (doi:10.1145/258525.258587) puts min-max
    before it. The order is that of a convex combination.
    """

    def __init__(self, options: ScoreOptions) -> None:
        """Take the normalisation from the options."""
        self._options = options

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores are 0 or more, and grow with the number of rankings."""
        return DocumentRanking.of(weighted_sums(normalised(rankings, self._options), weights).items())
