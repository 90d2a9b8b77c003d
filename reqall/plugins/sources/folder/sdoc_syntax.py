"""StrictDoc's SDoc language as a tree of nodes with fields and relations.

Grammar: https://strictdoc.readthedocs.io, "SDoc syntax" in the user guide, and the grammar that StrictDoc
publishes with its parser. StrictDoc itself refuses what its own version does not know; a reader of many
repositories must not, so unknown options and fields are kept, and older forms ([SECTION], [FREETEXT],
REFS) are read too. What is refused is what could lose text: an unclosed text or block, a line that is none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reqall import SourceError
from reqall.plugins.sources.folder.entry import unreadable

_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?")
_OPEN = re.compile(r"\[(\[)?([A-Z]+(?:_[A-Z]+)*)\](\])?")
_CLOSE = re.compile(r"\[(\[)?/([A-Z]+(?:_[A-Z]+)*)\](\])?")
_PAIR = re.compile(r"(?:- |  )([A-Za-z_][\w-]*): *(.*)")
_RELATIONS = ("RELATIONS:", "REFS:")
_OLD_BLOCKS = ("SECTION", "COMPOSITE_REQUIREMENT")


@dataclass(slots=True)
class SdocNode:
    """A node: its tag, its fields in order of writing, its relations, and the nodes within it."""

    tag: str
    line: int
    fields: list[tuple[str, str]] = field(default_factory=list)
    relations: list[Mapping[str, str]] = field(default_factory=list)
    nodes: list["SdocNode"] = field(default_factory=list)
    closer: str = ""

    def texts(self, name: str) -> str:
        """Join the values of a field, which may be there several times."""
        return "\n\n".join(value for key, value in self.fields if key == name)


def parse_sdoc(text: str, path: str) -> SdocNode:
    """Return the document's node, tag DOCUMENT. Raises SourceError with file:line."""
    return _Parser(text.split("\n"), path).document()


class _Parser:
    """Reads line by line; nodes that are open stand on a stack, so no depth of nesting is too deep."""

    def __init__(self, lines: Sequence[str], path: str) -> None:
        self._lines = lines
        self._path = path
        self._at = 0

    def document(self) -> SdocNode:
        self._skip_blank()
        if self._line().rstrip() != "[DOCUMENT]":
            raise self._error("an SDoc file begins with [DOCUMENT]", self._at)
        document = SdocNode("DOCUMENT", self._at + 1)
        self._at += 1
        self._header(document)
        stack = [document]
        while self._skip_blank():
            self._block(stack)
        if len(stack) > 1:
            raise self._error(f"[{stack[-1].tag}] is not closed", stack[-1].line - 1)
        return document

    def _line(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _skip_blank(self) -> bool:
        """Go to the next line that is not blank; False when there is none."""
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1
        return self._at < len(self._lines)

    def _header(self, document: SdocNode) -> None:
        """Read the document's own fields; those of OPTIONS and METADATA count as fields, views are passed over."""
        block = ""
        while (line := self._line()).strip() and not line.startswith("["):
            if line.startswith((" ", "-")):
                nested = _PAIR.fullmatch(line)
                if nested and block != "VIEWS:":
                    document.fields.append((nested[1], nested[2].strip()))
                self._at += 1
            elif line.rstrip() in ("OPTIONS:", "METADATA:", "VIEWS:"):
                block = line.rstrip()
                self._at += 1
            else:
                self._field(document)

    def _block(self, stack: list[SdocNode]) -> None:
        line, number = self._line().rstrip(), self._at
        if line == "[GRAMMAR]":
            while self._line().strip():
                self._at += 1
        elif line == "[FREETEXT]":
            node = SdocNode("TEXT", number + 1)
            node.fields.append(("STATEMENT", self._until("[/FREETEXT]")))
            stack[-1].nodes.append(node)
        elif found := _CLOSE.fullmatch(line):
            if found[0] != stack[-1].closer:
                raise self._error(f"{found[0]} closes nothing that is open", number)
            stack.pop()
            self._at += 1
        elif (found := _OPEN.fullmatch(line)) and found[2] != "DOCUMENT":
            node = SdocNode(found[2], number + 1)
            self._at += 1
            self._node(node)
            stack[-1].nodes.append(node)
            if found[1] or found[2] in _OLD_BLOCKS:
                node.closer = found[0].replace(found[2], f"/{found[2]}")
                stack.append(node)
        else:
            raise self._error("a node such as [REQUIREMENT] is expected", number)

    def _node(self, node: SdocNode) -> None:
        while (line := self._line().rstrip()) and not _OPEN.fullmatch(line) and not _CLOSE.fullmatch(line):
            if line in _RELATIONS:
                self._at += 1
                self._relations(node)
            else:
                self._field(node)

    def _field(self, node: SdocNode) -> None:
        found = _FIELD.fullmatch(self._line())
        if not found:
            raise self._error("a field such as TITLE: is expected", self._at)
        value = (found[2] or "").strip()
        if value == ">>>":
            value = self._until("<<<")
        else:
            self._at += 1
        node.fields.append((found[1], value))

    def _relations(self, node: SdocNode) -> None:
        while found := _PAIR.fullmatch(self._line()):
            pairs: dict[str, str] = {}
            while found and not (pairs and self._line().startswith("-")):
                pairs[found[1]] = found[2].strip()
                self._at += 1
                found = _PAIR.fullmatch(self._line())
            node.relations.append(pairs)

    def _until(self, closing: str) -> str:
        """Return the lines up to the closing one, which is passed."""
        start = self._at + 1
        for end in range(start, len(self._lines)):
            if self._lines[end].rstrip() == closing:
                self._at = end + 1
                return "\n".join(self._lines[start:end])
        raise self._error(f"no {closing} ends this text", self._at)

    def _error(self, what: str, index: int) -> SourceError:
        return unreadable(
            self._path, min(index + 1, len(self._lines)), what, "Mend the file; `strictdoc export` checks it."
        )
