"""The native tools of a Jama source: they ask Jama itself and need no index.

They are listed before any source is built, so what asks Jama is imported with the first call.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from reqall import SourceTool
from reqall.plugins.sources.jama.results import Item, ItemList, ProjectList

if TYPE_CHECKING:
    from reqall.plugins.sources.jama.source import JamaSource


def _as_text(value: object) -> str:
    """Accept an id as number or text, and null for what is left out."""
    return "" if value is None else str(value)


_Text = BeforeValidator(_as_text)

ProjectId = Annotated[str, _Text, Field(description="Id, key or name of the project: 53, SA or Smart Alarm")]
ItemId = Annotated[str, _Text, Field(description="Id or document key of the item: 9608 or SA-REQ-20")]
DocumentKey = Annotated[str, _Text, Field(description="Exact document key, such as SA-TC-7; empty for any")]
ItemTypeName = Annotated[str, _Text, Field(description="Name or id of an item type, such as Test Case; empty for any")]
Status = Annotated[str, _Text, Field(description="Status as shown in Jama, such as Approved; empty for any")]
Keyword = Annotated[str, _Text, Field(description="Word or literal phrase that the item contains; empty for any")]
MaxResults = Annotated[int, Field(ge=1, le=200, description="How many items to return at most")]


def native_tools(name: str, source: "Callable[[], JamaSource]") -> list[SourceTool]:
    """Return the tools of the source with this configured name; `source` builds it when one is called."""
    return [_list_projects(name, source), _get_item(name, source), _query_metadata(name, source)]


def _list_projects(name: str, source: "Callable[[], JamaSource]") -> SourceTool:
    def call() -> ProjectList:
        from reqall.plugins.sources.jama.browse import list_projects

        return list_projects(source())

    def summary(result: ProjectList) -> str:
        return f"{result.total} projects"

    return SourceTool(
        name=f"list_{name}_projects",
        title="List projects",
        description=(
            "List the projects that you may see, with id, key and name. Call it first when you do not know the id "
            "of a project that another tool asks for."
        ),
        call=call,
        summary=summary,
    )


def _get_item(name: str, source: "Callable[[], JamaSource]") -> SourceTool:
    def call(item_id: ItemId) -> Item:
        from reqall.plugins.sources.jama.browse import get_item

        return get_item(source(), item_id)

    def summary(result: Item) -> str:
        return f"{result.key} {result.name} ({', '.join(filter(None, (result.type, result.status)))})"

    return SourceTool(
        name=f"get_{name}_item",
        title="Get an item",
        description=(
            "Read one item in full, as it is now: all texts and fields. Use it when you know the id or the document "
            f"key; to find items by what they are about use search_{name}_semantics. "
            'Example: {"item_id": "SA-REQ-20"}'
        ),
        call=call,
        summary=summary,
    )


def _query_metadata(name: str, source: "Callable[[], JamaSource]") -> SourceTool:
    def call(
        project_id: ProjectId,
        *,
        document_key: DocumentKey = "",
        item_type: ItemTypeName = "",
        status: Status = "",
        keyword: Keyword = "",
        max_results: MaxResults = 50,
    ) -> ItemList:
        from reqall.plugins.sources.jama.metadata import MetadataQuery, query_metadata

        query = MetadataQuery(project_id, document_key, item_type, status, keyword, max_results)
        return query_metadata(source(), query)

    def summary(result: ItemList) -> str:
        return f"{result.returned} of {result.total} items. {result.note}".rstrip()

    return SourceTool(
        name=f"query_{name}_native_metadata",
        title="Query items by metadata",
        description=(
            "List items of one project by exact conditions, asked live: document key, item type, status, and a "
            "keyword that is matched literally. Conditions are combined with and. Use it for complete lists and "
            f"counts; for questions in your own words use search_{name}_semantics. "
            'Example: {"project_id": "SA", "item_type": "Test Case", "status": "Approved"}'
        ),
        call=call,
        summary=summary,
        toolset="search",
    )
