"""Sums that depend neither on the order of what is added nor on how large or small it is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import frexp, fsum, ldexp
from sys import float_info

from reqall import DocumentRanking

_ORDINARY = 100
"""Values are left as they are when the largest is below this power of two, and not far below its inverse."""


def tamed(values: Sequence[float]) -> list[float]:
    """Divide by a power of two where the largest value is so large, or so small, that sums or products would fail.

    That is exact, but for values below 1e-300 of the largest. Ordinary values are returned as they are, an
    infinite one as the largest that is finite.
    """
    finite = [max(-float_info.max, min(float_info.max, value)) for value in values]
    exponent = frexp(max(map(abs, finite), default=0.0))[1]
    return finite if abs(exponent) <= _ORDINARY else [ldexp(value, -exponent) for value in finite]


def weighted_sums(shares: Sequence[Iterable[tuple[str, float]]], weights: Sequence[float]) -> dict[str, float]:
    """Add weight x share of each document, over the rankings. Raises ValueError unless each ranking has a weight.

    Of weights beyond all measure (1e30, 1e-30) only the proportions count.
    """
    parts: dict[str, list[float]] = defaultdict(list)
    for documents, weight in zip(shares, tamed(weights), strict=True):
        for document_id, share in documents:
            parts[document_id].append(weight * share)
    # fsum is exact: the order of the rankings cannot decide a tie.
    return {document_id: fsum(found) for document_id, found in parts.items()}


def times_found(rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> Counter[str]:
    """Count for each document the rankings that hold it; those of weight 0 do not count."""
    weighing = (ranking for ranking, weight in zip(rankings, weights, strict=True) if weight > 0)
    return Counter(document.document_id for ranking in weighing for document in ranking)
