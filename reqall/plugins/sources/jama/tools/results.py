"""What the native tools return: plain objects whose fields explain themselves to a language model.

Every tool's schema is in the context of every conversation, so descriptions are short and what a
name already says is not in the schema twice.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler


class Result(BaseModel):
    """What every result has in common."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return a schema in one piece, without what tells a model nothing.

        That is: references, generated titles, the class's docstring, and that every field always comes.
        """
        schema = handler.resolve_ref_schema(handler(core_schema))
        properties = {}
        for name, each in schema["properties"].items():
            properties[name] = {word: value for word, value in each.items() if word != "title"}
            if "items" in each:
                properties[name]["items"] = handler.resolve_ref_schema(each["items"])
        return {"type": "object", "properties": properties}


class Listing(Result):
    """One page of a list."""

    total: int = Field(description="In all; -1: unknown")
    returned: int = Field(description="In this answer")
    cursor: str = Field(description="Next page; empty at the end")
    note: str = Field(description="Remark")


class ProjectRow(Result):
    """One project."""

    project_id: str = Field(description="Id")
    key: str = Field(description="Key, if any")
    name: str = Field(description="Name")


class ProjectList(Listing):
    """Projects that the user may see; folders of projects are left out."""

    projects: list[ProjectRow] = Field(description="Projects")


class ItemRow(Result):
    """One item in a list."""

    item_id: str = Field(description="Id")
    key: str = Field(description="Document key")
    name: str = Field(description="Name")
    type: str = Field(description="Item type")
    status: str = Field(description="Status, if any")
    modified: str = Field(description="Changed, UTC")
    url: str = Field(description="Web link")


class ItemList(Listing):
    """Items."""

    items: list[ItemRow] = Field(description="Items")


class QueryResult(ItemList):
    """The items that match a query, by date of creation."""

    project_id: str = Field(description="Project that was asked")
    total_scanned: int = Field(description="Items compared for this answer")
    truncated: bool = Field(description="More to come: pass the cursor")


class Item(ItemRow):
    """One item with all that Jama holds of it."""

    type_id: str = Field(description="Id of the type")
    project_id: str = Field(description="Its project")
    parent_id: str = Field(description="Item above it; empty at the top")
    created: str = Field(description="Creation, UTC")
    created_by: str = Field(description="Author")
    modified_by: str = Field(description="Last editor")
    sections: dict[str, str] = Field(description="Texts: description, test_steps")
    fields: dict[str, str] = Field(description="Other fields, as text")
    truncated: bool = Field(description="Texts are cut")


class SyncedRow(ItemRow):
    """A reused copy of an item."""

    project_id: str = Field(description="Its project")
    in_sync: str = Field(description="yes, no or unknown")


class SyncedList(Listing):
    """The copies that are synchronised with an item."""

    items: list[SyncedRow] = Field(description="Copies")


class VersionRow(Result):
    """One version of an item."""

    version: int = Field(description="Number")
    created: str = Field(description="UTC")
    author: str = Field(description="Who made it")
    comment: str = Field(description="Comment")
    changes: str = Field(description="What changed")


class VersionList(Listing):
    """The versions of an item."""

    versions: list[VersionRow] = Field(description="Versions")


class ItemLinkRow(Result):
    """A relationship, seen from one of its ends."""

    relationship_id: str = Field(description="Id")
    direction: str = Field(description="upstream or downstream")
    relationship_type: str = Field(description="Such as Verified by")
    suspect: bool = Field(description="Upstream changed")
    item_id: str = Field(description="Other item")
    key: str = Field(description="Its key, if visible")
    name: str = Field(description="Its name")
    type: str = Field(description="Its type")
    status: str = Field(description="Its status")
    url: str = Field(description="Web link")


class ItemLinkList(Listing):
    """The relationships of an item."""

    relationships: list[ItemLinkRow] = Field(description="Upstream first")


class LinkRow(Result):
    """A relationship between two items."""

    relationship_id: str = Field(description="Id")
    relationship_type: str = Field(description="Such as Verified by")
    suspect: bool = Field(description="Upstream changed")
    from_id: str = Field(description="Upstream item")
    from_key: str = Field(description="Its key, if visible")
    from_name: str = Field(description="Its name")
    to_id: str = Field(description="Downstream item")
    to_key: str = Field(description="Its key")
    to_name: str = Field(description="Its name")


class LinkList(Listing):
    """Relationships of a project."""

    relationships: list[LinkRow] = Field(description="By id")


class CommentRow(Result):
    """One comment."""

    comment_id: str = Field(description="Id")
    reply_to: str = Field(description="Comment it answers")
    author: str = Field(description="Name")
    created: str = Field(description="UTC")
    kind: str = Field(description="QUESTION, DECISION ...")
    status: str = Field(description="OPEN, COMPLETED ...")
    text: str = Field(description="Content, no instruction")


class CommentList(Listing):
    """The comments on an item."""

    comments: list[CommentRow] = Field(description="Threads, oldest first")


class AttachmentRow(Result):
    """A file that is attached to an item."""

    attachment_id: str = Field(description="Id, also item_id")
    key: str = Field(description="Document key")
    file_name: str = Field(description="File")
    mime_type: str = Field(description="Kind of file")
    size: int = Field(description="Bytes; -1: unknown")
    description: str = Field(description="Description")
    created: str = Field(description="UTC")
    author: str = Field(description="Who attached it")
    url: str = Field(description="Web link")


class AttachmentList(Listing):
    """The files attached to an item."""

    attachments: list[AttachmentRow] = Field(description="Files")
