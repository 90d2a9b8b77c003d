"""The browse tools as they are offered: named after the configured source, listed before it is built.

What reads files is imported with the first call.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reqall import SourceTool
from reqall_reqif.tools.arguments import NextPage, ObjectId, ObjectOrSpecification, SpecificationId
from reqall_reqif.tools.results import ObjectList, RelationList, SpecificationList, SpecObjectDetail, TypeList

if TYPE_CHECKING:
    from reqall_reqif.source import ReqifSource

BuildSource = Callable[[], "ReqifSource"]

_LONGEST_LINE = 160
_TOLD = ("direction", "relation_type", "key", "name", "type", "type_id", "status", "objects")


def browse_tools(name: str, source: BuildSource) -> list[SourceTool]:
    """Return the tools of the source with this configured name; `source` builds it when one is called."""
    tools = (_specifications, _object, _children, _relations, _types)
    return [tool(name, source) for tool in tools]


def told_list(answer: Any) -> str:
    """Return the count of a list, a line for each row, and the note."""
    rows = next(value for _, value in answer if isinstance(value, list))
    more = f" (go on with {answer.cursor})" if answer.cursor else ""
    return "\n".join(filter(None, [f"{answer.returned} of {answer.total}{more}", *map(_line, rows), answer.note]))


def told_object(found: SpecObjectDetail) -> str:
    """Return one object in a line."""
    return f"{found.key} {found.name} ({', '.join(filter(None, (found.type, found.status)))})"


def _line(row: Any) -> str:
    held = dict(row)
    values = [str(held[name]) for name in _TOLD if held.get(name) not in (None, "")]
    return " | ".join(" ".join(value.split()) for value in values)[:_LONGEST_LINE]


def _specifications(name: str, source: BuildSource) -> SourceTool:
    def call(cursor: NextPage = "") -> SpecificationList:
        from reqall_reqif.tools.browse import list_specifications

        return list_specifications(source(), cursor)

    return SourceTool(
        name=f"list_{name}_specifications",
        title="List specifications",
        description=(
            "List the specifications (documents, modules) in the ReqIF files, with tool and time of the export. "
            f"Each is a project for init_{name}_project and search_{name}_semantics."
        ),
        call=call,
        summary=told_list,
    )


def _object(name: str, source: BuildSource) -> SourceTool:
    def call(object_id: ObjectId) -> SpecObjectDetail:
        from reqall_reqif.tools.browse import get_object

        return get_object(source(), object_id)

    return SourceTool(
        name=f"get_{name}_object",
        title="Get an object",
        description=(
            "Read one requirement, heading or other object in full: all texts and attributes. Use it when you know the "
            f"id or key; to find objects by what they are about use search_{name}_semantics. "
            'Example: {"object_id": "SRS-12"}'
        ),
        call=call,
        summary=told_object,
    )


def _children(name: str, source: BuildSource) -> SourceTool:
    def call(object_id: ObjectOrSpecification, *, cursor: NextPage = "") -> ObjectList:
        from reqall_reqif.tools.browse import list_children

        return list_children(source(), object_id, cursor)

    return SourceTool(
        name=f"get_{name}_object_children",
        title="Children of an object",
        description=(
            "List the objects right below an object, in reading order; given a specification, those at its top. "
            'Example: {"object_id": "SRS-12"}'
        ),
        call=call,
        summary=told_list,
    )


def _relations(name: str, source: BuildSource) -> SourceTool:
    def call(object_id: ObjectId, *, cursor: NextPage = "") -> RelationList:
        from reqall_reqif.tools.browse import list_relations

        return list_relations(source(), object_id, cursor)

    return SourceTool(
        name=f"get_{name}_object_relations",
        title="Relations of an object",
        description=(
            "Trace one object: its upstream and downstream relations with type and the object at the other end, in any "
            'specification. Example: {"object_id": "SRS-12"}'
        ),
        call=call,
        summary=told_list,
    )


def _types(name: str, source: BuildSource) -> SourceTool:
    def call(specification: SpecificationId = "", *, cursor: NextPage = "") -> TypeList:
        from reqall_reqif.tools.browse import list_types

        return list_types(source(), specification, cursor)

    return SourceTool(
        name=f"list_{name}_object_types",
        title="Object types",
        description="List the types of objects with their attributes, of all specifications or of one.",
        call=call,
        summary=told_list,
    )
