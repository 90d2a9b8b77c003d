"""Which attribute plays which part: key, name, text, status; what is searchable, and what is a field."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from reqall import JsonValue
from reqall_reqif.options import ReqifOptions
from reqall_reqif.reading.exchange import Definition, SpecObject, Value
from reqall_reqif.reading.values import time_of, told
from reqall_reqif.reading.xhtml import one_line

DESCRIPTION = "description"
FILES = "attached files"
ALSO_IN = "also placed in"
"""Fields that this source adds: names of files that texts show, and further places in hierarchies."""

_CREATED = ("ReqIF.ForeignCreatedOn", "Created On", "Created")
_MODIFIED = ("ReqIF.ForeignModifiedOn", "Last Modified On", "Modified On")
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Parts:
    """An object as a document needs it; `key` is empty when no attribute holds one."""

    key: str
    name: str
    status: str | None
    sections: Mapping[str, str]
    fields: Mapping[str, JsonValue]
    created: datetime | None
    modified: datetime | None


class Mapper:
    """Assigns the parts, as the options name them."""

    def __init__(self, options: ReqifOptions) -> None:
        self._options = options
        self._texts = {name.casefold() for name in options.text_attributes}
        self._sections = self._texts | {name.casefold() for name in options.section_attributes}

    def parts(self, found: SpecObject) -> Parts:
        """Return what the attributes of an object are in a document."""
        options, known = self._options, _by_name(found.values)
        roles = {
            role: _first(known, names)
            for role, names in (
                ("key", options.key_attributes),
                ("name", options.name_attributes),
                ("text", options.text_attributes),
                ("status", options.status_attributes),
            )
        }
        taken = {id(value) for value in roles.values() if value}
        text = _text(roles["text"])
        sections = {DESCRIPTION: text} if text else {}
        fields: dict[str, JsonValue] = {}
        if found.description:
            fields["DESC"] = found.description
        searchable = {"XHTML"} if self._has_text(found) else {"XHTML", "STRING"}
        for name, value in found.values.items():
            if id(value) in taken:
                continue
            if value.definition.kind in searchable or not self._sections.isdisjoint(_names(value.definition)):
                sections[name] = told(value.content)
            else:
                fields[name] = value.content
        files = list(dict.fromkeys(file for value in found.values.values() for file in value.files))
        if files:
            fields[FILES] = list(files)
        return Parts(
            key=one_line(_text(roles["key"])),
            name=one_line(_text(roles["name"])) or found.long_name or first_line(text),
            status=one_line(_text(roles["status"])) or None,
            sections=sections,
            fields=fields,
            created=time_of(_text(_first(known, _CREATED))),
            modified=found.changed or time_of(_text(_first(known, _MODIFIED))),
        )

    def _has_text(self, found: SpecObject) -> bool:
        """Tell whether the type of an object has an attribute for text: else its strings are all the text there is."""
        definitions = found.type.definitions or [value.definition for value in found.values.values()]
        return any(each.kind == "XHTML" or not self._texts.isdisjoint(_names(each)) for each in definitions)

    def key_of(self, values: Mapping[str, Value]) -> str:
        """Return the key that attributes hold, or nothing."""
        return one_line(_text(_first(_by_name(values), self._options.key_attributes)))

    def name_of(self, values: Mapping[str, Value]) -> str:
        """Return the name that attributes hold, or nothing."""
        return one_line(_text(_first(_by_name(values), self._options.name_attributes)))


def prefix_of(values: Mapping[str, Value]) -> str:
    """Return what a specification (DOORS: module) puts before the numbers of its objects."""
    return one_line(_text(_first(_by_name(values), ("ReqIF.Prefix", "Prefix"))))


def first_line(text: str) -> str:
    """Return the first line of a text, cut at a word."""
    line = text.partition("\n")[0].strip()
    return (
        line if len(line) <= _LONGEST_NAME else f"{line[:_LONGEST_NAME].rpartition(' ')[0] or line[:_LONGEST_NAME]} ..."
    )


def _by_name(values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Map the names and IDENTIFIERs of attributes, in small letters, to values; the first of a name counts."""
    known: dict[str, Value] = {}
    for value in values.values():
        for name in _names(value.definition):
            known.setdefault(name, value)
    return known


def _first(known: Mapping[str, Value], names: Iterable[str]) -> Value | None:
    """Return the first of the named attributes that has a value."""
    return next((known[name.casefold()] for name in names if name.casefold() in known), None)


@lru_cache(maxsize=4096)
def _names(definition: Definition) -> tuple[str, str]:
    return definition.name.casefold(), definition.id.casefold()


def _text(value: Value | None) -> str:
    return told(value.content) if value else ""
