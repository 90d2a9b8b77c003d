"""The types of a file: what its attributes are called, what they may hold, and what holds by default."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reqall_reqif.reading.dialect import Tidied
from reqall_reqif.reading.exchange import Definition, ObjectType, Value
from reqall_reqif.reading.markup import Element
from reqall_reqif.reading.values import value_of
from reqall_reqif.reading.xhtml import one_line

Read = Callable[[Callable[[Element], Any], Element], Any]
"""Lets the library read an element; raises SourceError."""


class Schema:
    """DATATYPES and SPEC-TYPES; `names` are those of all types, by IDENTIFIER."""

    def __init__(self, tidied: Tidied, read: Read) -> None:
        self.names: dict[str, str] = {}
        self.object_types: dict[str, ObjectType] = {}
        self._of_type: dict[str, dict[str, Definition]] = {}
        self._of_file: dict[str, Definition] = {}
        self._labels = dict(_labels(tidied.containers["DATATYPES"], read))
        for element in tidied.containers["SPEC-TYPES"]:
            self._add_type(element, read)
        self._defaults = dict(self._default_values(tidied.defaults, read))

    def values(self, type_id: str, attributes: Iterable[Any]) -> Mapping[str, Value]:
        """Return the values of an element by name, first in the order of its type, with those that hold by default.

        A value that is empty is none, but it is there: the default does not take its place. What the
        element says of attributes that its type does not have comes last.
        """
        own = self._of_type.get(type_id, {})
        given = {each.definition_ref: each for each in attributes}
        found: list[Value] = []
        for identifier, definition in own.items():
            attribute = given.pop(identifier, None)
            if attribute is not None:
                found.append(value_of(attribute, definition, self._labels))
            elif identifier in self._defaults:
                found.append(self._defaults[identifier])
        for identifier, attribute in given.items():
            kind = attribute.attribute_type.name
            definition = self._of_file.get(identifier) or Definition(identifier, identifier, kind)
            found.append(value_of(attribute, definition, self._labels))
        named: dict[str, Value] = {}
        for value in found:
            name = value.definition.name
            if value.content not in ("", []):
                named[name if name not in named else f"{name} ({value.definition.id})"] = value
        return named

    def _add_type(self, element: Element, read: Read) -> None:
        identifier, name = element.get("IDENTIFIER"), one_line(element.get("LONG-NAME"))
        self.names[identifier] = name or identifier
        model = read(_type_parser(element.tag), element)
        models = (model.spec_attributes if element.tag == "SPECIFICATION-TYPE" else model.attribute_definitions) or ()
        definitions = _definitions(models)
        self._of_type[identifier] = {each.id: each for each in definitions}
        self._of_file.update(self._of_type[identifier])
        if element.tag == "SPEC-OBJECT-TYPE":
            self.object_types[identifier] = ObjectType(identifier, name or "Object", definitions)

    def _default_values(self, defaults: Mapping[str, Element], read: Read) -> Iterable[tuple[str, Value]]:
        from reqif.parsers.attribute_value_parser import AttributeValueParser  # type: ignore[import-untyped]

        for identifier, element in defaults.items():
            attribute = read(lambda each: AttributeValueParser.parse_attribute_values([each])[0], element)
            yield identifier, value_of(attribute, self._of_file[identifier], self._labels)


def _labels(datatypes: Iterable[Element], read: Read) -> Iterable[tuple[str, str]]:
    """Yield the labels of enumeration values: LONG-NAME, else what their properties say.

    OTHER-CONTENT comes second, as DOORS keeps a colour there.
    """
    from reqif.parsers.data_type_parser import DataTypeParser  # type: ignore[import-untyped]

    for element in datatypes:
        if element.tag == "DATATYPE-DEFINITION-ENUMERATION":
            for choice in read(DataTypeParser.parse, element).values or ():
                named = (choice.long_name, choice.other_content, choice.key)
                yield (
                    choice.identifier,
                    next(filter(None, map(one_line, named)), choice.identifier),
                )


def _definitions(models: Iterable[Any]) -> tuple[Definition, ...]:
    """Return a type's attributes; of two with one name, the second is told apart by its IDENTIFIER."""
    found: dict[str, Definition] = {}
    for model in models:
        name = one_line(model.long_name) or model.identifier
        if name.casefold() in found:
            name = f"{name} ({model.identifier})"
        found[name.casefold()] = Definition(
            id=model.identifier,
            name=name,
            kind=model.attribute_type.name,
            multiple=bool(model.multi_valued),
        )
    return tuple(found.values())


def _type_parser(tag: str) -> Callable[[Element], Any]:
    from reqif.parsers.spec_types.relation_group_type_parser import (  # type: ignore[import-untyped]
        RelationGroupTypeParser,
    )
    from reqif.parsers.spec_types.spec_object_type_parser import SpecObjectTypeParser  # type: ignore[import-untyped]
    from reqif.parsers.spec_types.spec_relation_type_parser import (  # type: ignore[import-untyped]
        SpecRelationTypeParser,
    )
    from reqif.parsers.spec_types.specification_type_parser import (  # type: ignore[import-untyped]
        SpecificationTypeParser,
    )

    parsers: dict[str, Callable[[Element], Any]] = {
        "SPEC-OBJECT-TYPE": SpecObjectTypeParser.parse,
        "SPEC-RELATION-TYPE": SpecRelationTypeParser.parse,
        "SPECIFICATION-TYPE": SpecificationTypeParser.parse,
        "RELATION-GROUP-TYPE": RelationGroupTypeParser.parse,
    }
    return parsers[tag]
