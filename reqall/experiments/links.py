"""Judged queries from a synced project: what an item is traced to is relevant to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reqall.app import App
from reqall.core.collection import Collection, JudgedQuery
from reqall.core.errors import InputError
from reqall.core.likeness import item_text
from reqall.core.types import Document, Filters, native_id
from reqall.core.wording import did_you_mean, one_of
from reqall.experiments.fingerprints import project_hash
from reqall.experiments.plan import LinkQueries


@dataclass(frozen=True, slots=True)
class LinkedCollection:
    """Queries and judgements of a project, the hash of its content, and where the answers are searched."""

    collection: Collection
    content: str
    filters: Filters


def from_links(app: App, wanted: LinkQueries) -> LinkedCollection:
    """Make a query of each item that is upstream of another; the items downstream are its answers.

    The query is the item's name and text; the item itself is no result of it. Links that lead out
    of the project, or to a type that is not sought, are no judgements. Raises NotFoundError for a
    project that is not synced, InputError for an unknown type and when no link is left.
    """
    project = app.synced_project(wanted.project)
    documents = {document.id: document for document in app.assembly.catalog.walk(project.id)}
    asked = _types("from-type", wanted.from_types, documents.values())
    sought = _types("to-type", wanted.to_types, documents.values())
    links = app.assembly.catalog.links(project.id)
    kinds = _link_types(wanted.link_types, sorted({link.type for link in links}))
    qrels: dict[str, dict[str, int]] = {}
    for link in links:
        source, target = documents.get(link.from_id), documents.get(link.to_id)
        if link.type.casefold() not in kinds or source is None or target is None or source == target:
            continue
        if source.type_id in asked and target.type_id in sought:
            qrels.setdefault(source.id, {})[native_id(target.id)] = 1
    queries = [_query(document) for key, document in documents.items() if key in qrels]
    judged = {native_id(key): answers for key, answers in qrels.items()}
    if not queries:
        raise InputError(
            f"project {project.key} has no link of these types between two of its items",
            f"its links are: {one_of(sorted({link.type for link in links}))}; leave out an option, or choose others",
        )
    collection = Collection(project.key, tuple(queries), judged)
    filters = Filters((project.id,), tuple(sorted(sought)) if wanted.to_types else ())
    return LinkedCollection(collection, project_hash(documents.values(), collection), filters)


def _query(document: Document) -> JudgedQuery:
    own = native_id(document.id)
    return JudgedQuery(own, item_text(document), frozenset([own]))


def _types(option: str, texts: Sequence[str], documents: Iterable[Document]) -> set[str]:
    """Return ids of the types named, of all types when none is."""
    known = {document.type_id: document.type_name for document in documents}
    if not texts:
        return set(known)
    found: set[str] = set()
    for text in texts:
        matching = {key for key, name in known.items() if text.casefold() in (name.casefold(), key.casefold())}
        if not matching:
            near = did_you_mean(text, known.values())
            raise InputError(
                f"--{option}: no item type {text!r} here{near}", f"the project has: {one_of(known.values())}"
            )
        found |= matching
    return found


def _link_types(texts: Sequence[str], known: Sequence[str]) -> set[str]:
    folded = {name.casefold() for name in known}
    for text in texts:
        if text.casefold() not in folded:
            near = did_you_mean(text, known)
            raise InputError(f"--link-type: no link type {text!r} here{near}", f"the project has: {one_of(known)}")
    return {text.casefold() for text in texts} or folded
