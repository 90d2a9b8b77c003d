"""Chooses what a hit shows: the piece of a document that answers the query best."""

import re
from collections.abc import Iterable

from reqall.core.types import Chunk, Document

SHOWN_CHARACTERS = 1200
"""Longest text of a hit: some 300 tokens, enough to judge it by."""

_WORD = re.compile(r"\w+")


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
    """Cut each section into runs of paragraphs of about the shown length; `max` keeps the first best."""
    for section, text in document.sections.items():
        run = ""
        for paragraph in text.split("\n"):
            if run and len(run) + len(paragraph) > SHOWN_CHARACTERS:
                yield section, run.strip()
                run = ""
            run = f"{run}\n{paragraph}"
        if run.strip():
            yield section, run.strip()


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
