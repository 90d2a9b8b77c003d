"""Queries as the engine takes them, built of terms: a text that is asked for is never read as syntax."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from reqall import Filters
from reqall_tantivy.analysis import Term, encodable
from reqall_tantivy.schema import microseconds, schema

if TYPE_CHECKING:
    import tantivy

MAX_TERMS = 256
"""Most terms of one query: the engine walks the occurrences of each in every column."""


def text_query(terms: Counter[Term], weights: Mapping[str, float]) -> "tantivy.Query":
    """Ask for any of the terms in any column; a score is the sum of the columns' BM25, each with its weight.

    A term that the query repeats counts as often.
    """
    from tantivy import Occur, Query

    # Of too many the longest stay, the most telling ones.
    longest_first = sorted(terms.items(), key=lambda item: -sum(map(len, item[0])))[:MAX_TERMS]
    return Query.boolean_query(
        [
            (Occur.Should, Query.boost_query(_term_query(column, term), weight * count))
            for term, count in longest_first
            for column, weight in weights.items()
            if weight
        ]
    )


def filtered(query: "tantivy.Query", filters: Filters) -> "tantivy.Query":
    """Let through only what meets the filters; they come before the ranking and add nothing to a score."""
    from tantivy import Occur, Query

    wanted = {"project": filters.project_ids, "type": filters.type_ids, "status": filters.statuses}
    conditions = [
        Query.term_set_query(schema(), facet, [encodable(value) for value in values])
        for facet, values in wanted.items()
        if values
    ]
    if filters.modified_after is not None or filters.modified_before is not None:
        conditions.append(_within(filters))
    if not conditions:
        return query
    silent = [(Occur.Must, Query.const_score_query(condition, 0.0)) for condition in conditions]
    return Query.boolean_query([(Occur.Must, query), *silent])


def _term_query(column: str, term: Term) -> "tantivy.Query":
    from tantivy import Query

    if len(term) == 1:
        return Query.term_query(schema(), column, term[0], index_option="freq")
    return Query.phrase_query(schema(), column, [*term])


def _within(filters: Filters) -> "tantivy.Query":
    from tantivy import FieldType, Query

    after, before = filters.modified_after, filters.modified_before
    return Query.range_query(
        schema(),
        "modified",
        FieldType.Integer,
        lower_bound=None if after is None else microseconds(after),
        upper_bound=None if before is None else microseconds(before),
    )
