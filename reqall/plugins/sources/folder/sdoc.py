"""Reads StrictDoc's `.sdoc` files (https://strictdoc.readthedocs.io)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from reqall import JsonValue
from reqall.plugins.sources.folder.entry import Addresses, Entry, Reading, StoredFile, Trace, is_prose, slug, unreadable
from reqall.plugins.sources.folder.markdown_text import plain_markdown
from reqall.plugins.sources.folder.sdoc_syntax import SdocNode, parse_sdoc

_NOUNS = frozenset({"UID", "TITLE", "STATUS"})
_TEXTS = frozenset({"STATEMENT", "RATIONALE", "COMMENT", "COMMENTS"})
_OPTIONS = frozenset({"MARKUP", "AUTO_LEVELS", "LAYOUT", "VIEW_STYLE", "REQUIREMENT_STYLE", "NODE_IN_TOC"}) | {
    *("REQUIREMENT_IN_TOC", "DEFAULT_VIEW", "ENABLE_MID", "RELATION_FIELD", "ROOT")
}
"""Options of a document that say how it is shown."""

_LINK = re.compile(r"\[LINK: ([^,\]\n]{1,200})(?:, ([^\]\n]{1,200}))?\]")
_ANCHOR = re.compile(r"^\[ANCHOR: [^,\]\n]+(?:, ([^\]\n]+))?\]$", re.MULTILINE)


class SdocReader:
    """One file is one document; `[DOCUMENT_FROM_FILE]` hangs another file below the place where it stands."""

    def read(self, file: StoredFile, beside: Sequence[StoredFile]) -> Reading:  # noqa: ARG002 - a file stands alone
        """Read a file. Raises SourceError with file:line."""
        document = parse_sdoc(file.text(), file.path)
        return _Walk(file, document).reading()


class _Walk:
    """Turns the nodes of one file into entries."""

    def __init__(self, file: StoredFile, document: SdocNode) -> None:
        self._file = file
        self._document = document
        self._is_markdown = document.texts("MARKUP") == "Markdown"
        self._addresses = Addresses()
        self._placed: dict[str, str] = {}

    def reading(self) -> Reading:
        document = self._document
        kept = [(name, value) for name, value in document.fields if name not in _OPTIONS]
        entries = [self._entry(SdocNode("Document", document.line, kept, nodes=document.nodes), self._file.path, None)]
        # A stack of walks instead of recursion: sections may be nested to any depth.
        walks: list[tuple[str, Iterator[SdocNode]]] = [(self._file.path, iter(document.nodes))]
        while walks:
            parent, nodes = walks[-1]
            node = next(nodes, None)
            if node is None:
                walks.pop()
            elif node.tag == "DOCUMENT_FROM_FILE":
                self._placed[self._included(node)] = parent
            elif not _joins_parent(node):
                address = self._address(node, parent)
                entries.append(self._entry(node, address, parent))
                walks.append((address, iter(node.nodes)))
        return Reading(entries, self._placed)

    def _included(self, node: SdocNode) -> str:
        """Return the path of an included file, which is given relative to the file that includes it."""
        parts = self._file.path.split("/")[:-1]
        for part in node.texts("FILE").replace("\\", "/").split("/"):
            if part == ".." and not parts:
                raise unreadable(self._file.path, node.line, "it includes a file outside of the folder", "Remove it.")
            if part == "..":
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts)

    def _address(self, node: SdocNode, parent: str) -> str:
        own = node.texts("UID") or slug(node.texts("TITLE")) or slug(node.tag)
        prefix = f"{parent}/" if parent != self._file.path else f"{parent}#"
        return self._addresses.claim(f"{self._file.path}#{own}" if node.texts("UID") else prefix + own)

    def _entry(self, node: SdocNode, address: str, parent: str | None) -> Entry:
        sections: dict[str, str] = {}
        fields: dict[str, JsonValue] = {}
        for name in dict.fromkeys(name for name, _ in node.fields if name not in _NOUNS):
            text = self._text(node.texts(name))
            if name in _TEXTS or is_prose(text):
                sections[name.lower()] = text
            elif text:
                fields[name.lower()] = text
        free = [self._text(inner.texts("STATEMENT")) for inner in node.nodes if _joins_parent(inner)]
        if free:
            sections["text"] = "\n\n".join([*filter(None, [sections.get("text")]), *free])
        files = [pairs.get("PATH") or pairs.get("VALUE", "") for pairs in node.relations if _kind(pairs) == "File"]
        if files:
            fields["files"] = list(filter(None, files))
        return Entry(
            address=address,
            file=self._file.path,
            line=node.line,
            type_id=node.tag,
            type_name=node.tag,
            uid=node.texts("UID"),
            name=self._text(node.texts("TITLE")),
            status=node.texts("STATUS") or None,
            sections=sections,
            fields=fields,
            parent=parent,
            traces=tuple(_traces(node)),
            modified=self._file.modified,
        )

    def _text(self, text: str) -> str:
        """Replace links and anchors by what a reader sees; Markdown to plain text, RST as it is."""
        text = _LINK.sub(lambda found: (found[2] or found[1]).strip('"'), text)
        text = _ANCHOR.sub(lambda found: (found[1] or "").strip('"'), text)
        return (plain_markdown(text) if self._is_markdown else text).strip()


def _joins_parent(node: SdocNode) -> bool:
    """Free text without an id is part of the section that it stands in."""
    others = {name for name, _ in node.fields} - {"STATEMENT", "MID"}
    return node.tag == "TEXT" and not others and not node.nodes and not node.relations


def _traces(node: SdocNode) -> Iterator[Trace]:
    for pairs in node.relations:
        kind, target = _kind(pairs), pairs.get("VALUE", "")
        if kind in ("Parent", "Child") and target:
            yield Trace(target, pairs.get("ROLE") or kind, upstream=kind == "Parent")


def _kind(pairs: Mapping[str, str]) -> str:
    return pairs.get("TYPE", "Parent")
