"""What the native tools return: plain objects whose fields explain themselves to a language model."""

from pydantic import BaseModel, ConfigDict, Field


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProjectRow(_Result):
    """One project."""

    project_id: str = Field(description="Id of the project, to be passed to other tools")
    key: str = Field(description="Short key of the project; empty when it has none")
    name: str = Field(description="Name of the project")


class ProjectList(_Result):
    """The projects that the user may see."""

    projects: list[ProjectRow] = Field(description="Projects, sorted by name; folders of projects are left out")
    total: int = Field(description="How many projects there are")


class ItemRow(_Result):
    """One item in a list."""

    item_id: str = Field(description="Id of the item, to be passed to other tools")
    key: str = Field(description="Document key, such as SA-TC-7")
    name: str = Field(description="Name of the item")
    type: str = Field(description="Item type, such as Requirement")
    status: str = Field(description="Status as text; empty when the item has none")
    modified: str = Field(description="When it was last changed, ISO 8601 in UTC")
    url: str = Field(description="Address at which a browser shows the item")


class ItemList(_Result):
    """The items that match a query."""

    project_id: str = Field(description="Id of the project that was asked")
    items: list[ItemRow] = Field(description="Matching items, in the order of the project's tree")
    total: int = Field(description="How many items match; see `note` when the count is not complete")
    returned: int = Field(description="How many of them are in `items`")
    truncated: bool = Field(description="Whether there are, or may be, more matches than returned")
    note: str = Field(description="What to know about this answer; empty when there is nothing to say")


class Item(ItemRow):
    """One item with all that Jama holds of it."""

    type_id: str = Field(description="Id of the item type")
    project_id: str = Field(description="Id of the project that holds the item")
    parent_id: str = Field(description="Id of the parent item; empty at the top of a project")
    created: str = Field(description="When it was created, ISO 8601 in UTC")
    sections: dict[str, str] = Field(description="Texts of the item by name, such as description and test_steps")
    fields: dict[str, str] = Field(description="All other fields by name, ids resolved to text")
