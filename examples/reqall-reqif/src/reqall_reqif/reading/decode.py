"""One XML text to an `Exchange`, with the element parsers of the library `reqif` (Apache-2.0).

`ReqIFParser` itself reads UTF-8 only, with the XML parser's defaults, and an element that it does not
expect ends in an AssertionError without a place. So XML is read by `markup`, made uniform by `dialect`,
and the library is given one element after the other.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reqall import SourceError
from reqall_reqif.reading.dialect import Tidied, tidy
from reqall_reqif.reading.exchange import Exchange, Node, ObjectType, Relation, Specification, SpecObject, Value
from reqall_reqif.reading.files import Content
from reqall_reqif.reading.markup import Element, parse
from reqall_reqif.reading.schema import Schema
from reqall_reqif.reading.values import time_of
from reqall_reqif.reading.xhtml import one_line, plain_text

_SURPRISED = (AssertionError, AttributeError, IndexError, KeyError, NotImplementedError, TypeError, ValueError)
"""What the library raises for an element that it does not expect."""

_SUSPECT = frozenset({"suspect", "is suspect", "suspect link"})


def decode(content: Content) -> Exchange:
    """Return what a ReqIF text says. Raises SourceError with file:line."""
    tidied = tidy(parse(content.data, content.place), content.place)
    return Decoder(content.place, tidied).exchange()


class Decoder:
    """Reads the elements of one file, and resolves the references between them."""

    def __init__(self, place: str, tidied: Tidied) -> None:
        self._place = place
        self._tidied = tidied
        self._schema = Schema(tidied, self._read)

    def exchange(self) -> Exchange:
        """Read the whole file."""
        from reqif.parsers.header_parser import ReqIFHeaderParser  # type: ignore[import-untyped]

        element = self._tidied.header
        header = None if element is None else self._read(ReqIFHeaderParser.parse, element)
        return Exchange(
            place=self._place,
            tool=one_line(header.source_tool_id or header.req_if_tool_id) if header else "",
            title=one_line(header.title) if header else "",
            created=time_of(header.creation_time) if header else None,
            types=tuple(self._schema.object_types.values()),
            objects=self._objects(),
            specifications=tuple(self._specifications()),
            relations=tuple(self._relations()),
        )

    def _objects(self) -> Mapping[str, SpecObject]:
        from reqif.parsers.spec_object_parser import SpecObjectParser  # type: ignore[import-untyped]

        objects: dict[str, SpecObject] = {}
        for element in self._tidied.containers["SPEC-OBJECTS"]:
            model = self._read(SpecObjectParser.parse, element)
            if model.identifier in objects:
                raise self._refused(element, f"the IDENTIFIER {model.identifier!r} is used for two objects")
            spec_type = self._schema.object_types.get(model.spec_object_type)
            spec_type = spec_type or ObjectType(model.spec_object_type or "untyped", "Object")
            objects[model.identifier] = SpecObject(
                id=model.identifier,
                place=self._place,
                type=spec_type,
                long_name=one_line(model.long_name),
                description=plain_text(model.description or ""),
                changed=time_of(model.last_change),
                values=self._values(spec_type.id, model.attributes),
            )
        return objects

    def _specifications(self) -> Iterator[Specification]:
        from reqif.parsers.specification_parser import ReqIFSpecificationParser  # type: ignore[import-untyped]

        for element in self._tidied.containers["SPECIFICATIONS"]:
            model = self._read(ReqIFSpecificationParser.parse, element)
            type_id = (model.specification_type or "").strip()
            yield Specification(
                id=model.identifier,
                place=self._place,
                type_name=self._schema.names.get(type_id, type_id),
                long_name=one_line(model.long_name),
                description=plain_text(model.description or ""),
                changed=time_of(model.last_change),
                values=self._values(type_id, model.values or ()),
                nodes=tuple(_nodes(model.children or ())),
            )

    def _relations(self) -> Iterator[Relation]:
        from reqif.parsers.spec_relation_parser import SpecRelationParser  # type: ignore[import-untyped]

        groups = self._groups()
        for element in self._tidied.containers["SPEC-RELATIONS"]:
            model = self._read(SpecRelationParser.parse, element)
            values = self._values(model.relation_type_ref, model.values or ())
            name = self._schema.names.get(model.relation_type_ref) or one_line(model.long_name)
            yield Relation(
                id=model.identifier,
                place=self._place,
                source=model.source,
                target=model.target,
                type_name=name or groups.get(model.identifier) or "relation",
                suspect=any(name.casefold() in _SUSPECT and value.content is True for name, value in values.items()),
                group=groups.get(model.identifier, ""),
            )

    def _groups(self) -> Mapping[str, str]:
        """Return the names of the RELATION-GROUPs by the relations that are in them."""
        from reqif.parsers.relation_group_parser import ReqIFRelationGroupParser  # type: ignore[import-untyped]

        groups: dict[str, str] = {}
        for element in self._tidied.containers["SPEC-RELATION-GROUPS"]:
            model = self._read(ReqIFRelationGroupParser.parse, element)
            type_id = (model.type_ref or "").strip()
            name = one_line(model.long_name) or self._schema.names.get(type_id, "") or model.identifier
            groups.update({each: name for each in model.spec_relations or () if each})
        return groups

    def _values(self, type_id: str, attributes: Any) -> Mapping[str, Value]:
        return self._schema.values(type_id, attributes)

    def _read(self, parser: Callable[[Element], Any], element: Element) -> Any:
        """Let the library read an element. Raises SourceError where that cannot be done."""
        try:
            return parser(element)
        except _SURPRISED as error:
            reason = f"the library reqif cannot read this <{element.tag}> ({type(error).__name__})"
            raise self._refused(element, reason) from error

    def _refused(self, element: Element, what: str) -> SourceError:
        return SourceError(
            f"{self._place}:{element.sourceline}: {what}",
            "Export the file again; if the tool always writes this, it is not ReqIF 1.0 to 1.2.",
        )


def _nodes(children: Any) -> Iterator[Node]:
    """Flatten a hierarchy in reading order, without recursion."""
    ahead = [(child, -1) for child in reversed(children)]
    index = 0
    while ahead:
        model, parent = ahead.pop()
        yield Node(model.spec_object, parent, one_line(model.long_name))
        ahead.extend((child, index) for child in reversed(model.children or ()))
        index += 1
