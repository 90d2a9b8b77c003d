"""Runs pipelines over a judged collection: one ranking of documents per query and pipeline."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reqall.core.collection import Collection
from reqall.core.metrics import Scores, evaluate
from reqall.core.pipeline import Pipeline
from reqall.core.types import Filters, Query, native_id

DEPTH = 200
"""Documents per arm and in the pool; metrics are computed on rankings of this depth."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A pipeline's rankings of a collection, and their scores."""

    pipeline: str
    run: dict[str, list[str]]
    scores: Scores
    warnings: tuple[str, ...]


def run_pipeline(
    pipeline: Pipeline, collection: Collection, progress: Callable[[int], None] = lambda _count: None
) -> Evaluated:
    """Search with every judged query; a query's own document is dropped from its results.

    The collection's project must be in the catalog that the pipeline searches.
    """
    run: dict[str, list[str]] = {}
    warnings: set[str] = set()
    for query in collection.queries:
        depth = DEPTH + len(query.exclude)
        result = pipeline.search(Query(query.text, (), Filters()), depth, depth)
        found = (native_id(hit.document.id) for hit in result.hits)
        run[query.id] = [document for document in found if document not in query.exclude][:DEPTH]
        warnings.update(result.warnings)
        progress(1)
    return Evaluated(pipeline.name, run, evaluate(run, collection.qrels), tuple(sorted(warnings)))


def as_table(results: Iterable[Evaluated]) -> dict[str, dict[str, float]]:
    """Return {pipeline: {metric: mean}}, rounded to four digits."""
    return {r.pipeline: {name: round(value, 4) for name, value in r.scores.means.items()} for r in results}
