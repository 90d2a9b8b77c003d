"""The tools of a folder for language models; they read the folder as it is, synced or not."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from reqall import SourceTool
from reqall.plugins.sources.folder.results import (
    FileList,
    FileRow,
    FolderItem,
    FolderItemList,
    FolderItemRow,
    FolderLinkList,
    FolderLinkRow,
    FolderListing,
    FolderProjects,
)

BuildSource: TypeAlias = Callable[[], Any]

_Text = BeforeValidator(lambda value: "" if value is None else str(value))

ItemId = Annotated[str, _Text, Field(description="Id or key of an item, such as REQ-12 or docs/brakes.md")]
ParentId = Annotated[str, _Text, Field(description="Id or key; empty: the top of the folder")]
Folder = Annotated[str, _Text, Field(description="A folder within the folder; empty: all")]
Offset = Annotated[int, Field(description="next_offset of the last answer")]


def folder_tools(name: str, source: BuildSource) -> list[SourceTool]:
    """Return the tools of one configured source."""
    return [tool(name, source) for tool in (_projects, _files, _item, _children, _relations)]


def _projects(name: str, source: BuildSource) -> SourceTool:
    def call() -> FolderProjects:
        from reqall.plugins.sources.folder.browse import list_projects

        return list_projects(source())

    return SourceTool(
        name=f"list_{name}_projects",
        title="The folder as a project",
        description="Tell the project that the folder is, and which of its files cannot be read.",
        call=call,
        summary=_told_projects,
    )


def _files(name: str, source: BuildSource) -> SourceTool:
    def call(*, folder: Folder = "", offset: Offset = 0) -> FileList:
        from reqall.plugins.sources.folder.browse import list_files

        return list_files(source(), folder, offset)

    return SourceTool(
        name=f"list_{name}_files",
        title="Files of the folder",
        description='List the files that items are read from. Example: {"folder": "docs/requirements"}',
        call=call,
        summary=_told,
    )


def _item(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId) -> FolderItem:
        from reqall.plugins.sources.folder.browse import get_item

        return get_item(source(), item_id)

    return SourceTool(
        name=f"get_{name}_item",
        title="Get an item",
        description=(
            "Read one item in full, as its file has it now. To find items by what they are about use "
            f'search_{name}_semantics. Example: {{"item_id": "REQ-12"}}'
        ),
        call=call,
        summary=_told_item,
    )


def _children(name: str, source: BuildSource) -> SourceTool:
    def call(*, item_id: ParentId = "", offset: Offset = 0) -> FolderItemList:
        from reqall.plugins.sources.folder.browse import list_children

        return list_children(source(), item_id, offset)

    return SourceTool(
        name=f"get_{name}_item_children",
        title="Children of an item",
        description='List the items right below a folder, file, section or item. Example: {"item_id": "docs"}',
        call=call,
        summary=_told,
    )


def _relations(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, offset: Offset = 0) -> FolderLinkList:
        from reqall.plugins.sources.folder.browse import list_relations

        return list_relations(source(), item_id, offset)

    return SourceTool(
        name=f"get_{name}_item_relations",
        title="Links of an item",
        description=(
            "Trace one item: its upstream and downstream links and the items at their other ends. "
            'Example: {"item_id": "REQ-12"}'
        ),
        call=call,
        summary=_told,
    )


def _told(answer: FolderListing) -> str:
    """Return the count and a line for each row: many hosts show a language model only this text."""
    rows = next(value for _, value in answer if isinstance(value, list))
    more = f" (go on with offset {answer.next_offset})" if answer.next_offset >= 0 else ""
    return "\n".join([f"{answer.returned} of {answer.total}{more}", *map(_line, rows)])


def _line(row: FileRow | FolderItemRow | FolderLinkRow) -> str:
    if isinstance(row, FileRow):
        return f"{row.path} | {row.documents}"
    if isinstance(row, FolderLinkRow):
        return f"{row.direction} | {row.type} | {_line(row.item)}"
    return " | ".join(filter(None, (row.key, row.type, row.status, row.name)))


def _told_projects(answer: FolderProjects) -> str:
    return "; ".join(f"{project.name}: {project.documents} documents" for project in answer.projects)


def _told_item(answer: FolderItem) -> str:
    return f"{_line(answer)} ({answer.place})"
