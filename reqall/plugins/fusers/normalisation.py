"""How scores of different scales become comparable: each normalisation says where 0 lies and how long 1 is.

0 is always what a document gets from a ranking that lacks it, and no document that the ranking holds gets
less: that something is worse than what was not found at all, nobody knows. Montague and Aslam 2001
(doi:10.1145/502585.502657) show that the estimate for what was not found matters as much as the scale.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Literal, Self, TypeAlias

from pydantic import Field, model_validator

from reqall import DocumentRanking, PluginOptions
from reqall.plugins.fusers.summing import tamed

Normalisation: TypeAlias = Literal["min-max", "z-score", "padded", "theoretical", "distribution", "none"]

_ROUNDING = 1e-6
"""What a cosine of float32 vectors may be beyond 1."""


class ScoreOptions(PluginOptions):
    """Options of the fusers that add scores."""

    normalise: Normalisation = Field(
        default="min-max",
        description="What makes scores comparable: min-max, z-score, padded, theoretical, distribution, or none.",
    )
    lower_bound: float | None = Field(
        default=None,
        ge=-1e6,
        le=1e6,
        description="With theoretical: the least score that any document could have. Empty: -1 for a ranking whose"
        " scores all lie in -1..1 (cosines), else 0 (BM25), else the ranking's own least.",
    )

    @model_validator(mode="after")
    def _bound_has_a_use(self) -> Self:
        if self.lower_bound is not None and self.normalise != "theoretical":
            raise ValueError("lower_bound is read with `normalise: theoretical` only")
        return self


def normalised(rankings: Sequence[DocumentRanking], options: ScoreOptions) -> list[list[tuple[str, float]]]:
    """Pair the documents of each ranking with their normalised scores, which are 0 or more."""
    found = [[document.score for document in ranking] for ranking in rankings]
    if options.normalise == "padded":
        found = _padded(found)
    scores = _shifted(found) if options.normalise == "none" else [_scores(each, options) for each in found]
    return [
        [(document.document_id, score) for document, score in zip(ranking, each[: len(ranking)], strict=True)]
        for ranking, each in zip(rankings, scores, strict=True)
    ]


def _scores(scores: Sequence[float], options: ScoreOptions) -> list[float]:
    if not scores:
        return []
    if options.normalise in ("z-score", "padded"):
        return _z_score(scores)
    if options.normalise == "distribution":
        return _distribution(scores)
    if options.normalise == "min-max":
        return _between(min(scores), scores)
    bound = _theoretical_bound(scores) if options.lower_bound is None else options.lower_bound
    return _between(min(bound, *scores), scores)


def _between(floor: float, scores: Sequence[float]) -> list[float]:
    """Map the floor to 0 and the best score to 1; where all are as low as the floor, each is the best.

    With the ranking's least score as floor this is min-max (Lee 1997, doi:10.1145/258525.258587), with the
    least of the score function theoretical min-max (Bruch, Gai, Ingber 2023, doi:10.1145/3596512): there what
    is last of those found keeps its lead over what was not found.
    """
    lowest, *rest = tamed([floor, *scores])
    span = max(rest) - lowest
    return [(score - lowest) / span if span else 1.0 for score in rest]


def _theoretical_bound(scores: Sequence[float]) -> float:
    """Guess the least of the score function: a ranking does not say which it is."""
    lowest, highest = min(scores), max(scores)
    if max(-lowest, highest) <= 1 + _ROUNDING:
        return -1.0
    return min(0.0, lowest)


def _z_score(scores: Sequence[float]) -> list[float]:
    """Count in standard deviations (ZMUV of Montague and Aslam 2001), from the ranking's least score.

    Counted from the mean, a document that was not found would have the mean and be ahead of half of those
    that were. Equal scores deviate by 0: each is one deviation above what was not found.
    """
    heights, _, sigma = _spread(scores)
    return [height / sigma if sigma else 1.0 for height in heights]


def _padded(rankings: Sequence[Sequence[float]]) -> list[list[float]]:
    """Fill a ranking that is shorter than the longest up with zeros, unless it has negative scores.

    Words that three documents hold find three: the last of them is no chance hit at the edge of a pool, and what
    was not found has the score 0. Counted from the least score, the last would be worth nothing.
    """
    most = max(map(len, rankings), default=0)
    return [
        [*scores, *(0.0 for _ in range(most - len(scores)))] if scores and min(scores) >= 0 else [*scores]
        for scores in rankings
    ]


def _distribution(scores: Sequence[float]) -> list[float]:
    """Map mean - 3 sigma to 0 and mean + 3 sigma to 1, sigma that of the population (Mazzeschi 2023, in dbsf.py).

    Nothing is cut off: an outlier may have more than 1, and one below mean - 3 sigma moves the 0 down to
    itself. Equal scores are all at their mean, 0.5, as in Qdrant.
    """
    heights, mean, sigma = _spread(scores)
    below = max(0.0, 3 * sigma - mean)
    return [(height + below) / (6 * sigma) if sigma else 0.5 for height in heights]


def _spread(scores: Sequence[float]) -> tuple[list[float], float, float]:
    """Return heights above the least score, their mean and standard deviation; that is 0 of equal scores alone."""
    scores = tamed(scores)
    lowest = min(scores)
    heights = [score - lowest for score in scores]
    mean = fsum(heights) / len(heights)
    return heights, mean, sqrt(fsum((height - mean) ** 2 for height in heights) / len(heights))


def _shifted(rankings: Sequence[Sequence[float]]) -> list[list[float]]:
    """Keep scores as they are; a ranking with negative ones is raised until its least is 0."""
    every = iter(tamed([score for scores in rankings for score in scores]))
    alike = [[next(every) for _ in scores] for scores in rankings]
    return [[score - min(0.0, *scores) for score in scores] for scores in alike]
