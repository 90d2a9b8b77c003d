"""Inverse square rank fusion (Mourão, Martins, Magalhães 2014, doi:10.1016/j.compmedimag.2014.05.006)."""

from collections.abc import Sequence

from reqall import DocumentRanking
from reqall.plugins.fusers.summing import times_found, weighted_sums


class Isr:
    """Multiplies the sum of weight / rank^2 by the number of rankings that hold the document; ranks count from 1.

    Rankings of weight 0 do not count in that number: they move nothing.
    """

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores need not be comparable, only ranks count."""
        sums = weighted_sums([[(d.document_id, d.rank**-2) for d in ranking] for ranking in rankings], weights)
        found = times_found(rankings, weights)
        return DocumentRanking.of((document_id, found[document_id] * score) for document_id, score in sums.items())
