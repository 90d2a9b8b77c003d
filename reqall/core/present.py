"""Chooses what a hit shows: the piece of a document that answers the query best."""

import re
from collections.abc import Iterable
from itertools import pairwise

from reqall.core.types import Chunk, Document

SHOWN_CHARACTERS = 1200
"""Longest text of a hit: some 300 tokens, enough to judge it by."""

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\U0003ffff]")
"""Letters of scripts that put no space between words: Thai to Myanmar, Khmer, Han, Kana, Hangul."""


def best_text(document: Document, chunk: Chunk | None, query: str) -> tuple[str, str]:
    """Return (section, text): of the chunk that was found, else of the passage with most query words."""
    if chunk is not None and chunk.section:
        return chunk.section, shorten(chunk.body)
    words = _words(query)
    best = max(_passages(document), key=lambda passage: len(words & _words(passage[1])), default=("", ""))
    return best[0], shorten(best[1])


def shorten(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """Cut at a word's end and mark the cut."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    at_word = head.rpartition(" ")[0]
    return f"{at_word if len(at_word) > limit // 2 else head} …"


def _passages(document: Document) -> Iterable[tuple[str, str]]:
    """Cut each section into passages of the shown length; `max` keeps the first best."""
    for section, text in document.sections.items():
        rest = text.strip()
        while rest:
            cut = _passage_end(rest)
            yield section, rest[:cut].strip()
            rest = rest[cut:].lstrip()


def _passage_end(text: str) -> int:
    """Cut at the last end of a paragraph in the second half, else of a sentence, else of a word."""
    if len(text) <= SHOWN_CHARACTERS:
        return len(text)
    for mark in ("\n", ". ", "\u3002", " "):
        cut = text.rfind(mark, SHOWN_CHARACTERS // 2, SHOWN_CHARACTERS)
        if cut >= 0:
            return cut + len(mark)
    return SHOWN_CHARACTERS


def _words(text: str) -> set[str]:
    """Words in lower case; of a run of letters without spaces, its pairs of neighbours."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        pairs = ["".join(pair) for pair in pairwise(word)] if _UNSPACED.search(word) else []
        found.update(pairs or [word])
    return found
