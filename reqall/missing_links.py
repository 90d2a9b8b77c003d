"""The trace links that whole projects lack between items of some types and items of others, best first."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reqall.app import App
from reqall.core.errors import InputError
from reqall.core.likeness import Weights, cosine, item_text, shared_terms
from reqall.core.request import ItemRequest, filters_for
from reqall.core.trace_links import LinkRules, links_among
from reqall.core.types import Document, Filters, Hit, native_id
from reqall.duplicates import Watch
from reqall.related import SHOWN_TERMS, pipeline_for, search_with

THRESHOLD = 0.15
"""Lowest score of a missing link that is shown. Measured, see docs/how-to/find-missing-links.md."""

CONSIDERED = 10
"""Hits of each item that may be missing links of it."""


@dataclass(frozen=True, slots=True)
class MissingLink:
    """Two items that seem to belong together and are not linked; `links` of the first lead to such items already.

    `score` is the cosine of their words times how far each is the other's first choice (the mean of 1 / rank):
    1 is the same words and both first. `direction` is seen from the first, as of a suggestion.
    """

    first: Document
    second: Document
    score: float
    direction: str
    link_type: str
    terms: tuple[str, ...]
    links: int


@dataclass(frozen=True, slots=True)
class MissingLinks:
    """What projects lack between two sets of types, and how far the search is to be trusted there.

    Of `known` links between the items, `found` are among the first `CONSIDERED` hits of their item: what this
    search is worth on this project. `pairs` are those shown of `total`; keys stand for items without a link.
    """

    threshold: float
    pairs: tuple[MissingLink, ...]
    total: int
    asked: int
    from_without_links: tuple[str, ...]
    to_without_links: tuple[str, ...]
    known: int
    found: int
    pipeline: str
    warnings: tuple[str, ...]


class _Choice(NamedTuple):
    """A hit of an item: its rank among the item's hits, the pipeline's score of it, the cosine of their words."""

    first: str
    second: str
    rank: int
    fused: float
    likeness: float


def missing_links(app: App, request: ItemRequest, from_types: Sequence[str], watch: Watch, limit: int) -> MissingLinks:
    """Search with every item of `from_types` among those of the request's types, whatever its item.

    Raises InputError, NotFoundError. Takes one search per item.
    """
    if not from_types or not request.item_types:
        raise InputError("links are sought from some types to others", "give both types, or an item")
    catalog = app.assembly.catalog
    projects = [app.synced_project(text, request.source) for text in request.projects]
    ids = [project.id for project in projects]
    to_filters = filters_for(request.asked(), ids, catalog)
    asked = catalog.within(filters_for(replace(request, item_types=tuple(from_types)).asked(), ids, catalog))
    least, pipeline = request.checked_least(THRESHOLD), pipeline_for(app, "links", request.pipeline)
    _, candidate_k = app.depth(request.asked(), pipeline)
    weights = Weights.sampled(catalog, to_filters.project_ids)
    choices: list[_Choice] = []
    warnings: dict[str, None] = {}
    for done, item in enumerate(catalog.read(list(asked)), start=1):
        watch("searching", done, len(asked))
        if any(character.isalnum() for character in item_text(item)):
            result = search_with(app, projects, item, to_filters, pipeline, candidate_k)
            choices += _choices(item, result.hits[:CONSIDERED], weights)
            warnings.update(dict.fromkeys(result.warnings))
    linked = _linked(app, asked, catalog.within(to_filters))
    scored = [each for each in _scored(choices) if each[0] >= least and each[1].second not in linked[each[1].first]]
    shown = scored[:limit]
    return MissingLinks(
        least,
        tuple(_missing(app, shown, linked, weights, to_filters)),
        len(scored),
        len(asked),
        _keys(asked, {first for first, ends in linked.items() if ends}),
        _keys(catalog.within(to_filters), set().union(*linked.values())),
        known=sum(map(len, linked.values())),
        found=sum(choice.second in linked[choice.first] for choice in choices),
        pipeline=pipeline,
        warnings=tuple(warnings),
    )


def _choices(item: Document, hits: Sequence[Hit], weights: Weights) -> Iterator[_Choice]:
    vector = weights.vector(item_text(item))
    for rank, hit in enumerate(hits, start=1):
        likeness = cosine(vector, weights.vector(item_text(hit.document)))
        yield _Choice(item.id, hit.document.id, rank, hit.score, likeness)


def _scored(choices: Iterable[_Choice]) -> list[tuple[float, _Choice]]:
    """Score pairs, best first; each pair of two items that were found from both sides counts once."""
    by_second: dict[str, list[_Choice]] = defaultdict(list)
    for choice in choices:
        by_second[choice.second].append(choice)
    scored: dict[frozenset[str], tuple[float, _Choice]] = {}
    for rivals in by_second.values():
        rivals.sort(key=lambda choice: -choice.fused)
        for back, choice in enumerate(rivals, start=1):
            score = choice.likeness * (1 / choice.rank + 1 / back) / 2
            pair = frozenset(choice[:2])
            if score > scored.get(pair, (-1.0, choice))[0]:
                scored[pair] = score, choice
    return sorted(scored.values(), key=lambda each: (-each[0], each[1]))


def _linked(app: App, asked: Mapping[str, str], sought: Mapping[str, str]) -> dict[str, set[str]]:
    """Return for each item that is asked with those of the items sought that it has a link with."""
    linked: dict[str, set[str]] = {first: set() for first in asked}
    for link in links_among(app.assembly.database, {*asked, *sought}):
        for one, other in ((link.from_id, link.to_id), (link.to_id, link.from_id)):
            if one in asked and other in sought and one != other:
                linked[one].add(other)
    return linked


def _missing(
    app: App,
    shown: Sequence[tuple[float, _Choice]],
    linked: Mapping[str, set[str]],
    weights: Weights,
    filters: Filters,
) -> Iterator[MissingLink]:
    documents = app.assembly.catalog.documents([key for _, choice in shown for key in choice[:2]])
    rules = LinkRules.of(app.assembly.database, filters.project_ids)
    for score, choice in shown:
        first, second = documents.get(choice.first), documents.get(choice.second)
        if first and second:
            vectors = [weights.vector(item_text(each)) for each in (first, second)]
            terms = shared_terms(vectors[0], vectors[1], SHOWN_TERMS)
            way = rules.expected(first.type_id, second.type_id)
            yield MissingLink(first, second, score, *way, terms, len(linked[first.id]))


def _keys(items: Mapping[str, str], but: set[str]) -> tuple[str, ...]:
    return tuple(key or native_id(document_id) for document_id, key in items.items() if document_id not in but)
