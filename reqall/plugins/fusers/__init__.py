"""Built-in fusers: how several rankings become one."""

from collections.abc import Iterable

from reqall import Fuser, Registration, hookimpl
from reqall.plugins.fusers.borda import Borda
from reqall.plugins.fusers.combmnz import CombMnz
from reqall.plugins.fusers.combsum import CombSum
from reqall.plugins.fusers.convex import Convex
from reqall.plugins.fusers.dbsf import Dbsf
from reqall.plugins.fusers.isr import Isr
from reqall.plugins.fusers.normalisation import ScoreOptions
from reqall.plugins.fusers.regularised import Regularised, RegularisedOptions
from reqall.plugins.fusers.rrf import Rrf, RrfOptions


@hookimpl
def register_fusers() -> Iterable[Registration[Fuser]]:
    """Offer fusion by ranks, and fusion by scores."""
    return [*_by_ranks(), *_by_scores()]


def _by_ranks() -> Iterable[Registration[Fuser]]:
    return [
        Registration(
            name="rrf",
            summary="reciprocal rank fusion: robust, only ranks count",
            build=lambda options, _services: Rrf(options),
            options=RrfOptions,
        ),
        Registration(
            name="isr",
            summary="inverse square ranks times the number of rankings: the first few ranks, and agreement, decide",
            build=lambda _options, _services: Isr(),
        ),
        Registration(
            name="borda",
            summary="Borda count: each ranking gives points by rank, evenly falling to its end",
            build=lambda _options, _services: Borda(),
        ),
    ]


def _by_scores() -> Iterable[Registration[Fuser]]:
    return [
        Registration(
            name="convex",
            summary="weighted mean of normalised scores: better than ranks once weights are tuned",
            build=lambda options, _services: Convex(options),
            options=ScoreOptions,
        ),
        Registration(
            name="regularised",
            summary="convex, then each score is drawn towards those of the candidates that are most alike",
            build=lambda options, _services: Regularised(options),
            options=RegularisedOptions,
        ),
        Registration(
            name="combsum",
            summary="CombSUM: weighted sum of normalised scores, in the order of convex",
            build=lambda options, _services: CombSum(options),
            options=ScoreOptions,
        ),
        Registration(
            name="combmnz",
            summary="CombMNZ: that sum times the number of rankings that hold the document",
            build=lambda options, _services: CombMnz(options),
            options=ScoreOptions,
        ),
        Registration(
            name="dbsf",
            summary="distribution-based score fusion: weighted sum of scores, scaled by mean and deviation",
            build=lambda _options, _services: Dbsf(),
        ),
    ]
