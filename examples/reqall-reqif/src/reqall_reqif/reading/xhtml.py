"""Rich text (XHTML, without namespaces) as plain text: a line per paragraph, list item and table row.

The elements are those of the XHTML modules that ReqIF allows (OMG ReqIF 1.2, section 10.8.20, and
driver.xsd), and those of HTML that exporters write all the same.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from reqall_reqif.reading.lines import Lines
from reqall_reqif.reading.markup import Element

_BLOCKS = frozenset(
    {"address", "blockquote", "body", "caption", "center", "dd", "div", "dl", "dt", "fieldset", "form", "hr", "html"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "ul"}
)
_DROPPED = frozenset({"head", "script", "style", "title"})
_CELLS = frozenset({"td", "th"})
_LISTS = frozenset({"ol", "ul"})
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufffe\uffff]"
)
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_LONGEST_POWER = 8


def plain_text(text: str) -> str:
    """Return unformatted text without what cannot be seen; lines stay, with at most one blank one in a row."""
    lines = _LINE_ENDS.sub("\n", _INVISIBLE.sub("", text)).split("\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def one_line(text: str | None) -> str:
    """Return a name or another short text: no line ends, nothing that cannot be seen; nothing for None."""
    return " ".join(plain_text(text).split()) if text else ""


def xhtml_text(element: Element) -> tuple[str, tuple[str, ...]]:
    """Return the text of rich text, and the names of the files that it shows, in order and without repeats."""
    writer = _Writer()
    writer.content(element)
    return plain_text(writer.lines.text()), tuple(dict.fromkeys(writer.files))


def file_name(reference: str) -> str:
    """Return the name of the file that an address leads to; nothing for embedded data."""
    if reference.lstrip().lower().startswith("data:"):
        return ""
    try:
        path = urlsplit(reference.replace("\\", "/")).path
    except ValueError:
        return ""
    return one_line(unquote(path).rpartition("/")[2])


class _Writer:
    """Walks through elements; `files` are the names met on the way."""

    def __init__(self, files: list[str] | None = None) -> None:
        self.lines = Lines()
        self.files: list[str] = [] if files is None else files

    def content(self, element: Element, *, kept: bool = False) -> None:
        """Write what is inside an element; `kept` says that line ends in the text count."""
        self.lines.write(element.text or "", kept=kept)
        for child in element:
            self._element(child, kept=kept)
            self.lines.write(child.tail or "", kept=kept)

    def _element(self, element: Element, *, kept: bool) -> None:
        name = element.tag.lower()
        if name in _DROPPED:
            return
        if name == "br":
            self.lines.end(blank=True)
        elif name in ("object", "img"):
            self.lines.write(f" {self._shown(element)} ")
        elif name == "tr":
            self.lines.end()
            self.lines.write(" | ".join(self._cells(element)))
            self.lines.end()
        elif name == "a":
            self._link(element, kept=kept)
        elif name == "sup":
            power = self._inside(element)
            # 10 to the power of 3 must not read 103.
            self.lines.write(f"^{power}" if power and len(power) <= _LONGEST_POWER else power)
        elif name in _BLOCKS:
            self._block(element, name, kept=kept or name == "pre")
        else:
            self.content(element, kept=kept)

    def _block(self, element: Element, name: str, *, kept: bool) -> None:
        self.lines.end()
        if name in _LISTS:
            self.lines.open_list(numbered=name == "ol")
        elif name == "li":
            self.lines.open_item()
        self.content(element, kept=kept)
        self.lines.end()
        if name in _LISTS:
            self.lines.close_list()
        elif name == "li":
            self.lines.close_item()

    def _cells(self, row: Element) -> Sequence[str]:
        """Return the cells, empty ones but at the end; what stands between them counts as one if it is text."""
        cells = [one_line(row.text)] if one_line(row.text) else []
        for child in row:
            text = self._rendered(child)
            if text or child.tag.lower() in _CELLS:
                cells.append(text)
            if between := one_line(child.tail):
                cells.append(between)
        while cells and not cells[-1]:
            cells.pop()
        return cells

    def _inside(self, element: Element) -> str:
        """Return the content of an element in one line."""
        inner = _Writer(self.files)
        inner.content(element)
        return one_line(inner.lines.text())

    def _rendered(self, element: Element) -> str:
        """Return an element in one line."""
        inner = _Writer(self.files)
        inner._element(element, kept=False)
        return one_line(inner.lines.text())

    def _link(self, element: Element, *, kept: bool) -> None:
        begin = self.lines.here()
        self.content(element, kept=kept)
        place = one_line(element.get("href"))
        if place.lower().startswith(("http://", "https://", "mailto:")) and place not in self.lines.since(begin):
            self.lines.write(f" ({place})")

    def _shown(self, element: Element) -> str:
        """Return `[file: what is written for it]`.

        An object inside another one is its picture, for readers that cannot show the outer one.
        """
        name = file_name(element.get("data") or element.get("src") or "")
        if name:
            self.files.append(name)
        text = element.get("alt") or " ".join(filter(None, self._alternative(element)))
        text = one_line(text)
        told = ": ".join(filter(None, (name, "" if text == name else text)))
        return f"[{told}]" if told else ""

    def _alternative(self, element: Element) -> Iterator[str]:
        yield element.text or ""
        for child in element:
            if child.tag.lower() == "object":
                inner = file_name(child.get("data") or "")
                if inner:
                    self.files.append(inner)
                yield from self._alternative(child)
            else:
                yield self._rendered(child)
            yield child.tail or ""
