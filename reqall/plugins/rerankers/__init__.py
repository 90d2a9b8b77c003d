"""Built-in rerankers: how the best are ordered anew."""

from collections.abc import Iterable

from reqall import Registration, Reranker, hookimpl
from reqall.plugins.rerankers.none import NoReranker


@hookimpl
def register_rerankers() -> Iterable[Registration[Reranker]]:
    """Offer to keep the order."""
    return [
        Registration(
            name="none",
            summary="no reranking: the fused order stays",
            build=lambda _options, _services: NoReranker(),
            traits=frozenset({"identity"}),
        ),
    ]
