"""The native tools of a Jama source: they ask Jama itself and need no index."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from reqall import JsonValue, SourceTool, native_id
from reqall.plugins.sources.jama.items import iso
from reqall.plugins.sources.jama.lookup import find_item
from reqall.plugins.sources.jama.metadata import MetadataQuery, item_row, query_metadata
from reqall.plugins.sources.jama.results import Item, ItemList, ProjectList, ProjectRow
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


def native_tools(source: JamaSource) -> list[SourceTool]:
    """Return the tools; their names carry the source's name."""
    return [_list_projects(source), _get_item(source), _query_metadata(source)]


def _list_projects(source: JamaSource) -> SourceTool:
    def call() -> ProjectList:
        projects = sorted(source.projects(), key=lambda project: (project.name.casefold(), project.id))
        rows = [ProjectRow(project_id=native_id(each.id), key=each.key, name=each.name) for each in projects]
        return ProjectList(projects=rows, total=len(rows))

    def summary(result: ProjectList) -> str:
        return f"{result.total} projects"

    return SourceTool(
        name=f"list_{source.name}_projects",
        title="List projects",
        description=(
            "List the projects that you may see, with id, key and name. Call it first when you do not know the id "
            "of a project that another tool asks for."
        ),
        call=call,
        summary=summary,
    )


def _get_item(source: JamaSource) -> SourceTool:
    def call(item_id: ItemId) -> Item:
        row, reader = find_item(source, item_id), source.reader
        document = reader.document(row, f"{source.name}:{row.get('project')}")
        return Item(
            **item_row(reader, row).model_dump(),
            type_id=document.type_id,
            project_id=native_id(document.project_id),
            parent_id=native_id(document.parent_id or ""),
            created=iso(document.created),
            sections=dict(document.sections),
            fields={name: _text(value) for name, value in document.fields.items()},
        )

    def summary(result: Item) -> str:
        return f"{result.key} {result.name} ({', '.join(filter(None, (result.type, result.status)))})"

    return SourceTool(
        name=f"get_{source.name}_item",
        title="Get an item",
        description=(
            "Read one item in full, as it is now: all texts and fields. Use it when you know the id or the document "
            f"key; to find items by what they are about use search_{source.name}_semantics. "
            'Example: {"item_id": "SA-REQ-20"}'
        ),
        call=call,
        summary=summary,
    )


def _query_metadata(source: JamaSource) -> SourceTool:
    def call(
        project_id: ProjectId,
        *,
        document_key: DocumentKey = "",
        item_type: ItemTypeName = "",
        status: Status = "",
        keyword: Keyword = "",
        max_results: MaxResults = 50,
    ) -> ItemList:
        query = MetadataQuery(project_id, document_key, item_type, status, keyword, max_results)
        return query_metadata(source, query)

    def summary(result: ItemList) -> str:
        return f"{result.returned} of {result.total} items. {result.note}".rstrip()

    return SourceTool(
        name=f"query_{source.name}_native_metadata",
        title="Query items by metadata",
        description=(
            "List items of one project by exact conditions, asked live: document key, item type, status, and a "
            "keyword that is matched literally. Conditions are combined with and. Use it for complete lists and "
            f"counts; for questions in your own words use search_{source.name}_semantics. "
            'Example: {"project_id": "SA", "item_type": "Test Case", "status": "Approved"}'
        ),
        call=call,
        summary=summary,
        toolset="search",
    )


def _text(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
