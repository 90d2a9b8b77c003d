"""What one ReqIF file says, resolved: attributes by name, enumerations as labels, times in UTC."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reqall import JsonValue


@dataclass(frozen=True, slots=True)
class Definition:
    """An attribute of a type; `kind` is STRING, INTEGER, REAL, BOOLEAN, DATE, ENUMERATION or XHTML."""

    id: str
    name: str
    kind: str
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A SPEC-OBJECT-TYPE with its attributes."""

    id: str
    name: str
    definitions: tuple[Definition, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an attribute as JSON has it; `files` are the files that rich text shows."""

    definition: Definition
    content: JsonValue
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecObject:
    """A SPEC-OBJECT; `values` by the names of attributes, in the order of the type."""

    id: str
    place: str
    type: ObjectType
    long_name: str = ""
    description: str = ""
    changed: datetime | None = None
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """One SPEC-HIERARCHY; `parent` is the index of the node above it in its specification, -1 at the top."""

    object_id: str
    parent: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Specification:
    """A SPECIFICATION with its hierarchy in reading order."""

    id: str
    place: str
    type_name: str
    long_name: str = ""
    description: str = ""
    changed: datetime | None = None
    values: Mapping[str, Value] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A SPEC-RELATION; `group` names the RELATION-GROUP (DOORS: the link module) that it is in, if any."""

    id: str
    place: str
    source: str
    target: str
    type_name: str
    suspect: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One file."""

    place: str
    tool: str
    title: str
    created: datetime | None
    types: tuple[ObjectType, ...]
    objects: Mapping[str, SpecObject]
    specifications: tuple[Specification, ...]
    relations: tuple[Relation, ...]
