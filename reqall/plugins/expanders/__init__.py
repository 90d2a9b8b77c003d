"""Built-in expanders: how one question becomes several."""

from collections.abc import Iterable

from reqall import QueryExpander, Registration, hookimpl
from reqall.plugins.expanders.lexical_variants import LexicalVariants, LexicalVariantsOptions
from reqall.plugins.expanders.sub_queries import SubQueries, SubQueriesOptions


@hookimpl
def register_expanders() -> Iterable[Registration[QueryExpander]]:
    """Offer the client's own rewrites, and variants by rule where there are none."""
    return [
        Registration(
            name="lexical_variants",
            summary="the client's sub-queries, else the text without its stop words",
            build=lambda options, _services: LexicalVariants(options),
            options=LexicalVariantsOptions,
        ),
        Registration(
            name="sub_queries",
            summary="the client's sub-queries only",
            build=lambda options, _services: SubQueries(options),
            options=SubQueriesOptions,
        ),
    ]
