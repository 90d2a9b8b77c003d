"""Reads Doorstop's documents: a folder with a `.doorstop.yml`, and one YAML or Markdown file per item.

https://doorstop.readthedocs.io/en/latest/reference/item.html
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from reqall import JsonValue, SourceError
from reqall.plugins.sources.folder.entry import Entry, Reading, StoredFile, Trace, is_prose, unreadable
from reqall.plugins.sources.folder.markdown_text import markdown_blocks, plain_markdown
from reqall.plugins.sources.folder.yaml_text import load_mapping, truth

CONFIG = ".doorstop.yml"
SKIP, SKIP_ALL = ".doorstop.skip", ".doorstop.skip-all"

_OWN = frozenset(
    {"active", "derived", "header", "level", "links", "normative", "ref", "references", "reviewed", "text"}
)
_NOUNS = frozenset({"status", "type"})
_HEADER = re.compile(r"#\s+(.*)")


class DoorstopReader:
    """Reads a document and its items; a broken item is reported, the others are read."""

    def read(self, file: StoredFile, beside: Sequence[StoredFile]) -> Reading:
        """Read the `.doorstop.yml` and the items among the files beside it. Raises SourceError with file:line."""
        document = _Document.of(file)
        items: list[_Item] = []
        problems: list[SourceError] = []
        files = [each for each in beside if document.holds(each.path)]
        for each in files:
            try:
                items.append(_Item.of(each, document))
            except SourceError as error:
                problems.append(error)
        items.sort(key=lambda item: (item.level, item.uid))
        entries = [
            document.entry(file),
            *(document.item_entry(item, parent) for item, parent in _nested(items, document)),
        ]
        return Reading(entries, taken={each.path for each in files}, problems=problems)


@dataclass(frozen=True, slots=True)
class _Item:
    """One file: its values as they are written; `level` without the zero that marks a heading."""

    file: StoredFile
    uid: str
    values: Mapping[str, JsonValue]
    level: tuple[int, ...]
    is_heading: bool

    @classmethod
    def of(cls, file: StoredFile, document: "_Document") -> "_Item":
        text = file.text()
        uid = file.path.rpartition("/")[2].rpartition(".")[0]
        found = _front_matter(file, text) if document.suffixes == (".md",) else load_mapping(text, file.path)
        if found is None:
            raise unreadable(file.path, 1, "not an item: no mapping", "Write key: value, as Doorstop does.")
        level = str(found.get("level") or "1.0").split(".")
        if not all(part.isdecimal() for part in level):
            raise unreadable(file.path, 1, "its level is not made of numbers", "Write it as 1.2.3.")
        parts = [int(part) for part in level]
        is_heading = parts[-1] == 0 and not truth(found.get("normative"), default=True)
        while parts and parts[-1] == 0:
            parts.pop()
        return cls(file, uid, found, tuple(parts), is_heading)

    def text(self, key: str) -> str:
        """Return a text without the blank around it that YAML leaves, as Doorstop does."""
        value = self.values.get(key)
        lines = value.strip("\n").split("\n") if isinstance(value, str) else []
        return "\n".join(line.rstrip() for line in lines)

    def links(self) -> Iterator[tuple[str, str]]:
        """Yield id and fingerprint of each link; a link that nobody confirmed has none."""
        found = self.values.get("links")
        for link in found if isinstance(found, list) else []:
            if isinstance(link, dict):
                yield from ((uid, str(stamp or "")) for uid, stamp in link.items())
            elif isinstance(link, str):
                uid, _, stamp = link.partition(":")
                yield uid.strip(), stamp.strip()


@dataclass(frozen=True, slots=True)
class _Document:
    """A document's settings."""

    folder: str
    prefix: str
    parent: str
    suffixes: tuple[str, ...]
    reviewed: frozenset[str]
    """Names of further attributes that are part of a fingerprint."""

    @classmethod
    def of(cls, file: StoredFile) -> "_Document":
        found = load_mapping(file.text(), file.path)
        settings = (found or {}).get("settings")
        if not isinstance(settings, dict) or not isinstance(prefix := settings.get("prefix"), str):
            raise unreadable(file.path, 1, "no settings with a prefix", "Write it as `doorstop create` does.")
        attributes = (found or {}).get("attributes")
        reviewed = attributes.get("reviewed") if isinstance(attributes, dict) else None
        return cls(
            folder=file.path.rpartition("/")[0],
            prefix=prefix,
            parent=str(settings.get("parent") or ""),
            suffixes=(".md",) if settings.get("itemformat") == "markdown" else (".yml", ".yaml"),
            reviewed=frozenset(map(str, reviewed)) if isinstance(reviewed, list) else frozenset(),
        )

    def holds(self, path: str) -> bool:
        """Tell whether a file is named as an item: the prefix, a separator if any, a number or a name."""
        stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
        pattern = rf"{re.escape(self.prefix)}(?:[-_.]?\d+|[-_.]\w+)"
        return dot + suffix.lower() in self.suffixes and bool(re.fullmatch(pattern, stem, re.IGNORECASE))

    @property
    def address(self) -> str:
        return self.folder or CONFIG

    def entry(self, file: StoredFile) -> Entry:
        """Return the document itself: it stands for its folder."""
        fields: dict[str, JsonValue] = {"prefix": self.prefix}
        if self.parent:
            fields["parent"] = self.parent
        return Entry(
            address=self.address,
            file=file.path,
            line=1,
            type_id="Document",
            type_name="Document",
            name=self.prefix,
            fields=fields,
            modified=file.modified,
        )

    def item_entry(self, item: _Item, parent: str) -> Entry:
        """Return one item."""
        text = item.text("text")
        header = plain_markdown(item.text("header")).replace("\n", " ")
        first, _, rest = text.partition("\n")
        if item.is_heading and not header:
            header, text = plain_markdown(first), rest.strip()
        sections, fields = _extra(item)
        kind = str(item.values.get("type") or ("Heading" if item.is_heading else self.prefix))
        active = truth(item.values.get("active"), default=True)
        return Entry(
            address=f"{item.file.path}#{item.uid}",
            file=item.file.path,
            line=1,
            type_id=kind,
            type_name=kind,
            uid=item.uid,
            name=header,
            status=str(item.values.get("status") or ("active" if active else "inactive")),
            sections={**({"text": plain_markdown(text)} if text else {}), **sections},
            fields=fields,
            parent=parent,
            traces=tuple(Trace(uid, "links", upstream=True, stamp=stamp) for uid, stamp in item.links() if uid),
            modified=item.file.modified,
            stamp=self._stamp(item),
        )

    def _stamp(self, item: _Item) -> str:
        """Return the fingerprint that a link to the item has to bear: id, text, ref and references, hashed.

        Empty where it cannot be told: a document may name further attributes, hashed by their Python type.
        """
        references = item.values.get("references")
        if self.reviewed & set(item.values) or references:
            return ""
        content = "".join((item.uid, item.text("text"), str(item.values.get("ref") or "").strip()))
        return urlsafe_b64encode(sha256(content.encode()).digest()).decode()


def _nested(items: Sequence[_Item], document: _Document) -> Iterator[tuple[_Item, str]]:
    """Yield the items, in order of level, with the addresses of their parents: headings before all, by level."""
    by_level: dict[tuple[int, ...], _Item] = {}
    for item in items:
        known = by_level.get(item.level)
        if known is None or (item.is_heading and not known.is_heading):
            by_level[item.level] = item
    for item in items:
        above = (by_level.get(item.level[:length]) for length in range(len(item.level) - 1, 0, -1))
        found = next((each for each in above if each), None)
        twin = by_level[item.level]
        if twin is not item and twin.is_heading:
            found = twin  # items of one level stand below the heading of that level
        yield item, f"{found.file.path}#{found.uid}" if found else document.address


def _extra(item: _Item) -> tuple[dict[str, str], dict[str, JsonValue]]:
    """Return the attributes that are a project's own, and Doorstop's as fields."""
    sections: dict[str, str] = {}
    fields: dict[str, JsonValue] = {
        "level": str(item.values.get("level") or "1.0"),
        "normative": truth(item.values.get("normative"), default=True),
        "derived": truth(item.values.get("derived"), default=False),
        "reviewed": bool(item.values.get("reviewed")),
    }
    for key, value in item.values.items():
        if isinstance(value, str) and is_prose(value) and key not in _OWN | _NOUNS:
            sections[key] = plain_markdown(value)
        elif value and (key in ("ref", "references") or key not in _OWN | _NOUNS):
            fields[key] = value
    return sections, fields


def _front_matter(file: StoredFile, text: str) -> dict[str, JsonValue] | None:
    """Read an item in Markdown: front matter, then a first heading as header, then the text."""
    first = next(markdown_blocks(text, front_matter=True), None)
    if first is None or first.kind != "front_matter":
        found: dict[str, JsonValue] | None = {}
        body = text
    else:
        found = load_mapping(first.source, file.path, 2)
        body = "\n".join(text.split("\n")[first.end - 1 :])
    if found is None:
        return None
    body = body.strip("\n")
    line, _, rest = body.partition("\n")
    header = _HEADER.fullmatch(line)
    own = {"header": header[1], "text": rest.strip("\n")} if header else {"text": body}
    return {**found, **own}
