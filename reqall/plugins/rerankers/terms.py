"""What of a text can agree with another: words, pieces of words, identifiers and numbers.

Pieces of four letters find "synchronise" in "synchronisation" and "Bremse" in "Notbremse" in any
language, without a stemmer or a list of stop words (McNamee and Mayfield 2004,
doi:10.1023/B:INRT.0000009441.78971.be).
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

PIECE = 4
"""Letters of a piece."""

STEM = 6
"""Letters of a word that count where it is compared whole: a stem, roughly."""

_UNSPACED = (
    "[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u309f"
    "\u30a1-\u30fa\u30fc-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no space between words: Thai to Myanmar, Khmer, Han, Kana, Hangul."""

_UNSPACED_RUN = re.compile(f"{_UNSPACED}+")

# Vowel signs are no letters to `\\w`, yet stand inside words.
_WORD = re.compile("[\\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff]+")

_UNITS = (
    "%|‰|°C|°F|°|ppm|[kMGT]?i?B|[kMG]?bit|bytes?|[kMG]?bps|[kMG]?Hz|rpm|fps|dB|[nuµmk]?[sVAWmgNJFH]|min|h|hours?|days?|"
    "seconds?|minutes?|MW|MV|MPa|[hkM]?Pa|m?bar|psi|Nm|cm|k?m/h|K|m?l|[kM]?Ω|[kM]?ohms?|px|deg|rad"
)
_NUMBER = re.compile(rf"(?<![\w.])(?<!\w-)[-+±]?(\d+(?:[.,]\d+)*)(?:[ \u00a0]?({_UNITS})(?!\w))?(?!\w)")
_IDENTIFIER = re.compile(r"[^\W_]+(?:[-_./:]+[^\W_]+)*", re.ASCII)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}")


def normalised(text: str) -> str:
    """Write compatible characters alike (NFKC)."""
    return unicodedata.normalize("NFKC", text)


def words(text: str) -> list[str]:
    """List the words of normalised text in lower case, unspaced scripts as pairs of neighbours."""
    lower = text.lower()
    runs: list[str] = _UNSPACED_RUN.findall(lower)
    spaced: list[str] = _WORD.findall(_UNSPACED_RUN.sub(" ", lower) if runs else lower)
    return spaced + [pair for run in runs for pair in _pairs(run)]


@lru_cache(maxsize=20_000)
def pieces(word: str) -> tuple[str, ...]:
    """Cut a word; its borders count as letters, so that beginnings and short words are told apart."""
    bordered = f" {word} "
    if len(bordered) <= PIECE or _UNSPACED_RUN.match(word):
        return (bordered,)
    return tuple(bordered[start : start + PIECE] for start in range(len(bordered) - PIECE + 1))


def stems(terms: list[str]) -> list[str]:
    """Cut words to what they have in common with their inflections; numbers stay whole."""
    return [word[:STEM] if word.isalpha() else word for word in terms]


def codes(text: str) -> list[str]:
    """List what has to agree exactly, once: identifiers, abbreviations, numbers with and without their unit."""
    return sorted(set(_codes(text)))


def _codes(text: str) -> Iterator[str]:
    for number, unit in _NUMBER.findall(text):
        plain = number.replace(",", ".")
        yield plain
        if unit:
            yield f"{plain} {unit}"
    for token in set(_IDENTIFIER.findall(text)):
        if token.isdecimal() or (token.isalpha() and not _INNER_CAPITAL.search(token)):
            continue
        if not _NUMBER.fullmatch(token):
            yield token.casefold()


def _pairs(run: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(run)] if len(run) > 1 else [run]
