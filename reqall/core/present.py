"""Chooses what a hit shows: the piece of a document that answers the query best."""

from collections.abc import Iterable

from reqall.core.terms import terms_of
from reqall.core.types import Chunk, Document

SHOWN_CHARACTERS = 1200
"""Longest text of a hit: some 300 tokens, enough to judge it by."""


def best_text(document: Document, chunk: Chunk | None, query: str) -> tuple[str, str]:
    """Return (section, text): of the chunk that was found, else of the passage with most query words."""
    if chunk is not None and chunk.section:
        return chunk.section, shorten(chunk.body)
    words = set(terms_of(query))
    best = max(_passages(document), key=lambda passage: len(words.intersection(terms_of(passage[1]))), default=("", ""))
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
