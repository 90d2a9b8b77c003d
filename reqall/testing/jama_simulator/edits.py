"""Edits of the world as JSON says them: what a rehearsal sends to the control API."""

from abc import abstractmethod
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from reqall.testing.jama_simulator.world import World

Reference = Annotated[int | str, Field(description="An item's id or its document key")]
Outcome = dict[str, Any]


class EditError(ValueError):
    """An edit that the world does not allow; the message says why."""


class Edit(BaseModel):
    """One edit; `do` names it."""

    model_config = ConfigDict(extra="forbid")

    @abstractmethod
    def apply(self, world: World) -> Outcome:
        """Make the edit and return what it touched. Raises EditError."""


class Add(Edit):
    """Add an item in the project file's shape; key, dates and id may be left out."""

    do: Literal["add"]
    item: dict[str, Any] = Field(description="itemType, parent ({item} or {project}), fields ...")
    position: int | None = Field(default=None, ge=0, description="Among its siblings; the last one by default")

    def apply(self, world: World) -> Outcome:
        """Add the item."""
        parent = self.item.get("parent")
        if not isinstance(parent, dict) or "itemType" not in self.item:
            raise EditError("a new item needs itemType and parent")
        if not isinstance(self.item.get("fields", {}), dict):
            raise EditError("the fields of a new item have to be an object")
        if "item" in parent:
            item: dict[str, Any] = {**self.item, "parent": {"item": identify(world, parent["item"])}}
        elif world.find("projects", parent.get("project", 0)) is not None:
            item = {"project": parent["project"], **self.item}
        else:
            raise EditError(f"there is no project {parent.get('project')!r}")
        if world.find("itemtypes", item["itemType"]) is None:
            raise EditError(f"there is no item type {item['itemType']!r}")
        identifier = world.add(item, self.position)
        return {"id": identifier, "documentKey": world.items[identifier]["documentKey"]}


class Change(Edit):
    """Set fields of an item; null removes one."""

    do: Literal["edit"]
    item: Reference
    fields: dict[str, Any] = Field(min_length=1, description="Field names and their values as Jama keeps them")

    def apply(self, world: World) -> Outcome:
        """Set the fields."""
        identifier = identify(world, self.item)
        world.edit(identifier, **self.fields)
        return {"id": identifier, "version": world.versions.current(world.items[identifier])}


class Delete(Edit):
    """Delete items with all below them; several at once leave one batch event."""

    do: Literal["delete"]
    item: Reference | list[Reference]

    def apply(self, world: World) -> Outcome:
        """Delete the items."""
        chosen = self.item if isinstance(self.item, list) else [self.item]
        identifiers = [identify(world, one) for one in chosen]
        if not identifiers or any(set(world.with_descendants(one)[1:]) & {*identifiers} for one in identifiers):
            raise EditError("name at least one item, and none that lies below another one of them")
        world.delete(*dict.fromkeys(identifiers))
        return {"id": identifiers}


class Vanish(Edit):
    """Take an item away without a delete event, as a lost permission does."""

    do: Literal["vanish"]
    item: Reference

    def apply(self, world: World) -> Outcome:
        """Take the item away."""
        identifier = identify(world, self.item)
        world.vanish(identifier)
        return {"id": identifier}


class Restore(Edit):
    """Bring back what one deletion took away."""

    do: Literal["restore"]
    item: Reference
    move_dates: bool = Field(default=True, description="Whether the dates of the restored items move")

    def apply(self, world: World) -> Outcome:
        """Restore the item with all that went with it."""
        identifier = identify(world, self.item, deleted=True)
        if not world.can_restore(identifier):
            raise EditError(f"item {self.item!r} went with the item above it: restore that one")
        world.restore(identifier, move_dates=self.move_dates)
        return {"id": identifier}


class Move(Edit):
    """Move an item below another one or to the root of a project."""

    do: Literal["move"]
    item: Reference
    below: Reference | None = None
    project: int | None = Field(default=None, description="The project to whose root the item goes")
    position: int | None = Field(default=None, ge=0)

    def apply(self, world: World) -> Outcome:
        """Move the item with all below it."""
        identifier = identify(world, self.item)
        if self.below is not None and self.project is None:
            parent = {"item": identify(world, self.below)}
        elif self.project is not None and self.below is None:
            parent = {"project": self.project}
        else:
            raise EditError("name either below or project")
        if "project" in parent and world.find("projects", parent["project"]) is None:
            raise EditError(f"there is no project {self.project}")
        world.move(identifier, parent, self.position)
        return {"id": identifier}


class Comment(Edit):
    """Write a comment on an item, or a reply to one."""

    do: Literal["comment"]
    item: Reference
    text: str
    reply_to: int | None = None

    def apply(self, world: World) -> Outcome:
        """Write the comment."""
        if self.reply_to is not None and world.find("comments", self.reply_to) is None:
            raise EditError(f"there is no comment {self.reply_to}")
        return {"id": world.comment(identify(world, self.item), self.text, self.reply_to)}


class Relate(Edit):
    """Add a relationship from an upstream to a downstream item."""

    do: Literal["relate"]
    upstream: Reference
    downstream: Reference
    type: int | None = Field(default=None, description="Id of the relationship type; the first one by default")

    def apply(self, world: World) -> Outcome:
        """Add the relationship."""
        if self.type is not None and world.find("relationshiptypes", self.type) is None:
            raise EditError(f"there is no relationship type {self.type}")
        return {"id": world.relate(identify(world, self.upstream), identify(world, self.downstream), self.type)}


class Unrelate(Edit):
    """Delete a relationship."""

    do: Literal["unrelate"]
    relationship: int

    def apply(self, world: World) -> Outcome:
        """Delete the relationship."""
        if world.find("relationships", self.relationship) is None:
            raise EditError(f"there is no relationship {self.relationship}")
        world.unrelate(self.relationship)
        return {"id": self.relationship}


AnyEdit = Annotated[
    Add | Change | Delete | Vanish | Restore | Move | Comment | Relate | Unrelate, Field(discriminator="do")
]
EDITS: TypeAdapter[list[AnyEdit]] = TypeAdapter(Annotated[list[AnyEdit], Field(min_length=1)])


def identify(world: World, reference: int | str, *, deleted: bool = False) -> int:
    """Return the id of an item that is there (or was deleted), by id or document key. Raises EditError."""
    records = world.deleted if deleted else world.items
    text = str(reference).strip()
    if text.isdecimal() and int(text) in records:
        return int(text)
    for identifier, record in records.items():
        if record["documentKey"].casefold() == text.casefold():
            return identifier
    raise EditError(f"there is no {'deleted ' if deleted else ''}item {reference!r}")
