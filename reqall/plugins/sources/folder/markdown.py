"""Reads Markdown files: one file is a document, and each heading with an id is one within it.

Front matter is YAML between two lines of `---`. A heading without an id names a section of the document
that it stands in.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reqall import JsonValue
from reqall.plugins.sources.folder.attributes import Attributes, LinkRoles, join_section, read_attributes
from reqall.plugins.sources.folder.entry import Addresses, Entry, Reading, StoredFile
from reqall.plugins.sources.folder.headings import Heading, read_heading, read_labels
from reqall.plugins.sources.folder.markdown_text import Block, markdown_blocks
from reqall.plugins.sources.folder.yaml_text import load_mapping

MAIN_SECTION = "description"
"""The text of a document before its first heading."""


class MarkdownReader:
    """Reads one file at a time; `ids` is what an id in a heading looks like."""

    def __init__(self, ids: str, roles: LinkRoles) -> None:
        """Take what the options say."""
        self._ids = re.compile(ids)
        self._roles = roles

    def read(self, file: StoredFile, beside: Sequence[StoredFile]) -> Reading:  # noqa: ARG002 - a file stands alone
        """Read a file. Raises SourceError with file:line."""
        blocks = list(markdown_blocks(file.text(), front_matter=True))
        front: dict[str, JsonValue] = {}
        text = ""
        if blocks and blocks[0].kind == "front_matter":
            source = blocks.pop(0).source
            found = load_mapping(source, file.path, 2)
            front = found or {}
            text = source if found is None else ""  # a text between two rules, not front matter
        outline = _Outline(self._ids, self._roles, front)
        outline.add(text)
        outline.read(blocks)
        return Reading(outline.entries(file))


@dataclass(slots=True)
class _Part:
    """A document in the making: the file itself has depth 0, a heading that of its `#`."""

    depth: int
    line: int
    heading: Heading
    attributes: Attributes
    parent: "_Part | None" = None
    section: str = MAIN_SECTION
    sections: dict[str, list[str]] = field(default_factory=dict)
    is_whole: bool = False
    """A file that holds documents of its own."""

    def add(self, text: str) -> None:
        if text:
            self.sections.setdefault(self.section, []).append(text)

    def begin(self, title: str) -> None:
        """Go on in a section of that name."""
        self.section = title or MAIN_SECTION
        self.add(title)

    @property
    def uid(self) -> str:
        return self.attributes.nouns.get("uid") or self.heading.uid

    @property
    def title(self) -> str:
        """The heading without the id, if that is the id of this document."""
        return self.heading.title if self.heading.uid in ("", self.uid) else self.heading.whole


class _Outline:
    """Goes through the blocks of a file and hands each to the document that it belongs to."""

    def __init__(self, ids: re.Pattern[str], roles: LinkRoles, front: dict[str, JsonValue]) -> None:
        self._ids = ids
        self._roles = roles
        self._front = front
        self._is_begun = False
        self._open = [_Part(0, 1, Heading("", "", ""), read_attributes(front, roles))]
        self._parts = list(self._open)

    def add(self, text: str) -> None:
        self._open[-1].add(text)
        self._is_begun = self._is_begun or bool(text)

    def read(self, blocks: Sequence[Block]) -> None:
        """Go through the blocks in order."""
        at = 0
        while at < len(blocks):
            block = blocks[at]
            at += 1
            if block.kind == "heading":
                at += self._head(block, blocks[at : at + 64])
            else:
                self.add(block.text)

    def _head(self, block: Block, below: Sequence[Block]) -> int:
        """Begin a document or a section; return how many blocks below the heading it took."""
        heading = read_heading(block.source, self._ids)
        labels, used = read_labels(below)
        is_title = not self._is_begun and block.depth == 1
        self._is_begun = True
        if is_title:
            self._title(heading, {**heading.attributes, **labels})
            return used
        while self._open[-1].depth >= block.depth:
            self._open.pop()
        attributes = read_attributes({**heading.attributes, **labels}, self._roles)
        if heading.uid or "uid" in attributes.nouns:
            part = _Part(block.depth, block.line, heading, attributes, self._open[-1])
            self._parts[0].is_whole = True
            self._parts.append(part)
            self._open.append(part)
            return used
        self._open[-1].begin(heading.title)
        for name, value in heading.attributes.items():
            self._open[-1].add(f"{name}: {value}")
        return 0

    def _title(self, heading: Heading, values: Mapping[str, JsonValue]) -> None:
        """Take the first heading as the file's own; what the front matter says goes before it."""
        part = self._open[0]
        others = {f"{name} (heading)" if name in self._front else name: value for name, value in values.items()}
        part.attributes = read_attributes({**self._front, **others}, self._roles)
        part.heading = heading
        if part.attributes.nouns.get("name", part.title) != part.title:
            part.begin(part.title)

    def entries(self, file: StoredFile) -> list[Entry]:
        """Return the documents, that of the file first."""
        addresses: dict[int, str] = {}
        free = Addresses()
        entries: list[Entry] = []
        for part in self._parts:
            address = file.path if part.parent is None else free.claim(f"{file.path}#{part.uid}")
            addresses[id(part)] = address
            entries.append(_entry(part, file, address, addresses.get(id(part.parent))))
        return entries


def _entry(part: _Part, file: StoredFile, address: str, parent: str | None) -> Entry:
    nouns, times = part.attributes.nouns, part.attributes.times
    kind = nouns.get("type") or ("Requirement" if part.uid and not part.is_whole else "Document")
    sections = dict(part.attributes.sections)
    for name, texts in part.sections.items():
        join_section(sections, name, "\n\n".join(texts))
    stem = file.path.rpartition("/")[2].rpartition(".")[0]
    return Entry(
        address=address,
        file=file.path,
        line=part.line,
        type_id=kind,
        type_name=kind,
        uid=part.uid,
        name=nouns.get("name") or part.title or ("" if part.uid else stem),
        status=nouns.get("status"),
        sections=sections,
        fields=part.attributes.fields,
        parent=parent,
        traces=tuple(part.attributes.traces),
        created=times.get("created"),
        modified=times.get("modified") or file.modified,
    )
