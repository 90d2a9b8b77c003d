"""Built-in fusers: how several rankings become one."""

from collections.abc import Iterable

from reqall import Fuser, Registration, hookimpl
from reqall.plugins.fusers.convex import Convex
from reqall.plugins.fusers.rrf import Rrf, RrfOptions


@hookimpl
def register_fusers() -> Iterable[Registration[Fuser]]:
    """Offer fusion by ranks, and fusion by scores."""
    return [
        Registration(
            name="rrf",
            summary="reciprocal rank fusion: robust, only ranks count",
            build=lambda options, _services: Rrf(options),
            options=RrfOptions,
        ),
        Registration(
            name="convex",
            summary="weighted mean of min-max normalised scores: better than ranks once weights are tuned",
            build=lambda _options, _services: Convex(),
        ),
    ]
