"""Finds abbreviations where a text defines them: "Electronic Control Unit (ECU)" and "ECU (Electronic Control Unit)".

The algorithm of Schwartz and Hearst 2003 (A simple algorithm for identifying abbreviation definitions in
biomedical text, Pacific Symposium on Biocomputing 8). Beyond it a short form needs a capital letter: item texts
are full of words in brackets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SHORTEST, LONGEST = 2, 10
"""Characters of a short form."""

_MOST_SHORT_WORDS = 2

_BRACKETS = re.compile(r"[(\uff08]([^()\uff08\uff09\n]{2,200})[)\uff09]")
_SENTENCE_END = re.compile(r"[.;:!?\u3002]\s|[()\uff08\uff09\n]")
_LIST_MARK = re.compile(r"[,;]\s")
_QUOTES = " \t\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb*_`"


@dataclass(frozen=True, slots=True)
class Definition:
    """An abbreviation as a text defines it."""

    short: str
    long: str


def definitions(text: str) -> Iterator[Definition]:
    """Find the definitions of a text, in order."""
    for match in _BRACKETS.finditer(text):
        before = _SENTENCE_END.split(text[: match.start()])[-1].strip(_QUOTES)
        # Of "(ECU, see 3.1)" the first part counts.
        inside = _LIST_MARK.split(match[1])[0].strip(_QUOTES)
        found = _definition(inside, before) if _is_short(inside) else _reversed(inside, before)
        if found is not None:
            yield found


def _is_short(text: str) -> bool:
    """At most two words and ten characters, begins with a letter or digit, and holds a capital."""
    is_named = any(character.isupper() for character in text) and text[:1].isalnum()
    return is_named and SHORTEST <= len(text) <= LONGEST and len(text.split()) <= _MOST_SHORT_WORDS


def _reversed(inside: str, before: str) -> Definition | None:
    """Read "ECU (Electronic Control Unit)": the word before the brackets is the short form."""
    words = before.split()
    short = words[-1].strip(_QUOTES) if words else ""
    if not _is_short(short) or len(inside.split()) > _most_words(short):
        return None
    found = _definition(short, inside)
    return found if found is not None and found.long == inside else None


def _definition(short: str, candidate: str) -> Definition | None:
    """Find the long form at the end of `candidate`, if the letters of the short form stand in it in order."""
    window = " ".join(candidate.split()[-_most_words(short) :])
    start = _start(short, window)
    if start is None:
        return None
    long = window[start:].strip(_QUOTES)
    is_longer = len(long) > len(short) and len(long.split()) <= _most_words(short)
    return Definition(short, long) if is_longer and short.casefold() not in long.casefold().split() else None


def _start(short: str, long: str) -> int | None:
    """Match from the right, each letter or digit at its last place; the first must begin a word."""
    place = len(long)
    letters = [character for character in short.lower() if character.isalnum()]
    folded = long.lower()
    if len(folded) != len(long):
        return None  # a letter whose lower case is longer would shift all places
    for number, letter in enumerate(reversed(letters), start=1):
        place = folded.rfind(letter, 0, place)
        while number == len(letters) and place > 0 and folded[place - 1].isalnum():
            place = folded.rfind(letter, 0, place)
        if place < 0:
            return None
    return place


def _most_words(short: str) -> int:
    """Words that a long form may have: min(|A| + 5, 2 |A|) of the paper."""
    length = sum(character.isalnum() for character in short)
    return min(length + 5, length * 2)
