"""Ids and attributes in Markdown headings, and the labelled lines that StrictDoc writes below them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reqall import JsonValue
from reqall.plugins.sources.folder.attributes import folded
from reqall.plugins.sources.folder.markdown_text import Block, plain_inline

_LABEL = re.compile(r"\*\*([A-Za-z][\w -]*)\*\*:")
_AFTER = re.compile(r"\s*[:.\u2013\u2014-]\s+|\s*:\s*$|\s+|$")
_LONGEST_ID = 200
"""An id ends within so many characters: an expression of a user's may take long over many."""
_META = frozenset({"uid", "mid", "type", "status", "level", "tags", "prefix", "relations", "statement"})
"""Labels that StrictDoc's Markdown begins a block of fields with; any other bold label is prose."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says: the id, the rest of it as plain text, both as written, and the attributes in {...}."""

    uid: str
    title: str
    whole: str
    attributes: dict[str, JsonValue] = field(default_factory=dict)


def read_heading(source: str, ids: re.Pattern[str]) -> Heading:
    """Read `REQ-12 Title`, `REQ-12: Title`, `[REQ-12] Title` or `Title {#REQ-12 status=Approved}`."""
    rest, attributes = _braces(source)
    text = plain_inline(rest).replace("\n", " ")
    anchor = str(attributes.pop("id", ""))
    attributes.pop("class", None)
    if ids.fullmatch(anchor):
        return Heading(anchor, text, f"{text} {anchor}".strip(), attributes)
    bracket = text.startswith("[")
    found = ids.match(text[bracket:_LONGEST_ID])
    rest = text[bracket + found.end() :] if found else ""
    after = _AFTER.match(rest[bracket:]) if rest.startswith("]" * bracket) else None
    if found and found[0] and after:
        return Heading(found[0], rest[bracket + after.end() :].strip(), text, attributes)
    return Heading("", text, text, attributes)


def _braces(source: str) -> tuple[str, dict[str, JsonValue]]:
    """Divide a heading from the attributes behind it.

    They are written as Pandoc has them: https://pandoc.org/MANUAL.html#extension-header_attributes
    """
    from mdit_py_plugins.attrs.parse import ParseError, parse

    start = source.rfind("{")
    braces = source[start:].rstrip()
    if start < 0 or not braces.endswith("}"):
        return source, {}
    try:
        end, attributes = parse(braces)
    except ParseError:
        return source, {}
    if end != len(braces) - 1 or not attributes:
        return source, {}
    return source[:start].rstrip(), dict(attributes)


def read_labels(blocks: Sequence[Block]) -> tuple[dict[str, JsonValue], int]:
    """Read `**UID**: REQ-12` and the lines like it at the top of the blocks; also how many blocks they take.

    The form is that of StrictDoc's Markdown documents.
    """
    values: dict[str, JsonValue] = {}
    used = 0
    while used < len(blocks) and (labels := _labelled(blocks[used])):
        if used == 0 and not {folded(name) for name in labels} & _META:
            break
        if set(labels) & set(values):
            break  # a label that comes twice is no field of one entry
        used += 1
        last = next(reversed(labels))
        if folded(last) == "relations" and used < len(blocks) and blocks[used].items:
            labels[last] = [dict(filter(None, map(_pair, item.split("\n")))) for item in blocks[used].items]
            used += 1
        elif not labels[last]:
            texts: list[str] = []
            while used < len(blocks) and blocks[used].kind != "heading" and not _labelled(blocks[used]):
                texts.append(blocks[used].text)
                used += 1
            labels[last] = "\n\n".join(texts)
        values.update(labels)
    return values, used


def _labelled(block: Block) -> dict[str, JsonValue]:
    """Return the fields of a paragraph that begins with one; a line without a label goes on with the field before."""
    fields: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in block.source.split("\n") if block.kind == "paragraph" else []:
        pair = _pair(line)
        if pair is None and not fields:
            return {}
        if pair is None:
            lines.append(line)
        elif pair[0] in fields:
            return {}
        else:
            lines = fields.setdefault(pair[0], [pair[1]])
    return {name: plain_inline("\n".join(filter(None, lines))) for name, lines in fields.items()}


def _pair(line: str) -> tuple[str, str] | None:
    found = _LABEL.match(line.strip())
    if not found:
        return None
    value = line.strip()[found.end() :].removesuffix("\\").strip()
    is_code = value.count("`") == 2 and value.startswith("`") and value.endswith("`")  # noqa: PLR2004 - one pair
    return found[1], value.strip("`") if is_code else value
