"""Convex combination of scores (Bruch, Gai, Ingber 2023, doi:10.1145/3596512)."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum

from reqall import DocumentRanking


class Convex:
    """Averages min-max normalised scores by weight; a document that a ranking lacks has 0 in it.

    A ranking of equal scores, or of one document, normalises to 1. A ranking of weight 0 adds
    nothing to a score, yet its documents stay in the pool.
    """

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; scores lie between 0 and 1."""
        total = fsum(weights) or 1.0
        shares: dict[str, list[float]] = defaultdict(list)
        for ranking, weight in zip(rankings, weights, strict=True):
            for document_id, score in _normalised(ranking):
                shares[document_id].append(weight * score)
        # fsum is exact: the order of the rankings cannot decide a tie.
        return DocumentRanking.of((document_id, fsum(parts) / total) for document_id, parts in shares.items())


def _normalised(ranking: DocumentRanking) -> list[tuple[str, float]]:
    if not ranking.documents:
        return []
    highest, lowest = ranking.documents[0].score, ranking.documents[-1].score
    span = highest - lowest
    return [(d.document_id, (d.score - lowest) / span if span else 1.0) for d in ranking]
