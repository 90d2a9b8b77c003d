"""Distribution-based score fusion (Mazzeschi 2023, github.com/atlantis-nova/hybrid-dbsf)."""

from collections.abc import Sequence

from reqall import DocumentRanking
from reqall.plugins.fusers.normalisation import ScoreOptions, normalised
from reqall.plugins.fusers.summing import weighted_sums

_OPTIONS = ScoreOptions(normalise="distribution")


class Dbsf:
    """Adds weight x score over the rankings, each scaled so that 0..1 is its mean +- 3 standard deviations.

    As in Qdrant, LlamaIndex and Haystack scores are not cut off at 0 and 1; unlike there, none is below 0, which
    is what a document gets from a ranking that lacks it.
    """

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores are 0 or more, and grow with the number of rankings."""
        return DocumentRanking.of(weighted_sums(normalised(rankings, _OPTIONS), weights).items())
