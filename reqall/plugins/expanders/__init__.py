"""Built-in expanders: how one question becomes several."""

from collections.abc import Iterable

from reqall import QueryExpander, Registration, hookimpl
from reqall.plugins.expanders.lexical_variants import LexicalVariants, LexicalVariantsOptions
from reqall.plugins.expanders.rm3 import Rm3, Rm3Options
from reqall.plugins.expanders.sub_queries import SubQueries, SubQueriesOptions
from reqall.plugins.expanders.synonyms import Synonyms, SynonymsOptions


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
        Registration(
            name="rm3",
            summary="pseudo-relevance feedback: also the words of what a first search finds; for lexical indexes",
            build=lambda options, _services: Rm3(options),
            options=Rm3Options,
        ),
        Registration(
            name="synonyms",
            summary="other words for what the text names: a list, and abbreviations that the project's items define",
            build=Synonyms,
            options=SynonymsOptions,
        ),
    ]
