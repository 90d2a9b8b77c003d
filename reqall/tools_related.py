"""The tools for near-duplicates and missing trace links of an item; without MCP."""

from typing import Annotated, Literal

from pydantic import Field

from reqall.answers_related import LinksAnswer, SimilarAnswer, links_answer, similar_answer
from reqall.app import App
from reqall.core.present import shorten
from reqall.core.protocols import SourceTool
from reqall.core.request import ItemRequest
from reqall.related import THRESHOLD, similar, suggest_links
from reqall.tools_sync import Id

ProjectId = Annotated[Id, Field(description="Project id, key or name; several divided by commas")]
ItemId = Annotated[Id, Field(description="Item id or document key")]
ItemType = Annotated[str, Field(description="Only items of this type, by name")]
TopK = Annotated[int, Field(description="1 to 50")]

TOLD_CHARACTERS = 200
"""How much of a sentence stands in the text answer."""


def related_tools(app: App, source: str) -> list[SourceTool]:
    """List the tools for one configured source."""
    return [_similar(app, source), _links(app, source)]


def _similar(app: App, source: str) -> SourceTool:
    def call(
        project_id: ProjectId,
        item_id: ItemId,
        item_type: ItemType = "",
        threshold: Annotated[float, Field(description="Lowest score shown, 0 to 1")] = THRESHOLD,
        top_k: TopK = 10,
    ) -> SimilarAnswer:
        request = ItemRequest(
            _parts(project_id), item_id, _given(item_type), least=threshold, top_k=top_k, source=source
        )
        return similar_answer(similar(app, request))

    return SourceTool(
        f"find_similar_{source}_items",
        f"Near-duplicates of a {source} item",
        "Find items that say nearly the same as an item, with what differs: copies, variants, contradicting numbers."
        f" Score 1 = the same words, 0 = none in common; try threshold 0.5 when {THRESHOLD} finds nothing.",
        call,
        _told_similar,
        "search",
    )


def _links(app: App, source: str) -> SourceTool:
    def call(
        project_id: ProjectId,
        item_id: ItemId,
        item_type: ItemType = "",
        direction: Annotated[
            Literal["", "upstream", "downstream"], Field(description="Only such links, as the project links its types")
        ] = "",
        top_k: TopK = 10,
    ) -> LinksAnswer:
        request = ItemRequest(
            _parts(project_id), item_id, _given(item_type), direction=direction, top_k=top_k, source=source
        )
        return links_answer(suggest_links(app, request))

    return SourceTool(
        f"suggest_{source}_links",
        f"Missing trace links of a {source} item",
        "Suggest items that an item should be linked to and is not, e.g. test cases that verify a requirement, with"
        " evidence, beside the links it has. Without item_type: types that items of its kind are linked with. They are"
        " candidates: judge each by its text.",
        call,
        _told_links,
        "search",
    )


def _told_similar(answer: SimilarAnswer) -> str:
    lines = [f"{len(answer.results)} items at {answer.threshold:g} or more like {answer.item} {answer.name}"]
    for found in answer.results:
        lines.append(f"{found.score:.2f} | {_named(found.document_key, found.document_id)} | {found.name}")
        lines += [f"    {shorten('; '.join(found.differences) or 'the same text', TOLD_CHARACTERS)}"]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in answer.warnings)])


def _told_links(answer: LinksAnswer) -> str:
    lines = [f"{answer.item} {answer.name} has {len(answer.existing_links)} links", *answer.existing_links]
    lines.append(f"{len(answer.results)} suggested:")
    for found in answer.results:
        facts = (_named(found.document_key, found.document_id), found.item_type_name, found.name)
        way = " ".join(filter(None, (found.direction, found.link_type)))
        lines.append(" | ".join(filter(None, (f"{found.score:.2f}", *facts, way))))
        lines.append(f"    {shorten(found.there, TOLD_CHARACTERS)} [{', '.join(found.shared_words)}]")
    return "\n".join([*lines, *(f"warning: {warning}" for warning in answer.warnings)])


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _given(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _named(key: str, document_id: str) -> str:
    return key or document_id
