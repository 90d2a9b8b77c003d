"""Words of a text: what a lexical index holds and what a query asks it for.

Scripts that put no space between words are indexed by single characters and searched by pairs of
neighbours, so that any part of a sentence is found without a dictionary.
"""

import re
import unicodedata
from collections import Counter
from itertools import pairwise

_UNSPACED = (
    "\u0e00-\u109f"  # Thai, Lao, Tibetan, Myanmar
    "\u1100-\u11ff\u1780-\u17ff"  # Hangul Jamo, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"  # radicals and marks of Han
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u31ff"  # Kana, Bopomofo, Jamo; the middle dot U+30FB separates
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"  # Han, Hangul
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_UNSPACED_CHARACTER = re.compile(f"([{_UNSPACED}])")

# Vowel signs are no letters to `\w`, yet stand inside words.
_LETTER = "(?:[^\\W_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff])"
_WORD = re.compile(f"{_LETTER}+")
_TOKEN = re.compile(f"{_LETTER}+(?:[-_.]+{_LETTER}+)*")

_ENGLISH = (
    "a about again all am an and any are as at be been being both but by can could did do does each few for from "
    "had has have he her here his how i if in into is it its just may me might more most must my no not of on "
    "once only or other our own same shall she should so some such than that the their them then there these they "
    "this those to too very was we were what when where which who whom why will with would you your"
)
STOP_WORDS = frozenset(_ENGLISH.split())
"""English words that say nothing of what a text is about. Directions (over, below) do: overvoltage, power down."""


def normalise(text: str) -> str:
    """Write compatible characters alike (NFKC); what cannot be encoded becomes a question mark."""
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))


def indexed_text(text: str) -> str:
    """Return the text as a tokenizer shall see it: unspaced scripts cut into characters."""
    return _UNSPACED_CHARACTER.sub(r" \1 ", normalise(text))


def query_terms(text: str) -> Counter[str]:
    """Count the terms of a query; a term of several words, joined by blanks, is a phrase.

    Of a joined token with a digit (SA-TC-7, 3.5) only the whole counts, of one with an underscore
    the whole and its parts, of any other (login-timeout) its parts. Stop words go, unless there is
    nothing else.
    """
    clean = normalise(text)
    terms = [term for token in _TOKEN.findall(_UNSPACED_RUN.sub(" ", clean)) for term in _terms_of_token(token.lower())]
    terms += [pair for run in _UNSPACED_RUN.findall(clean) for pair in _pairs(run)]
    return Counter([term for term in terms if term not in STOP_WORDS] or terms)


def _terms_of_token(token: str) -> list[str]:
    parts: list[str] = _WORD.findall(token)
    if len(parts) == 1:
        return parts
    whole = " ".join(parts)
    if "_" in token:
        return [whole, *parts]
    return [whole] if any(character.isdigit() for character in token) else parts


def _pairs(run: str) -> list[str]:
    letters = [character for character in run if character.isalnum()]
    if len(letters) == 1:
        return letters
    return [f"{first} {second}" for first, second in pairwise(letters)]
