"""Tells markup from text: which `<` begins a tag, which `&` a character reference.

Rich text holds stray `<` and `&`, so what is markup is decided here, before a parser may swallow words.
"""

import html
import re

from reqall.plugins.sources.jama.text.layout import LINE, PARAGRAPH, tag_names

DROPPED = tag_names("script style head title template noscript iframe svg")
"""Elements whose content nobody reads."""

# Tags that change nothing but the look of text: removed at once, which spares the parser most of its work.
_INLINE = tag_names(
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small span strike strong "
    "sub sup time tt u var wbr meta link base tbody thead tfoot col colgroup html body"
)

_STRUCTURE = DROPPED | tag_names(
    "address article aside audio blockquote button canvas caption center dd details dialog dir div "
    "dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr img input li main map area "
    "menu nav object ol optgroup option output p param picture pre progress section select source summary table "
    "td textarea th tr track ul video br"
)

_ATTRIBUTES = r"""(?:\s+[^\W\d][^\s"'<>/=]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>=`]+))?)*+"""

# A tag whose attributes are broken goes as far as the next angle bracket: no parser may swallow what follows.
_BROKEN = r"""\s+[\w:.-]+\s*=(?:[^<>]*>|\s*["'][^<>]*)"""

_MARKUP = re.compile(
    rf"""<(?:(?P<declaration>[!?][^<>]*>)
    |(?P<close>/?)(?P<name>[a-zA-Z][\w:.-]*+)(?:(?P<whole>{_ATTRIBUTES}\s*/?>)|{_BROKEN}))?""",
    re.VERBOSE,
)

_STRAY_AMPERSAND = re.compile(r"&(?!#\d{1,8};|#[xX][0-9a-fA-F]{1,8};|[A-Za-z][A-Za-z0-9]{0,31};)")
_ENTITY = re.compile(r"&(?:#\d{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});")
_EXPONENT = re.compile(r"\s*[-+\u2212]?\d+\s*</sup", re.IGNORECASE)
_POSSIBLE_TAG = re.compile(r"<(?=[A-Za-z/!?])")

_MOST_PASSES = 4


def structure(source: str) -> str:
    """Leave only the tags that structure the text; every other `<` and `&` becomes a character."""
    marked = _STRAY_AMPERSAND.sub("&amp;", _MARKUP.sub(_decide, _without_comments(source)))
    return marked.replace("<pre>\n", "<pre>") if "<pre>\n" in marked else marked


def characters(source: str) -> str:
    """Replace character references by what they stand for."""
    return _ENTITY.sub(_character, source) if "&" in source else source


def escaped(text: str) -> str:
    """Escape what `structure` and `characters` would take for markup, so that cleaning twice changes nothing.

    Only the few words that are written like a tag or a reference are touched: `R&D`, `a < b` and `<TBD>` stay.
    """
    if "&" in text:
        text = _ENTITY.sub(lambda it: it[0] if _character(it) == it[0] else f"&amp;{it[0][1:]}", text)
    if "<" not in text:
        return text
    if "-->" in text:
        text = text.replace("<!--", "&lt;!--")
    for _ in range(_MOST_PASSES):
        # What was escaped may leave another `<` with a `>` of its own.
        before, text = text, _MARKUP.sub(_if_taken_for_markup, text)
        if text == before:
            return text
    return _POSSIBLE_TAG.sub("&lt;", text)


def _character(match: re.Match[str]) -> str:
    return html.unescape(match[0])


def _as_text(match: re.Match[str]) -> str:
    return f"&lt;{match[0][1:]}"


def _if_taken_for_markup(match: re.Match[str]) -> str:
    if _decide(match) == _as_text(match):
        return match[0]
    return f"&lt;{match[0][1:-1]}&gt;" if match[0].endswith(">") else _as_text(match)


def _without_comments(markup: str) -> str:
    """Cut `<!-- ... -->`; a comment that never ends is text."""
    kept, position = [], 0
    while (start := markup.find("<!--", position)) >= 0 and (end := markup.find("-->", start + 4)) >= 0:
        kept.append(markup[position:start])
        position = end + 3
    return "".join([*kept, markup[position:]]) if kept else markup


def _decide(match: re.Match[str]) -> str:
    """Return what a `<` and what belongs to it becomes."""
    if match["declaration"]:
        return ""
    name, whole = (match["name"] or "").lower(), match["whole"]
    if not (name in _INLINE or name in _STRUCTURE or ":" in name) or match.end() == match.end("name"):
        return _as_text(match)
    if name in ("br", "p"):
        return LINE if name == "br" else PARAGRAPH
    if name in _STRUCTURE:
        told = name == "img" or (name in ("td", "th") and "span" in match[0].lower())
        return match[0] if told and whole else f"<{match['close']}{name}>"
    if name == "a" and whole and (match["close"] or "href" in whole.lower()):
        return match[0]
    return "^" if name == "sup" and whole and _is_exponent(match) else ""


def _is_exponent(match: re.Match[str]) -> bool:
    """Tell whether a `<sup>` raises a number: 10<sup>-3</sup> is not 10-3."""
    before = match.string[match.start() - 1 : match.start()]
    return not match["close"] and before.isalnum() and _EXPONENT.match(match.string, match.end()) is not None
