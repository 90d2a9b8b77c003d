"""From scores to an order: what a model cannot tell apart stays as the fusion had it."""

import math
from collections.abc import Sequence

from reqall import DocumentRanking, Passage


def ranking(passages: Sequence[Passage], scores: Sequence[float]) -> DocumentRanking:
    """Rank passages by their scores; of equal ones the earlier keeps its place, by the smallest step there is.

    Probabilities near 1 are often equal, and a tie would else be broken by the document's id.
    """
    ranked: list[tuple[str, float]] = []
    below = math.inf
    for place in sorted(range(len(passages)), key=lambda each: (-scores[each], each)):
        score = scores[place] if scores[place] < below else math.nextafter(below, -math.inf)
        ranked.append((passages[place].document_id, score))
        below = score
    return DocumentRanking.of(ranked)
