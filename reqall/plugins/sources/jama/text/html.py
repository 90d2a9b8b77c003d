"""Jama's rich text as plain text: what a reader sees, and nothing of the markup.

Rich text of Jama is CKEditor's and Word's HTML. Cleaning a text twice changes nothing.
"""

import re
import threading
from collections.abc import Mapping
from functools import cache

from reqall.plugins.sources.jama.text.layout import LINE, PARAGRAPH, Layout
from reqall.plugins.sources.jama.text.markup import DROPPED, characters, escaped, structure

# Control characters, zero-width and bidirectional marks, soft hyphens, lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Glyphs of a symbol font; a space takes their place, so that no two words become one.
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s*")
_EMBEDDED_FILE = re.compile(r"data:[\w.+-]{1,80}/[\w.+-]{1,80};base64,[A-Za-z0-9+/=]*")

_DEEPEST_INDENT = 40
_TAB = "    "


def html_text(markup: str) -> str:
    """Return the text of rich text: one line per paragraph, list item and table row. Never raises."""
    source = structure(_visible(markup))
    if "<" in source:
        text = _parser().text(source, len(markup))
    else:
        text = characters(source)
        if LINE in source or PARAGRAPH in source:
            layout = Layout()
            layout.write(_symbols_out(text))
            text = layout.text()
    return escaped(plain_text(text))


def one_line(text: str) -> str:
    """Return a name or another short plain text: white space normalised, half characters replaced, nothing else."""
    return _HALF_CHARACTERS.sub("\ufffd", " ".join(text.split()))


def plain_text(text: str) -> str:
    """Return unformatted text without what cannot be seen, with at most one blank line in a row.

    Lines and their indentation stay; files that were pasted as base64 go.
    """
    visible = _visible(text)
    if "data:" in visible:
        visible = _EMBEDDED_FILE.sub(" ", visible)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(map(_tidy, visible.split("\n")))).strip()


def _visible(text: str) -> str:
    text = _LINE_ENDS.sub("\n", text)
    if not text.isascii():
        text = _PRIVATE_USE.sub(" ", text)
    return _INVISIBLE.sub("", text)


def _tidy(line: str) -> str:
    words = " ".join(line.split())
    if not words or not line[0].isspace():
        return words
    spaces = _SPACES.match(line)
    indent = "".join(_TAB if space == "\t" else " " for space in (spaces[0] if spaces else ""))
    return f"{indent[:_DEEPEST_INDENT]}{words}"


class _Reader:
    """Hears from the parser what begins, ends and stands between, and lays it out; no tree is built."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, length: int) -> None:
        """Start with a new text of that length."""
        self._layout = Layout(repeats=max(10_000, length))
        self._dropped = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._dropped += tag in DROPPED
        if not self._dropped:
            self._layout.enter(tag, attributes)

    def end(self, tag: str) -> None:
        """End an element."""
        if not self._dropped:
            self._layout.leave(tag)
        self._dropped -= tag in DROPPED

    def data(self, text: str) -> None:
        """Take in text."""
        if not self._dropped:
            self._layout.write(_symbols_out(text))

    def close(self) -> str:
        """Return the text of the whole."""
        return self._layout.text()


class _Parser(threading.local):
    """Each thread's parser: to make one costs as much as to parse a short text."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        from lxml import etree

        self._reader = _Reader()
        self._parser = etree.HTMLParser(target=self._reader, huge_tree=True)

    def text(self, source: str, length: int) -> str:
        """Return the laid out text."""
        self._reader.begin(length)
        try:
            self._parser.feed(f"<div>{source}</div>")
            text: str = self._parser.close()
        except BaseException:
            self._renew()  # an interrupted parser would go on in the middle
            raise
        return text


@cache
def _parser() -> _Parser:
    return _Parser()


def _symbols_out(text: str) -> str:
    """Clean what came out of character references; the marks of the layout stay."""
    return text if text.isascii() else _INVISIBLE.sub("", text)
