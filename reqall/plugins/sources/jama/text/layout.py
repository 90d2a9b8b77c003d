"""Lays elements out as lines of text: paragraphs, nested lists, tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reqall.plugins.sources.jama.text.references import address, picture, says

# Private-use characters: the cleaning drops them from the text before any is set as a mark.
LINE = "\ue000"
PARAGRAPH = "\ue001"


def tag_names(names: str) -> frozenset[str]:
    """Return the set of the names, which stand between spaces."""
    return frozenset(names.split())


_BLOCKS = tag_names(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol option p pre section summary "
    "table tr ul dir"
)
_LISTS = tag_names("ul ol menu dir")
_MARKS = re.compile(f"([{LINE}{PARAGRAPH}])")
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")

_DEEPEST_INDENT = 8
_MOST_COLUMNS = 64
_LONGEST_SPAN = 1000
_LONGEST_REPEAT = 200


@dataclass(slots=True)
class _Item:
    """A list item that is open; its marker stands before its first line only."""

    indent: str
    marker: str


@dataclass(slots=True)
class _Link:
    """A link that is open: where it leads, and where in its block it began."""

    address: str
    line: int
    piece: int


@dataclass(slots=True)
class _Block:
    """Lines under construction: of the whole text, or of one table cell."""

    in_cell: bool = False
    cell: int = 0
    itemised: bool = False
    lines: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)

    def end_line(self, *, blank: bool = False, indented: bool = False) -> None:
        """Finish the current line; with `blank`, an empty one counts too; with `indented`, its indentation stays."""
        if not self.pieces and not blank:
            return
        line = "".join(self.pieces)
        words = " ".join(line.split())
        self.pieces.clear()
        if indented and words:
            words = f"{line[: len(line) - len(line.lstrip())]}{words}"
        if words and self.items and not self.in_cell:
            item = self.items[-1]
            self.lines.append(f"{item.indent}{item.marker}{words}")
            item.indent, item.marker = f"{item.indent}{' ' * len(item.marker)}", ""
        elif words or blank:
            self.lines.append(words)

    def end_link(self, link: _Link) -> None:
        """Tell where a link leads, after its text; not when the text says so itself, or when there is none."""
        told = f" ({link.address})"
        if not link.address:
            return
        if link.line == len(self.lines):
            text = "".join(self.pieces[link.piece :])
            if text.strip() and not says(text, link.address):
                self.pieces.append(told)
        elif "".join(self.pieces).strip():
            self.pieces.append(told)
        else:
            self.lines[-1] += told

    def open_item(self) -> None:
        """Begin a list item under the list that is open, if there is one."""
        self.itemised = True
        number = self.numbers[-1] if self.numbers else None
        if number is not None:
            self.numbers[-1] = number + 1
        indent = "  " * min(max(len(self.numbers) - 1, 0), _DEEPEST_INDENT)
        self.items.append(_Item(indent, "- " if number is None else f"{number}. "))

    def one_line(self) -> str:
        """Join the lines of a cell."""
        self.end_line()
        text = ("; " if self.itemised else " ").join(line for line in self.lines if line)
        return text.replace(":; ", ": ")


@dataclass(slots=True)
class _Table:
    """A table that is open: the cells of the current row, and those that reach into later rows."""

    open_cells: int = 0
    row: list[tuple[str, int, int]] = field(default_factory=list)
    carried: dict[int, tuple[str, int]] = field(default_factory=dict)


class Layout:
    """Takes a walk through elements, gives lines; `repeats` limits the characters of repeated cells."""

    def __init__(self, repeats: int = 0) -> None:
        self._repeats = repeats
        self._blocks = [_Block()]
        self._tables: list[_Table] = []
        self._links: list[_Link] = []
        self._pre = 0

    def text(self) -> str:
        """Return the lines so far."""
        self._blocks[0].end_line()
        return "\n".join(self._blocks[0].lines)

    def write(self, text: str) -> None:
        """Add text; the marks in it end lines."""
        if self._pre:
            text = text.replace("\n", LINE)
        if text.isascii():
            self._blocks[-1].pieces.append(text)
            return
        for piece in _MARKS.split(text):
            if piece in (LINE, PARAGRAPH):
                self._blocks[-1].end_line(blank=piece == LINE, indented=self._indented)
            else:
                self._blocks[-1].pieces.append(_PRIVATE_USE.sub(" ", piece))

    def enter(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Begin an element."""
        if name in ("td", "th") and self._tables:
            table = self._tables[-1]
            self._blocks.append(_Block(in_cell=True, cell=len(table.row)))
            table.open_cells += 1
            spans = (_span(attributes, "colspan"), _span(attributes, "rowspan")) if attributes else (1, 1)
            table.row.append(("", *spans))
            return
        block = self._blocks[-1]
        if name in _BLOCKS or name in ("td", "th"):
            block.end_line()
        if name in _LISTS:
            block.numbers.append(1 if name == "ol" else None)
        elif name == "li":
            block.open_item()
        elif name == "table":
            self._tables.append(_Table())
        elif name == "br":
            block.end_line(blank=True)
        elif name == "img":
            block.pieces.append(picture(attributes))
        elif name == "a":
            self._links.append(_Link(address(attributes), len(block.lines), len(block.pieces)))
        self._pre += name == "pre"

    def leave(self, name: str) -> None:
        """End an element."""
        if name in ("td", "th") and self._tables:
            table, cell = self._tables[-1], self._blocks.pop()
            table.open_cells -= 1
            table.row[cell.cell] = (cell.one_line(), *table.row[cell.cell][1:])
            return
        block = self._blocks[-1]
        if name in ("tr", "table") and self._tables and not self._tables[-1].open_cells:
            self._end_row(block)
        if name in _BLOCKS or name in ("td", "th"):
            block.end_line(indented=self._indented)
        if name in _LISTS:
            block.numbers.pop()
        elif name == "li":
            block.items.pop()
        elif name == "table":
            self._tables.pop()
        elif name == "a":
            block.end_link(self._links.pop())
        self._pre -= name == "pre"

    @property
    def _indented(self) -> bool:
        return self._pre > 0 and not self._blocks[-1].in_cell

    def _end_row(self, block: _Block) -> None:
        table = self._tables[-1]
        own, table.row = table.row, []
        if not own:
            return
        block.end_line()
        cells = self._cells(table, own)
        while cells and not cells[-1]:
            cells.pop()
        block.pieces.append(" | ".join(cells))
        block.itemised = True
        block.end_line()

    def _cells(self, table: _Table, own: list[tuple[str, int, int]]) -> list[str]:
        """Place a row's own cells between those that reach down from earlier rows."""
        above, cells = table.carried, list[str]()
        table.carried = {column: (text, left - 1) for column, (text, left) in above.items() if left > 1}
        for text, columns, rows in own:
            while len(cells) in above:
                cells.append(self._again(above[len(cells)][0]))
            column = len(cells)
            # A cell over several columns is told once, the others stay blank.
            cells.extend([text, *([""] * (min(columns, _MOST_COLUMNS) - 1))])
            if rows > 1 and len(table.carried) < _MOST_COLUMNS:
                table.carried.update({n: (text if n == column else "", rows - 1) for n in range(column, len(cells))})
        while len(cells) in above:
            cells.append(self._again(above[len(cells)][0]))
        return cells

    def _again(self, text: str) -> str:
        """Repeat a cell over several rows in each of them, as long as that does not blow up the text."""
        if len(text) > min(self._repeats, _LONGEST_REPEAT):
            return ""
        self._repeats -= len(text)
        return text


def _span(attributes: Mapping[str, Any], name: str) -> int:
    value = str(attributes.get(name) or "").strip()
    return max(1, min(int(value), _LONGEST_SPAN)) if value.isascii() and value.isdigit() and len(value) < 8 else 1  # noqa: PLR2004
