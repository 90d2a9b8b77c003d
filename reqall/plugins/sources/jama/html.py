"""Jama's rich text as plain text: what a reader sees, and nothing of the markup.

Rich text of Jama is CKEditor's and Word's HTML. It also holds stray `<` and `&`, so what is markup
is decided here, before a parser may swallow words.
"""

import html
import re
from typing import Any

from reqall.plugins.sources.jama.layout import LINE, PARAGRAPH, Layout, tag_names

_DROPPED = tag_names("script style head title template noscript iframe svg")

# Tags that change nothing but the look of text: removed at once, which spares the parser most of its work.
_INLINE = tag_names(
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small span strike strong "
    "sub sup time tt u var wbr meta link base tbody thead tfoot col colgroup html body"
)

_STRUCTURE = _DROPPED | tag_names(
    "address article aside audio blockquote button canvas caption center dd details dialog dir div "
    "dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr img input li main map area "
    "menu nav object ol optgroup option output p param picture pre progress section select source summary table "
    "td textarea th tr track ul video br"
)

_ATTRIBUTES = r"""(?:\s+[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>=`]+))?)*+"""

_MARKUP = re.compile(
    rf"""<(?:(?P<declaration>[!?][^<>]*>)
    |(?P<close>/?)(?P<name>[a-zA-Z][\w:.-]*+)(?:(?P<whole>{_ATTRIBUTES}\s*/?>)|(?=\s*/?>|\s[^<>]*>|\s+[\w:-]+\s*=)))?""",
    re.VERBOSE,
)

_STRAY_AMPERSAND = re.compile(r"&(?!#\d{1,8};|#[xX][0-9a-fA-F]{1,8};|[A-Za-z][A-Za-z0-9]{0,31};)")
_ENTITY = re.compile(r"&(?:#\d{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});")
_EXPONENT = re.compile(r"\s*[-+\u2212]?\d+\s*</sup", re.IGNORECASE)

# Control characters, zero-width and bidirectional marks, soft hyphens, lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Glyphs of a symbol font; a space takes their place, so that no two words become one.
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def html_text(markup: str) -> str:
    """Return the text of rich text: one line per paragraph, list item and table row. Never raises."""
    source = _marked(_without_comments(_visible(markup)))
    if "<" in source:
        from bs4 import BeautifulSoup

        # Inside an element, because a bare text that looks like an address or a file makes bs4 warn.
        soup = BeautifulSoup(f"<div>{source}</div>", "lxml", multi_valued_attributes=None)
        return _squeezed(_laid_out(soup, len(markup)))
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), source)
    if LINE not in source and PARAGRAPH not in source:
        return _tidy(_visible(text))
    layout = Layout()
    layout.write(_symbols_out(text))
    return _squeezed(layout.text())


def plain_text(text: str) -> str:
    """Return unformatted text without what cannot be seen, with at most one blank line in a row."""
    return _tidy(_visible(text))


def _visible(text: str) -> str:
    return _INVISIBLE.sub("", _PRIVATE_USE.sub(" ", _LINE_ENDS.sub("\n", text)))


def _tidy(text: str) -> str:
    return _squeezed("\n".join(" ".join(line.split()) for line in text.split("\n")))


def _squeezed(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _without_comments(markup: str) -> str:
    """Cut `<!-- ... -->`; a comment that never ends is text."""
    kept, position = [], 0
    while (start := markup.find("<!--", position)) >= 0 and (end := markup.find("-->", start + 4)) >= 0:
        kept.append(markup[position:start])
        position = end + 3
    return "".join([*kept, markup[position:]])


def _marked(markup: str) -> str:
    """Leave only the tags that structure the text; every other `<` and `&` becomes a character."""
    return _STRAY_AMPERSAND.sub("&amp;", _MARKUP.sub(_decide, markup))


def _decide(match: re.Match[str]) -> str:
    if match["declaration"]:
        return ""
    name = (match["name"] or "").lower()
    whole = match["whole"] is not None
    if whole and name in ("br", "p"):
        return LINE if name == "br" else PARAGRAPH
    if name in _STRUCTURE:
        told = name == "img" or (name in ("td", "th") and "span" in match[0].lower())
        return match[0] if told or not whole else f"<{match['close']}{name}>"
    if whole and (name in _INLINE or ":" in name):
        return "^" if name == "sup" and _is_exponent(match) else ""
    if name in _INLINE or ":" in name:
        return match[0]
    return f"&lt;{match[0][1:]}"


def _is_exponent(match: re.Match[str]) -> bool:
    """Tell whether a `<sup>` raises a number: 10<sup>-3</sup> is not 10-3."""
    before = match.string[match.start() - 1 : match.start()]
    return not match["close"] and before.isalnum() and _EXPONENT.match(match.string, match.end()) is not None


def _laid_out(soup: Any, length: int) -> str:
    """Walk the tree without recursion, however deep it is."""
    from bs4.element import CData, NavigableString, Tag

    layout = Layout(repeats=max(10_000, length))
    todo: list[tuple[Any, bool]] = [(soup, False)]
    while todo:
        node, leaving = todo.pop()
        if leaving:
            layout.leave(node.name)
        elif isinstance(node, Tag):
            if node.name not in _DROPPED:
                layout.enter(node.name, node.attrs)
                todo.append((node, True))
                todo.extend((child, False) for child in reversed(node.contents))
        elif type(node) in (NavigableString, CData):
            layout.write(_symbols_out(node))
    return layout.text()


def _symbols_out(text: str) -> str:
    """Clean what came out of character references; the marks of this module stay."""
    return text if text.isascii() else _INVISIBLE.sub("", text)
