"""Makes of the dialects of exporters the one that the library `reqif` reads.

The schema is OMG ReqIF 1.2 (formal/2016-07-01, reqif.xsd). What the library takes for granted and
exporters leave out is filled in: TYPE, LONG-NAME, LAST-CHANGE, OBJECT, VALUES, KEY. What is odd beyond
that is a SourceError with file:line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from reqall import SourceError
from reqall_reqif.reading.dialect_values import KINDS, Refusal, reference, tidy_definition, tidy_values, unescape
from reqall_reqif.reading.markup import Element

_TYPES = frozenset({"SPEC-OBJECT-TYPE", "SPEC-RELATION-TYPE", "SPECIFICATION-TYPE", "RELATION-GROUP-TYPE"})
_CONTAINERS: Mapping[str, frozenset[str]] = {
    "DATATYPES": frozenset(f"DATATYPE-DEFINITION-{kind}" for kind in KINDS),
    "SPEC-TYPES": _TYPES,
    "SPEC-OBJECTS": frozenset({"SPEC-OBJECT"}),
    "SPEC-RELATIONS": frozenset({"SPEC-RELATION"}),
    "SPECIFICATIONS": frozenset({"SPECIFICATION"}),
    "SPEC-RELATION-GROUPS": frozenset({"RELATION-GROUP"}),
}
_NAMELESS = frozenset({"SPEC-RELATION", "RELATION-GROUP"})
"""Elements that nothing in this source refers to by IDENTIFIER, so that they may lack it."""

_UNREAD = ("ALTERNATIVE-ID", "EDITABLE-ATTS", "TOOL-EXTENSIONS")


@dataclass(frozen=True, slots=True)
class Tidied:
    """A file in the library's dialect; `defaults` are the default values by their definition's IDENTIFIER."""

    header: Element | None
    containers: Mapping[str, list[Element]]
    defaults: Mapping[str, Element] = field(default_factory=dict)


def tidy(root: Element, place: str) -> Tidied:
    """Change the tree in place. Raises SourceError with file:line for what is no ReqIF."""
    try:
        return _tidied(root)
    except Refusal as refusal:
        raise SourceError(
            f"{place}:{refusal.line}: {refusal.what}",
            "Export the file again; if the tool always writes this, it is not ReqIF 1.0 to 1.2.",
        ) from refusal


def _tidied(root: Element) -> Tidied:
    _remove_unread(root)
    containers = {name: list(_members(root, name)) for name in _CONTAINERS}
    defaults: dict[str, Element] = {}
    for datatype in containers["DATATYPES"]:
        _tidy_datatype(datatype)
    for spec_type in containers["SPEC-TYPES"]:
        _tidy_type(spec_type, defaults)
    for spec_object in containers["SPEC-OBJECTS"]:
        reference(spec_object, "TYPE", "SPEC-OBJECT-TYPE-REF")
        tidy_values(spec_object)
    for specification in containers["SPECIFICATIONS"]:
        tidy_values(specification)
        _tidy_hierarchy(specification)
    for relation in containers["SPEC-RELATIONS"]:
        reference(relation, "TYPE", "SPEC-RELATION-TYPE-REF")
        reference(relation, "SOURCE", "SPEC-OBJECT-REF")
        reference(relation, "TARGET", "SPEC-OBJECT-REF")
        tidy_values(relation)
    for group in containers["SPEC-RELATION-GROUPS"]:
        tidy_values(group)
        for each in group.iter("SPEC-RELATION-REF", "RELATION-GROUP-TYPE-REF"):
            each.text = (each.text or "").strip()
    header = _header(root)
    if header is not None and (header.findtext("*/SOURCE-TOOL-ID") or "").strip().casefold() == "strictdoc":
        for value in root.iter("ATTRIBUTE-VALUE-STRING"):
            unescape(value)
    return Tidied(header, containers, defaults)


def _remove_unread(root: Element) -> None:
    for element in list(root.iter(*_UNREAD)):
        # An outer ALTERNATIVE-ID may have gone with an inner one.
        if element.getparent() is not None:
            element.getparent().remove(element)


def _members(root: Element, name: str) -> Iterator[Element]:
    """Yield the elements of a container, each of a known kind and with an IDENTIFIER."""
    for element in root.iterfind(f"CORE-CONTENT/REQ-IF-CONTENT/{name}/*"):
        if element.tag not in _CONTAINERS[name]:
            raise Refusal(element, f"<{element.tag}> in <{name}> is no element of ReqIF")
        require_identifier(element)
        yield element


def require_identifier(element: Element) -> None:
    """Refuse an element that has no IDENTIFIER, unless nothing needs it."""
    if not (element.get("IDENTIFIER") or "").strip():
        if element.tag not in _NAMELESS:
            raise Refusal(element, f"<{element.tag}> without an IDENTIFIER")
        element.set("IDENTIFIER", "")


def _tidy_datatype(datatype: Element) -> None:
    for name in ("ACCURACY", "MAX", "MIN", "MAX-LENGTH"):
        datatype.attrib.pop(name, None)
    for choice in datatype.iterfind("SPECIFIED-VALUES/*"):
        require_identifier(choice)
        for embedded in choice.iterfind("PROPERTIES/EMBEDDED-VALUE"):
            embedded.set("KEY", embedded.get("KEY") or "")


def _tidy_type(spec_type: Element, defaults: dict[str, Element]) -> None:
    for name in ("LONG-NAME", "LAST-CHANGE"):
        spec_type.set(name, spec_type.get(name) or "")
    for definition in spec_type.iterfind("SPEC-ATTRIBUTES/*"):
        require_identifier(definition)
        default = tidy_definition(definition)
        if default is not None:
            defaults[definition.get("IDENTIFIER")] = default


def _tidy_hierarchy(specification: Element) -> None:
    for node in specification.iter("SPEC-HIERARCHY"):
        node.set("IDENTIFIER", node.get("IDENTIFIER") or "")
        reference(node, "OBJECT", "SPEC-OBJECT-REF")
    for children in specification.iter("CHILDREN"):
        for child in children:
            if child.tag != "SPEC-HIERARCHY":
                raise Refusal(child, f"<{child.tag}> in <CHILDREN> is no element of ReqIF")


def _header(root: Element) -> Element | None:
    header = root.find("THE-HEADER")
    inner = None if header is None else header.find("REQ-IF-HEADER")
    if inner is None:
        return None
    inner.set("IDENTIFIER", inner.get("IDENTIFIER") or "")
    return header
