"""The shapes in which near-duplicates and trace links leave reqall; flat, for language models to read.

As in `answers`: a field is added, never renamed or removed within a minor version.
"""

from typing import Any

from pydantic import BaseModel, Field

from reqall.core.types import Document, native_id
from reqall.duplicates import Duplicates
from reqall.missing_links import MissingLinks
from reqall.related import Linked, LinkSuggestions, SimilarItems


class SimilarItem(BaseModel):
    """A near-duplicate."""

    document_key: str
    document_id: str
    name: str
    item_type_name: str
    path: str
    score: float
    differences: list[str] = Field(description="This item's words -> the other's; - only here, + only there")


class SimilarAnswer(BaseModel):
    """Near-duplicates, most alike first."""

    item: str
    name: str
    threshold: float
    results: list[SimilarItem]
    compared: int
    pipeline: str
    warnings: list[str]


class SuggestedLink(BaseModel):
    """An item to link to, and why."""

    document_key: str
    document_id: str
    name: str
    item_type_name: str
    path: str
    direction: str = Field(description="As the project links these types, seen from the item; may be empty")
    link_type: str
    score: float = Field(description="0 to 1, likeness of the words; the order is the search's")
    shared_words: list[str]
    here: str = Field(description="Sentence of the item that agrees best")
    there: str


class LinksAnswer(BaseModel):
    """Missing links, best first; existing ones are left out of them."""

    item: str
    name: str
    existing_links: list[str]
    results: list[SuggestedLink]
    pipeline: str
    warnings: list[str]


def similar_answer(found: SimilarItems) -> SimilarAnswer:
    """Show the near-duplicates of an item."""
    return SimilarAnswer(
        item=_key(found.item),
        name=found.item.name,
        threshold=found.threshold,
        results=[
            SimilarItem(**_item(each.document), score=round(each.score, 3), differences=list(each.differences))
            for each in found.items
        ],
        compared=found.compared,
        pipeline=found.pipeline,
        warnings=list(found.warnings),
    )


def links_answer(found: LinkSuggestions) -> LinksAnswer:
    """Show the missing links of an item."""
    return LinksAnswer(
        item=_key(found.item),
        name=found.item.name,
        existing_links=[_told(each) for each in found.links],
        results=[
            SuggestedLink(
                **_item(each.document),
                direction=each.direction,
                link_type=each.link_type,
                score=round(each.score, 3),
                shared_words=list(each.terms),
                here=each.here,
                there=each.there,
            )
            for each in found.items
        ],
        pipeline=found.pipeline,
        warnings=list(found.warnings),
    )


def duplicates_record(found: Duplicates) -> dict[str, Any]:
    """Show the near-duplicates of a project."""
    return {
        "threshold": found.threshold,
        "pairs": [
            {
                "first": _key(pair.first),
                "second": _key(pair.second),
                "names": [pair.first.name, pair.second.name],
                "item_type_names": [pair.first.type_name, pair.second.type_name],
                "score": round(pair.score, 3),
                "differences": list(pair.differences),
            }
            for pair in found.pairs
        ],
        "total": found.found,
        "compared": found.compared,
        "warnings": list(found.warnings),
    }


def missing_links_record(found: MissingLinks) -> dict[str, Any]:
    """Show the missing links of a project."""
    return {
        "threshold": found.threshold,
        "pairs": [
            {
                "from": _key(pair.first),
                "to": _key(pair.second),
                "names": [pair.first.name, pair.second.name],
                "score": round(pair.score, 3),
                "direction": pair.direction,
                "link_type": pair.link_type,
                "shared_words": list(pair.terms),
                "links_of_from": pair.links,
            }
            for pair in found.pairs
        ],
        "total": found.total,
        "asked": found.asked,
        "from_without_links": list(found.from_without_links),
        "to_without_links": list(found.to_without_links),
        "known_links": found.known,
        "known_links_found": found.found,
        "pipeline": found.pipeline,
        "warnings": list(found.warnings),
    }


def _item(document: Document) -> dict[str, Any]:
    return {
        "document_key": document.key,
        "document_id": native_id(document.id),
        "name": document.name,
        "item_type_name": document.type_name,
        "path": " > ".join(document.path),
    }


def _key(document: Document) -> str:
    return document.key or native_id(document.id)


def _told(linked: Linked) -> str:
    end = linked.link.to_id if linked.direction == "downstream" else linked.link.from_id
    named = f"{_key(linked.document)} {linked.document.name}" if linked.document else native_id(end)
    suspect = ", suspect" if linked.link.suspect else ""
    return f"{named} ({linked.direction}, {linked.link.type}{suspect})"
