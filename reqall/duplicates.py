"""The near-duplicates of whole projects."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from reqall.app import App
from reqall.core.differences import differences
from reqall.core.errors import InputError
from reqall.core.likeness import Weights, item_text
from reqall.core.near_pairs import near_pairs
from reqall.core.request import ItemRequest, filters_for
from reqall.core.start import unfinished
from reqall.core.types import Document
from reqall.related import THRESHOLD

Watch: TypeAlias = Callable[[str, int, int], None]
"""Is told (what is done, done, total) now and then."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two items that are near-duplicates: the cosine of their words, and where the second says something else."""

    first: Document
    second: Document
    score: float
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The near-duplicates among `compared` items, most alike first: those shown, and how many pairs there are."""

    threshold: float
    pairs: tuple[Duplicate, ...]
    found: int
    compared: int
    warnings: tuple[str, ...]


def duplicates(app: App, request: ItemRequest, watch: Watch, limit: int) -> Duplicates:
    """Find the pairs of near-duplicates of projects, whatever the request's item. Raises InputError, NotFoundError.

    No index is asked: the texts are compared in the catalog, in blocks of those that share a rare word.
    """
    projects = [app.synced_project(text, request.source) for text in request.projects]
    threshold = request.checked_least(THRESHOLD)
    if not threshold:
        raise InputError("every two items have a score of 0 or more", "give a threshold above 0, such as 0.6")
    catalog = app.assembly.catalog
    filters = filters_for(request.asked(), [project.id for project in projects], catalog)
    ids = list(catalog.within(filters))
    places: list[str] = []

    def texts() -> Iterator[str]:
        for document in catalog.read(ids):
            places.append(document.id)
            watch("reading", len(places), len(ids))
            yield item_text(document)

    weights = Weights.sampled(catalog, filters.project_ids)
    found = near_pairs(texts(), weights, threshold, lambda done: watch("comparing", done, len(places)))
    shown = found.pairs[:limit]
    documents = catalog.documents([places[place] for pair in shown for place in pair[:2]])
    ends = ((documents.get(places[pair.first]), documents.get(places[pair.second]), pair.score) for pair in shown)
    pairs = tuple(
        Duplicate(first, second, score, differences(item_text(first), item_text(second)))
        for first, second, score in ends
        if first and second
    )
    notes = [note for project in projects if (note := unfinished(catalog, app.jobs, project))]
    if found.crowded:
        notes.append(f"{found.crowded} items share their rarest words with very many others: pairs may be missing")
    return Duplicates(threshold, pairs, len(found.pairs), len(places), tuple(notes))
