"""Runs pipelines over a judged collection: one ranking of documents per query and pipeline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from reqall.core.collection import Collection
from reqall.core.pipeline import Pipeline
from reqall.core.types import Filters, Query, native_id

DEPTH = 200
"""Documents per arm and in the pool; metrics are computed on rankings of this depth."""

EVERYTHING = Filters()
"""Filters that leave nothing out."""

Timings: TypeAlias = Mapping[str, float]
"""Milliseconds per stage of one search."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a pipeline found of a collection: document ids by query id, best first, and how long each search took.

    `timings` are in the order of the queries; the first search also loads what the pipeline needs.
    """

    run: dict[str, list[str]]
    timings: tuple[Timings, ...] = ()
    warnings: tuple[str, ...] = ()


def search_all(
    pipeline: Pipeline,
    collection: Collection,
    *,
    filters: Filters = EVERYTHING,
    depth: int = DEPTH,
    settle: Callable[[Timings], Timings] = dict,
    progress: Callable[[int], None] = lambda _count: None,
) -> Searched:
    """Search with every judged query; a query's own document is dropped from its results.

    The collection's project must be in the catalog that the pipeline searches. `settle` corrects
    the timings of a search, as what came out of a cache took its time before.
    """
    run: dict[str, list[str]] = {}
    timings: list[Timings] = []
    warnings: set[str] = set()
    for query in collection.queries:
        reach = depth + len(query.exclude)
        result = pipeline.search(Query(query.text, (), filters), reach, reach)
        found = (native_id(hit.document.id) for hit in result.hits)
        run[query.id] = [document for document in found if document not in query.exclude][:depth]
        timings.append(settle(result.timings))
        warnings.update(result.warnings)
        progress(1)
    return Searched(run, tuple(timings), tuple(sorted(warnings)))
