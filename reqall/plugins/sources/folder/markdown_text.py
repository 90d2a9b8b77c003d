"""Markdown as blocks of plain text, parsed as CommonMark (https://spec.commonmark.org) by markdown-it-py.

What a reader of the rendered page would not see is dropped: markup, comments, addresses behind links.
Nothing else is: tables are read as rows, reference definitions stay as they are written, and a tag that
is none of HTML's, such as <message id>, is text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING = 40
"""Quotes and lists within each other; a block that goes deeper is kept as it is written."""

MAX_INLINE = 10_000
"""A longer paragraph is kept as it is written: parsing takes the square of its length where brackets abound."""

_TAGS = (
    "a abbr b blockquote br caption center code col colgroup dd del details div dl dt em figcaption figure font h1 h2"
    " h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q s samp section small source span strike strong style sub"
    " summary sup table tbody td tfoot th thead tr tt u ul var video"
)
_TAG = re.compile(rf"</?(?:{'|'.join(_TAGS.split())})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_DELIMITERS = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*")
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Block:
    """A block at the top of a text, from `line` to before `end`, counted from 1.

    `kind` is a token's type without `_open`, `depth` that of a heading.

    `source` is the inline markup of a heading or paragraph, or the content of front matter; `items` that of
    the items of a list.
    """

    kind: str
    line: int
    end: int
    text: str
    depth: int = 0
    source: str = ""
    items: tuple[str, ...] = ()


def plain_markdown(text: str) -> str:
    """Turn Markdown into plain text, blocks divided by blank lines."""
    return "\n\n".join(block.text for block in markdown_blocks(text) if block.text)


def plain_inline(source: str) -> str:
    """Turn the inline markup of one paragraph into plain text."""
    if len(source) > MAX_INLINE:
        return source.strip()
    (token,) = _parser().parseInline(source)
    return "\n".join(line.strip() for line in _words(token).split("\n")).strip()


def markdown_blocks(text: str, *, front_matter: bool = False) -> Iterator[Block]:
    """Cut Markdown into its top blocks, the front matter first where it is asked for and there."""
    lines = text.split("\n")
    tokens = _block_parser(front_matter=front_matter).parse(text)
    for group in _groups(tokens):
        first = group[0]
        start, end = first.map or (0, 0)
        kind = first.type.removesuffix("_open")
        inline = [token.content for token in group if token.type == "inline"]
        deep = any(token.level >= MAX_NESTING - 1 for token in group)
        yield Block(
            kind=kind,
            line=start + 1,
            end=end + 1,
            text="\n".join(lines[start:end]) if deep else "" if kind == "front_matter" else "\n\n".join(_texts(group)),
            depth=int(first.tag[1]) if kind == "heading" else 0,
            source=first.content if kind == "front_matter" else inline[0] if len(inline) == 1 else "",
            items=tuple(inline) if kind.endswith("_list") else (),
        )


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("strikethrough")


@cache
def _block_parser(*, front_matter: bool) -> "MarkdownIt":
    """Return a parser that leaves what is within blocks alone."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).disable(["reference", "inline"])
    return parser.use(front_matter_plugin) if front_matter else parser


def _groups(tokens: Sequence["Token"]) -> Iterator[Sequence["Token"]]:
    """Cut tokens where nothing is open."""
    start = level = 0
    for end, token in enumerate(tokens, start=1):
        level += token.nesting
        if level == 0:
            yield tokens[start:end]
            start = end


def _texts(group: Sequence["Token"]) -> list[str]:
    """Return the plain texts of one block; a list is one text, a quote those of its blocks."""
    first, inner = group[0], group[1:-1]
    match first.type:
        case "inline":
            found = [_paragraph(first.content)]
        case "fence" | "code_block":
            found = ["\n".join(filter(None, [first.info.strip(), first.content.rstrip("\n")]))]
        case "html_block":
            found = [_without_tags(first.content).strip()]
        case "bullet_list_open" | "ordered_list_open":
            found = ["\n".join(_item(item) for item in _groups(inner))]
        case _:
            found = [text for block in _groups(inner) for text in _texts(block)]
    return [text for text in found if text]


def _item(group: Sequence["Token"]) -> str:
    number = group[0].info
    text = "\n".join(text for block in _groups(group[1:-1]) for text in _texts(block))
    return f"{number}. {text}" if number else f"- {text}".replace("\n", "\n  ")


def _paragraph(source: str) -> str:
    lines = source.split("\n")
    if len(lines) > 1 and "|" in lines[0] and _DELIMITERS.fullmatch(lines[1]):
        rows = [line for number, line in enumerate(lines) if number != 1]
        return "\n".join(_row(row) for row in rows)
    return plain_inline(source)


def _words(token: "Token") -> str:
    return "".join(map(_word, token.children or []))


def _row(source: str) -> str:
    cells = _CELLS.split(source.strip().removeprefix("|").removesuffix("|"))
    return " | ".join(plain_inline(cell.strip().replace("\\|", "|")) for cell in cells)


def _word(token: "Token") -> str:
    match token.type:
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "image":
            return _words(token)
        case "html_inline":
            return _without_tags(token.content)
        case _:
            return token.content


def _without_tags(text: str) -> str:
    """Drop comments that are closed, and HTML's tags."""
    parts: list[str] = []
    at = 0
    # No regular expression: it would look for the end of each comment that has none.
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return _TAG.sub("", "".join([*parts, text[at:]]))
