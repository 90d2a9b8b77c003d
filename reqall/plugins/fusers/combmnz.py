"""CombMNZ (Fox and Shaw, Combination of Multiple Searches, TREC-2, 1994)."""

from collections.abc import Sequence

from reqall import DocumentRanking
from reqall.plugins.fusers.normalisation import ScoreOptions, normalised
from reqall.plugins.fusers.summing import times_found, weighted_sums


class CombMnz:
    """Multiplies the sum of weight x normalised score by the number of rankings that hold the document.

    Rankings of weight 0 do not count in that number: they move nothing.
    """

    def __init__(self, options: ScoreOptions) -> None:
        """Take the normalisation from the options."""
        self._options = options

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores are 0 or more, and grow with the number of rankings."""
        sums, found = weighted_sums(normalised(rankings, self._options), weights), times_found(rankings, weights)
        return DocumentRanking.of((document_id, found[document_id] * score) for document_id, score in sums.items())
