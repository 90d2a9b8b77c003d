"""The tools that read one item and what hangs on it."""

from reqall import SourceTool
from reqall.plugins.sources.jama.tools.arguments import ItemId, NextPage
from reqall.plugins.sources.jama.tools.results import (
    AttachmentList,
    CommentList,
    Item,
    ItemLinkList,
    ItemList,
    SyncedList,
    VersionList,
)
from reqall.plugins.sources.jama.tools.telling import BuildSource, told, told_item


def item_tools(name: str, source: BuildSource) -> list[SourceTool]:
    """Return the tools about one item."""
    tools = (_item, _children, _relationships, _comments, _attachments, _versions, _synchronized)
    return [tool(name, source) for tool in tools]


def _item(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId) -> Item:
        from reqall.plugins.sources.jama.tools.browse import get_item

        return get_item(source(), item_id)

    return SourceTool(
        name=f"get_{name}_item",
        title="Get an item",
        description=(
            "Read one item in full, as it is now: all texts and fields. Use it when you know the id or the document "
            f"key; to find items by what they are about use search_{name}_semantics. "
            'Example: {"item_id": "SA-REQ-20"}'
        ),
        call=call,
        summary=told_item,
        lean=True,
    )


def _children(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, cursor: NextPage = "") -> ItemList:
        from reqall.plugins.sources.jama.tools.browse_items import list_children

        return list_children(source(), item_id, cursor)

    return SourceTool(
        name=f"get_{name}_item_children",
        title="Children of an item",
        description=(
            "List the items right below a component, set, folder or item, in order. "
            f'The top of a project: query_{name}_endpoint with /items and rootOnly. Example: {{"item_id": "SA-SET-1"}}'
        ),
        call=call,
        summary=told,
        lean=True,
    )


def _relationships(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, cursor: NextPage = "") -> ItemLinkList:
        from reqall.plugins.sources.jama.tools.browse_links import list_item_links

        return list_item_links(source(), item_id, cursor)

    return SourceTool(
        name=f"get_{name}_item_relationships",
        title="Relationships of an item",
        description=(
            "Trace one item: its upstream and downstream relationships with type, suspect flag and the item at the "
            'other end. Example: {"item_id": "SA-REQ-20"}'
        ),
        call=call,
        summary=told,
        lean=True,
    )


def _comments(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, cursor: NextPage = "") -> CommentList:
        from reqall.plugins.sources.jama.tools.browse_items import list_comments

        return list_comments(source(), item_id, cursor)

    return SourceTool(
        name=f"get_{name}_item_comments",
        title="Comments on an item",
        description='Read the discussion of one item, replies below comments. Example: {"item_id": "SA-REQ-20"}',
        call=call,
        summary=told,
    )


def _attachments(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, cursor: NextPage = "") -> AttachmentList:
        from reqall.plugins.sources.jama.tools.browse_items import list_attachments

        return list_attachments(source(), item_id, cursor)

    return SourceTool(
        name=f"get_{name}_item_attachments",
        title="Attachments of an item",
        description='List the files attached to one item; not their content. Example: {"item_id": "SA-REQ-20"}',
        call=call,
        summary=told,
    )


def _versions(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, cursor: NextPage = "") -> VersionList:
        from reqall.plugins.sources.jama.tools.browse_items import list_versions

        return list_versions(source(), item_id, cursor)

    return SourceTool(
        name=f"get_{name}_item_versions",
        title="Versions of an item",
        description=(
            "List who changed one item, when and why. A version's text: "
            f'query_{name}_endpoint, /items/{{id}}/versions/{{n}}/versioneditem. Example: {{"item_id": "SA-REQ-20"}}'
        ),
        call=call,
        summary=told,
    )


def _synchronized(name: str, source: BuildSource) -> SourceTool:
    def call(item_id: ItemId, *, cursor: NextPage = "") -> SyncedList:
        from reqall.plugins.sources.jama.tools.browse_items import list_synced

        return list_synced(source(), item_id, cursor)

    return SourceTool(
        name=f"get_{name}_synchronized_items",
        title="Synchronized copies",
        description=(
            "List the reused copies of one item in this and other projects, and whether each is in sync. "
            'Example: {"item_id": "SA-REQ-20"}'
        ),
        call=call,
        summary=told,
    )
