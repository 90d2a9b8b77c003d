"""Reads `needs.json`, which sphinx-needs' builder `needs` writes, through the maintainers' own reader.

https://sphinx-needs.readthedocs.io/en/latest/builders.html
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reqall import JsonValue
from reqall.plugins.sources.folder.attributes import LinkRoles
from reqall.plugins.sources.folder.entry import (
    Entry,
    Reading,
    StoredFile,
    Trace,
    is_prose,
    slug,
    time_of,
    unreadable,
)
from reqall.plugins.sources.folder.markdown_text import plain_markdown

NAME = "needs.json"

_NOUNS = frozenset(
    {"id", "title", "type", "type_name", "status", "content", "docname", "sections", "section_name", "doctype"}
)
_SHOWN = frozenset(
    {
        *("arch", "constraints", "constraints_error", "constraints_passed", "constraints_results", "delete"),
        *("external_css", "external_url", "full_title", "has_dead_links", "has_forbidden_dead_links", "hide"),
        *("id_complete", "id_parent", "is_external", "is_import", "is_modified", "is_need", "is_part"),
        *("jinja_content", "layout", "lineno", "max_content_lines", "modifications", "parent_need", "parts"),
        *("post_template", "pre_template", "query", "signature", "style", "template", "type_color"),
        *("type_prefix", "type_style"),
    }
)
"""Fields of sphinx-needs' own that say how a need is shown, or what its builder found."""


class NeedsJsonReader:
    """Reads the current version of a file; documents and sections of the Sphinx project are entries too."""

    def __init__(self, roles: LinkRoles) -> None:
        """Take what the options say of the directions of links."""
        self._roles = roles

    def read(self, file: StoredFile, beside: Sequence[StoredFile]) -> Reading:  # noqa: ARG002 - a file stands alone
        """Read a file. Raises SourceError with the path."""
        from ub_needs_exchange import ExchangeError, parse

        try:
            document = parse(file.text())
            version = document.select_version(None)
            records = version.records()
        except (ExchangeError, RecursionError, ValueError) as error:
            what = getattr(error, "message", "a number or a nesting that is too large")
            raise unreadable(file.path, 1, what, "Build it anew: sphinx-build -b needs.") from error
        schema = version.data.get("needs_schema")
        links = _link_fields(schema if isinstance(schema, dict) else {}, [record.fields for record in records])
        project = str(document.data.get("project") or file.path)
        walk = _Walk(file, self._roles, links, time_of(version.data.get("created")))
        return Reading(walk.entries(project, [record.fields for record in records]))


@dataclass
class _Walk:
    """Turns records into entries, and makes those of the documents and sections that they stand in."""

    file: StoredFile
    roles: LinkRoles
    links: frozenset[str]
    created: datetime | None
    made: dict[str, Entry] = field(default_factory=dict)

    def entries(self, project: str, records: Sequence[Mapping[str, Any]]) -> list[Entry]:
        self._container(self.file.path, project, "Document", None)
        needs = {str(record["id"]) for record in records}
        for record in records:
            above = record.get("parent_need")
            inside = isinstance(above, str) and above in needs and above != record["id"]
            parent = self._address(str(above)) if inside else self._section(record)
            entry = self._need(record, parent, needs)
            self.made[entry.address] = entry
        return list(self.made.values())

    def _address(self, uid: str) -> str:
        return f"{self.file.path}#{uid}"

    def _section(self, record: Mapping[str, Any]) -> str:
        """Return the address of the section that a need stands in; `sections` has the innermost first."""
        address = self.file.path
        docname, sections = record.get("docname"), record.get("sections")
        if isinstance(docname, str) and docname:
            address = self._container(f"{address}#/{docname}", docname, "Document", address)
        for title in reversed(sections if isinstance(sections, list) else []):
            address = self._container(f"{address}#{slug(str(title))}", str(title), "Section", address)
        return address

    def _container(self, address: str, name: str, kind: str, parent: str | None) -> str:
        if address not in self.made:
            self.made[address] = Entry(
                address=address,
                file=self.file.path,
                line=1,
                type_id=kind,
                type_name=kind,
                name=name,
                parent=parent,
                modified=self.file.modified,
            )
        return address

    def _need(self, record: Mapping[str, Any], parent: str, needs: Collection[str]) -> Entry:
        is_markdown = str(record.get("doctype", "")).lower() in (".md", ".markdown")
        sections: dict[str, str] = {}
        fields: dict[str, JsonValue] = {}
        for key, value in {"content": record.get("content"), **record}.items():
            if (
                key in (_NOUNS - {"content"}) | _SHOWN | self.links
                or key.endswith("_back")
                or value in (None, "", [], {})
            ):
                continue
            if isinstance(value, str) and (key == "content" or is_prose(value)):
                sections[key] = plain_markdown(value) if is_markdown else value.strip()
            else:
                fields[key] = value
        kind = str(record.get("type") or "need")
        return Entry(
            address=self._address(str(record["id"])),
            file=self.file.path,
            line=1,
            type_id=kind,
            type_name=str(record.get("type_name") or kind),
            uid=str(record["id"]),
            name=str(record.get("title") or ""),
            status=str(record["status"]) if record.get("status") else None,
            sections=sections,
            fields=fields,
            parent=parent,
            traces=tuple(self._traces(record, needs)),
            created=self.created,
            modified=self.file.modified,
        )

    def _traces(self, record: Mapping[str, Any], needs: Collection[str]) -> Iterator[Trace]:
        for key in sorted(self.links):
            targets = record.get(key)
            for target in map(str, targets if isinstance(targets, list) else []):
                # A link may go to a part of a need, ID.part; but ids themselves may hold dots.
                whole = target.rpartition(".")[0]
                found = whole if target not in needs and whole in needs else target
                yield Trace(found, key, upstream=self.roles.points_upstream(key) is not False)


def _link_fields(schema: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of link fields: the schema tells them; before it, each had another with `_back` behind it."""
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        found = {
            name for name, each in properties.items() if isinstance(each, dict) and each.get("field_type") == "links"
        }
        return frozenset(found)
    names = {name for record in records for name in record}
    return frozenset({name for name in names if f"{name}_back" in names} | {"links"})
