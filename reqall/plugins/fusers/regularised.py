"""Score regularisation (Diaz 2005, doi:10.1145/1099554.1099722): documents that are alike get scores that are alike.

What answers a question is mostly like other answers to it (the cluster hypothesis, Jardine and van Rijsbergen 1971,
doi:10.1016/0020-0271(71)90051-9). So a candidate among good ones rises, and one that stands alone falls.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from reqall import DocumentRanking, Likeness
from reqall.plugins.fusers.convex import Convex
from reqall.plugins.fusers.normalisation import Normalisation, ScoreOptions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class RegularisedOptions(ScoreOptions):
    """Options of `regularised`; how scores are fused before they are regularised is that of `convex`."""

    normalise: Normalisation = Field(
        default="padded",
        description="What makes scores comparable: min-max, z-score, padded, theoretical, distribution, or none.",
    )
    share: float = Field(
        default=0.3, ge=0, le=1, description="How much of a score comes from the documents that are most alike."
    )
    neighbours: int = Field(default=10, ge=1, le=500, description="How many most alike candidates a document has.")
    pool: int = Field(default=50, ge=1, le=500, description="How many of the best candidates are regularised.")


class Regularised:
    """Fuses like `convex`, then mixes the score of each candidate with those of its neighbours in the pool."""

    def __init__(self, options: RegularisedOptions) -> None:
        """Take the normalisation, the share and the sizes from the options."""
        self._options = options
        self._convex = Convex(options)

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse without knowing what is alike: the order is that of `convex`."""
        return self._convex.fuse(rankings, weights)

    def fuse_alike(
        self, rankings: Sequence[DocumentRanking], weights: Sequence[float], likeness: Likeness
    ) -> DocumentRanking:
        """Fuse; a score is (1 - share) x its own + share x the mean of its neighbours', weighed by likeness."""
        fused = self._convex.fuse(rankings, weights)
        pool = fused.top(self._options.pool)
        if len(pool) <= 1:
            return fused
        mixed = self._mixed([each.score for each in pool], likeness([each.document_id for each in pool]))
        scores = {each.document_id: each.score for each in fused}
        scores |= zip((each.document_id for each in pool), mixed, strict=True)
        return DocumentRanking.of(scores.items())

    def _mixed(self, own: Sequence[float], likeness: "npt.NDArray[np.float32]") -> list[float]:
        import numpy as np

        scores = np.array(own)
        alike = np.maximum(likeness.astype(float), 0)
        np.fill_diagonal(alike, 0)
        order = np.argsort(-alike, axis=1, kind="stable")[:, : self._options.neighbours]
        weights = np.take_along_axis(alike, order, axis=1)
        total = weights.sum(axis=1)
        around = np.where(total > 0, (weights * scores[order]).sum(axis=1) / np.where(total > 0, total, 1), scores)
        mixed: list[float] = ((1 - self._options.share) * scores + self._options.share * around).tolist()
        return mixed
