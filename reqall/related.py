"""Near-duplicates of an item, and the trace links that it may lack: searches whose query is an item.

They take the same path as any search. A pipeline of the configuration named `similar` or `links`
is used for them, else the default one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reqall.app import App
from reqall.core.differences import agreeing_sentences, differences
from reqall.core.errors import InputError
from reqall.core.likeness import Weights, cosine, item_text, shared_terms
from reqall.core.lookup import find_item
from reqall.core.request import ItemRequest, filters_for
from reqall.core.start import unfinished
from reqall.core.trace_links import LinkRules, links_of
from reqall.core.types import Document, Filters, Hit, Link, Project, Query, SearchResult

THRESHOLD = 0.8
"""Cosine from which two items are near-duplicates. Measured, see docs/how-to/find-missing-links.md."""

SHOWN_TERMS = 6


@dataclass(frozen=True, slots=True)
class Alike:
    """An item like the one asked about: the cosine of their words, and where this one says something else."""

    document: Document
    score: float
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SimilarItems:
    """The items like an item, most alike first; `compared` were looked at."""

    item: Document
    threshold: float
    items: tuple[Alike, ...]
    compared: int
    pipeline: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An item to link to, and why: terms that stand in both, and a sentence of each, those that agree best.

    `direction` is that of the links that the project has between these types, seen from the item; empty
    when it has none. `score` is the cosine of their words; the order is the pipeline's.
    """

    document: Document
    score: float
    direction: str
    link_type: str
    terms: tuple[str, ...]
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A link that an item has; `document` is its other end, None when that is not in the catalog."""

    link: Link
    direction: str
    document: Document | None


@dataclass(frozen=True, slots=True)
class LinkSuggestions:
    """The links that an item may lack, best first, and those that it has."""

    item: Document
    links: tuple[Linked, ...]
    items: tuple[Suggestion, ...]
    pipeline: str
    warnings: tuple[str, ...]


def similar(app: App, request: ItemRequest) -> SimilarItems:
    """Find the near-duplicates of an item. Raises InputError, NotFoundError."""
    projects, item = item_of(app, request)
    threshold = request.checked_least(THRESHOLD)
    filters = filters_for(request.asked(), [project.id for project in projects], app.assembly.catalog)
    pipeline = pipeline_for(app, "similar", request.pipeline)
    top_k, candidate_k = app.depth(request.asked(), pipeline)
    result = search_with(app, projects, item, filters, pipeline, candidate_k)
    weights = Weights.sampled(app.assembly.catalog, filters.project_ids)
    text = item_text(item)
    vector = weights.vector(text)
    scored = [(cosine(vector, weights.vector(item_text(hit.document))), hit.document) for hit in result.hits]
    near = sorted((each for each in scored if each[0] >= threshold), key=lambda each: -each[0])[:top_k]
    alike = tuple(Alike(found, score, differences(text, item_text(found))) for score, found in near)
    return SimilarItems(item, threshold, alike, len(scored), pipeline, result.warnings)


def suggest_links(app: App, request: ItemRequest) -> LinkSuggestions:
    """Find items that an item should be linked to and is not. Raises InputError, NotFoundError.

    Without types in the request, those are searched that items of this type are linked with elsewhere in
    the projects; all types, when there are none.
    """
    projects, item = item_of(app, request)
    least, direction = request.checked_least(0.0), request.checked_direction()
    catalog = app.assembly.catalog
    filters = filters_for(request.asked(), [project.id for project in projects], catalog)
    rules = LinkRules.of(app.assembly.database, filters.project_ids)
    partners = tuple(rules.partners(item.type_id, direction))
    if direction and not partners:
        raise InputError(
            f"no {item.type_name} has a link {direction} here, so nothing says what to look for",
            "name an item type, without a direction",
        )
    if direction and filters.type_ids:
        partners = tuple(each for each in filters.type_ids if each in partners) or filters.type_ids
    filters = replace(filters, type_ids=partners if direction or not filters.type_ids else filters.type_ids)
    links = linked_with(app, item)
    pipeline = pipeline_for(app, "links", request.pipeline)
    top_k, candidate_k = app.depth(request.asked(), pipeline)
    result = search_with(app, projects, item, filters, pipeline, candidate_k + len(links))
    linked = {each.document.id for each in links if each.document}
    weights = Weights.sampled(catalog, filters.project_ids)
    found = (_suggestion(item, hit, weights, rules) for hit in result.hits if hit.document.id not in linked)
    shown = tuple(suggestion for suggestion in found if suggestion.score >= least)[:top_k]
    return LinkSuggestions(item, links, shown, pipeline, result.warnings)


def search_with(
    app: App, projects: Sequence[Project], item: Document, filters: Filters, pipeline: str, candidate_k: int
) -> SearchResult:
    """Search with an item's text; the item itself is dropped from the hits."""
    reach = candidate_k + 1
    result = app.answer(projects, Query(item_text(item), (), filters), pipeline, reach, reach)
    return replace(result, hits=tuple(hit for hit in result.hits if hit.document.id != item.id)[:candidate_k])


def item_of(app: App, request: ItemRequest) -> tuple[list[Project], Document]:
    """Find the projects and the item of a request. Raises InputError, NotFoundError."""
    projects = [app.synced_project(text, request.source) for text in request.projects]
    catalog, log = app.assembly.catalog, app.assembly.log
    note = "; ".join(note for project in projects if (note := unfinished(catalog, app.jobs, project)))
    item = find_item(catalog, log, request.item, projects, note)
    if not any(character.isalnum() for character in item_text(item)):
        raise InputError(f"item {request.item!r} has no word in its name and text", "there is nothing to compare")
    return projects, item


def pipeline_for(app: App, purpose: str, named: str = "") -> str:
    """Choose a pipeline: the one named, else the file's own that is called after the purpose, else the default."""
    own = purpose if purpose in app.config.pipelines else ""
    return named or own or app.pipeline_name.value


def linked_with(app: App, item: Document) -> tuple[Linked, ...]:
    """List the links that an item has."""
    links = links_of(app.assembly.database, item.id)
    ends = {link: link.to_id if link.from_id == item.id else link.from_id for link in links}
    documents = app.assembly.catalog.documents(list(ends.values()))
    return tuple(
        Linked(link, "downstream" if link.from_id == item.id else "upstream", documents.get(end))
        for link, end in ends.items()
    )


def _suggestion(item: Document, hit: Hit, weights: Weights, rules: LinkRules) -> Suggestion:
    one, other = item_text(item), item_text(hit.document)
    mine, yours = weights.vector(one), weights.vector(other)
    terms = shared_terms(mine, yours, SHOWN_TERMS)
    named = (hit.document.key,) if hit.strategy == "exact" else ()  # its key stands in the item's text
    direction, link_type = rules.expected(item.type_id, hit.document.type_id)
    here, there = agreeing_sentences(one, other, weights)
    return Suggestion(hit.document, cosine(mine, yours), direction, link_type, (*named, *terms), here, there)
