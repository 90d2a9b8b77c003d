"""Cross-validation: choose the best pipeline with some queries, judge the choice with the others.

The best of many pipelines on a collection owes some of its score to chance. Here no query has a
part in the choice that it is judged by (Stone 1974, doi:10.1111/j.2517-6161.1974.tb00994.x).
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from reqall.core.collection import Collection
from reqall.core.errors import InputError
from reqall.core.evaluation import Searched
from reqall.core.metrics import evaluate, ratio
from reqall.experiments.plan import Tune

Found: TypeAlias = Mapping[str, Mapping[str, Searched]]
"""Collection -> pipeline -> what it found."""


def cross_validated(
    collections: Sequence[Collection], found: Found, tune: Tune
) -> tuple[tuple[str, ...], dict[str, Searched]]:
    """Return the pipeline chosen in each fold, and by collection what the choices found together.

    A choice is made by the mean over collections, of equal ones the first. Raises InputError when a
    fold would be empty.
    """
    folds = {collection.name: _folds(collection, tune.folds) for collection in collections}
    used = {fold for queries in folds.values() for fold in queries.values()}
    if len(used) < tune.folds:
        raise InputError(
            f"{len(used)} different queries cannot be divided into {tune.folds} folds",
            "use fewer folds, or more queries",
        )
    parts = {
        c.name: {
            name: evaluate(searched.run, c.qrels, [tune.metric]).parts[tune.metric]
            for name, searched in found[c.name].items()
        }
        for c in collections
    }
    pipelines = list(found[collections[0].name])

    def score(pipeline: str, fold: int) -> float:
        """Score on the queries of all other folds."""
        values = [
            ratio(part for query, part in parts[name][pipeline].items() if queries[query] != fold)
            for name, queries in folds.items()
        ]
        return sum(values)

    chosen = tuple(max(pipelines, key=partial(score, fold=fold)) for fold in range(tune.folds))
    return chosen, {c.name: _joined(c, found[c.name], folds[c.name], chosen) for c in collections}


def _joined(
    collection: Collection, found: Mapping[str, Searched], folds: Mapping[str, int], chosen: Sequence[str]
) -> Searched:
    run: dict[str, list[str]] = {}
    timings = []
    for number, query in enumerate(collection.queries):
        searched = found[chosen[folds[query.id]]]
        run[query.id] = searched.run[query.id]
        timings.append(searched.timings[number])
    return Searched(run, tuple(timings))


def _folds(collection: Collection, count: int) -> dict[str, int]:
    """Deal the queries to folds in an order that says nothing; queries of the same text share a fold."""
    texts = sorted({query.text for query in collection.queries}, key=_mixed)
    dealt = {text: number % count for number, text in enumerate(texts)}
    return {query.id: dealt[query.text] for query in collection.queries}


def _mixed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
