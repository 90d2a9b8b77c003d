"""Built-in expanders: how one question becomes several."""

from collections.abc import Iterable

from reqall import QueryExpander, Registration, hookimpl
from reqall.plugins.expanders.hyde import Hyde, HydeOptions
from reqall.plugins.expanders.lexical_variants import LexicalVariants, LexicalVariantsOptions
from reqall.plugins.expanders.multi_query import MultiQuery, MultiQueryOptions
from reqall.plugins.expanders.rm3 import Rm3, Rm3Options
from reqall.plugins.expanders.sub_queries import SubQueries, SubQueriesOptions
from reqall.plugins.expanders.synonyms import Synonyms, SynonymsOptions


@hookimpl
def register_expanders() -> Iterable[Registration[QueryExpander]]:
    """Offer expansion by the client, by rule, by what the corpus says, and by a language model."""
    return [*_by_text(), *_by_corpus(), *_by_model()]


def _by_text() -> Iterable[Registration[QueryExpander]]:
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


def _by_corpus() -> Iterable[Registration[QueryExpander]]:
    return [
        Registration(
            name="rm3",
            summary="pseudo-relevance feedback: also the words of what a first search finds; for lexical indexes",
            build=lambda options, _services: Rm3(options),
            options=Rm3Options,
        ),
        Registration(
            name="synonyms",
            summary="other words for what the text names: a list, and abbreviations that the project defines",
            build=Synonyms,
            options=SynonymsOptions,
        ),
    ]


def _by_model() -> Iterable[Registration[QueryExpander]]:
    return [
        Registration(
            name="hyde",
            summary="also an item as a language model imagines it; the text of the query goes to its endpoint",
            build=lambda options, _services: Hyde(options),
            options=HydeOptions,
        ),
        Registration(
            name="multi_query",
            summary="rewrites by a language model where the client sends none; the query goes to its endpoint",
            build=lambda options, _services: MultiQuery(options),
            options=MultiQueryOptions,
        ),
    ]
