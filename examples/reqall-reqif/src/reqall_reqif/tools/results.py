"""What the browse tools return: plain objects whose fields explain themselves to a language model."""

from pydantic import BaseModel, ConfigDict, Field


class Result(BaseModel):
    """What every result has in common."""

    model_config = ConfigDict(frozen=True)


class Listing(Result):
    """One page of a list."""

    total: int = Field(description="In all")
    returned: int = Field(description="In this answer")
    cursor: str = Field(description="Next page; empty at the end")
    note: str = Field(description="Remark")


class SpecificationRow(Result):
    """One specification."""

    project_id: str = Field(description="Id, also for search and sync")
    key: str = Field(description="Key, else name")
    name: str = Field(description="Name")
    type: str = Field(description="Type")
    objects: int = Field(description="Number of objects")
    changed: str = Field(description="Last change, UTC")
    exported: str = Field(description="Time of the export, UTC")
    tool: str = Field(description="Tool it came from")
    file: str = Field(description="File")


class SpecificationList(Listing):
    """The specifications of all files."""

    specifications: list[SpecificationRow] = Field(description="In the order of the files")


class ObjectRow(Result):
    """One object in a list."""

    object_id: str = Field(description="Id")
    key: str = Field(description="Key")
    name: str = Field(description="Name")
    type: str = Field(description="Type")
    status: str = Field(description="Status, if any")
    modified: str = Field(description="Last change, UTC")
    children: int = Field(description="Objects right below")


class ObjectList(Listing):
    """Objects."""

    objects: list[ObjectRow] = Field(description="In reading order")


class SpecObjectDetail(ObjectRow):
    """One object with all that its file says of it."""

    identifier: str = Field(description="IDENTIFIER in the file")
    project_id: str = Field(description="Its specification")
    parent_id: str = Field(description="Object above it; empty at the top")
    path: list[str] = Field(description="Names of the objects above, outermost first")
    created: str = Field(description="Creation, UTC")
    sections: dict[str, str] = Field(description="Texts: description, rationale ...")
    fields: dict[str, str] = Field(description="Other attributes, as text")
    file: str = Field(description="File it was read from")
    truncated: bool = Field(description="Texts are cut")


class RelationRow(Result):
    """A relation, seen from one of its ends."""

    direction: str = Field(description="upstream or downstream: where the other object is")
    relation_type: str = Field(description="Such as satisfies")
    suspect: bool = Field(description="Marked as suspect")
    group: str = Field(description="Its group (DOORS: link module), if any")
    object_id: str = Field(description="Other object")
    key: str = Field(description="Its key")
    name: str = Field(description="Its name")
    type: str = Field(description="Its type")
    status: str = Field(description="Its status")
    project_id: str = Field(description="Its specification")


class RelationList(Listing):
    """The relations of an object."""

    relations: list[RelationRow] = Field(description="Upstream first")


class TypeRow(Result):
    """A type of objects."""

    type_id: str = Field(description="Id")
    name: str = Field(description="Name")
    objects: int = Field(description="Objects of this type")
    attributes: dict[str, str] = Field(description="Names of attributes, and their kinds")


class TypeList(Listing):
    """Types of objects."""

    types: list[TypeRow] = Field(description="By name")
