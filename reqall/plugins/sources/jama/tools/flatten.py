"""Makes Jama's objects flat: one text per dotted name, so that any of them has the same plain schema."""

import json
import re
from collections.abc import Iterator
from typing import Any

from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.items import iso, moment
from reqall.plugins.sources.jama.text.html import html_text, plain_text
from reqall.plugins.sources.jama.tools.excerpts import MOST_IN_ITEM, MOST_IN_LIST, excerpt, line

_DEEPEST = 6
_LEFT_OUT = ("resources",)
_TIME = re.compile(r"[0-9-]{10}T[0-9:.]{8,12}(?:Z|\+0000)")
_MARKUP = re.compile(r"</?[a-zA-Z]|<!|&#?\w+;")


def flattened(row: Row) -> tuple[dict[str, str], bool]:
    """Return an object as texts by dotted name, without empty values, and whether anything is cut.

    Rich text becomes plain, a text ends after 2,000 characters, and an object after 20,000.
    """
    flat: dict[str, str] = {}
    room, cut = MOST_IN_ITEM, False
    for name, text in _leaves("", row, 0):
        short = excerpt(text)
        if room < len(name) + len(short):
            return flat, True
        cut = cut or len(text) > MOST_IN_LIST
        room -= len(name) + len(short)
        flat[name] = short
    return flat, cut


def _leaves(name: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, each in value.items():
            if name or key not in _LEFT_OUT:
                yield from _leaves(f"{name}.{line(key)}" if name else line(key), each, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(each, dict | list) for each in value):
        for number, each in enumerate(value, start=1):
            yield from _leaves(f"{name}.{number}", each, depth + 1)
    elif isinstance(value, list):
        if text := ", ".join(filter(None, map(_text, value))):
            yield name, text
    elif text := _text(value):
        yield name, text


def _text(value: Any) -> str:
    if isinstance(value, str) and _TIME.fullmatch(value):
        return iso(moment(value)) or value
    if isinstance(value, str):
        return html_text(value) if _MARKUP.search(value) else plain_text(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)
