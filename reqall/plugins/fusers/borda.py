"""Weighted Borda fusion (Aslam and Montague 2001, doi:10.1145/383952.384007)."""

from collections.abc import Collection, Sequence

from reqall import DocumentRanking
from reqall.plugins.fusers.summing import times_found, weighted_sums


class Borda:
    """Lets each ranking vote: of c candidates its first gets c points, the next c - 1, and so on.

    The points that are left are shared evenly by the candidates that it lacks. Candidates are what rankings
    of a weight above 0 hold; a document that no such ranking holds stays in the pool with 0 points.
    """

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores need not be comparable, only ranks count."""
        candidates = times_found(rankings, weights).keys()
        votes = [_votes(ranking, candidates) for ranking in rankings]
        return DocumentRanking.of(weighted_sums(votes, weights).items())


def _votes(ranking: DocumentRanking, candidates: Collection[str]) -> list[tuple[str, float]]:
    count = len(candidates)
    each_left = (count - len(ranking) + 1) / 2
    ranked = [(document.document_id, float(count - document.rank + 1)) for document in ranking]
    return ranked + [(key, each_left) for key in candidates if key not in ranking.by_id]
