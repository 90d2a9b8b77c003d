"""From a text to terms: what a lexical index holds, and what a query asks it for.

Terms are separated by white space and hold none, so that whoever stores them needs no analysis of its own.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

from reqall.plugins.recallers.languages import Languages

_UNSPACED = (
    "\u0e00-\u109f"  # Thai, Lao, Tibetan, Myanmar
    "\u1100-\u11ff\u1780-\u17ff"  # Hangul Jamo, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"  # radicals and marks of Han
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u31ff"  # Kana, Bopomofo, Jamo; the middle dot U+30FB separates
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"  # Han, Hangul
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_UNSPACED_CHARACTER = re.compile(f"([{_UNSPACED}])")

# Vowel signs are no letters to `\w`, yet stand inside words.
_LETTER = f"(?:(?![{_UNSPACED}])(?:[^\\W_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff]))"
_QUANTITY = (
    r"(?<!\w)(?<!\w[.-])(?P<number>\d+(?:[.,]\d+)*)[ \u00a0-]?"
    r"(?P<unit>(?:[fpnu\u03bcmcdhkKMGT]?(?:[smgAVWNJFHTCK]|Hz|Pa|bar|Bd|bps|mol|lx|lm|cd|rad|sr|[\u03a9\u2126]|Ohm|ohm|eV|"
    r"Wh|Ah|VA|Nm|bits?|[Bb]ytes?|B|bit/s|B/s|b/s|m/s|l|L)|[KMG]iB|\u00b0[CFK]?|%|min|h|d|rpm|dB[mAi]?|psi|ppm|ppb|inch|"
    r"ft|lbs?|sec|msec|usec|hrs?|mins|secs))(?![\w-])"
)
_TOKEN = re.compile(f"{_QUANTITY}|(?P<unspaced>[{_UNSPACED}]+)|(?P<word>{_LETTER}+(?:[-_.]+{_LETTER}+)*)")
_ASCII_TOKEN = re.compile(f"{_QUANTITY}|(?P<unspaced>(?!))|(?P<word>[A-Za-z0-9]+(?:[-_.]+[A-Za-z0-9]+)*)")
"""The same for plain text, four times faster."""
_PART = re.compile(f"{_LETTER}+")
_HUMP = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_DIGIT = re.compile(r"\d")
_NEGATION = re.compile(r"n['\u2019]t\b|(?<=\bcan)not\b")
_POSSESSIVE = re.compile(r"['\u2019]s\b")

MOST_RUNS = 6
"""Most parts of an identifier whose runs of neighbours are terms too; of a longer one the parts are."""

_REMEMBERED = 200_000
"""Most words whose terms are kept: some 40 MB."""


def normalise(text: str) -> str:
    """Write compatible characters alike (NFKC); what cannot be encoded becomes a question mark."""
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))


def spaced(text: str) -> str:
    """Put spaces around each character of a script that has none between words."""
    return _UNSPACED_CHARACTER.sub(r" \1 ", normalise(text))


class Analysis:
    """Cuts texts into terms; thread-safe."""

    def __init__(self, languages: Languages) -> None:
        """Stem and stop words by these languages."""
        self._languages = languages
        self._known: dict[str, tuple[str, ...]] = {}

    def indexed(self, text: str) -> list[str]:
        """Return the terms to be found by, in order: of an identifier the whole, its runs of parts, its parts."""
        return self._kept(text, _indexed_identifier)

    def asked(self, text: str) -> list[str]:
        """Return the terms to search for, in order: of an identifier (SA-TC-7, 3.4.1) the whole alone."""
        return self._kept(text, lambda parts: ["-".join(parts)])

    def _kept(self, text: str, identifier: Callable[[list[str]], list[str]]) -> list[str]:
        words = list(self._words(text, identifier))
        content = [word for word in words if word not in self._languages.stop_words] or words
        return [term for word in content for term in self._known.get(word) or self._terms(word)]

    def _terms(self, word: str) -> tuple[str, ...]:
        is_stemmed = word.isalpha() and not _UNSPACED_CHARACTER.match(word)
        terms = tuple(map(_folded, self._languages.stems(word) if is_stemmed else (word,)))
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        self._known[word] = terms
        return terms

    def _words(self, text: str, identifier: Callable[[list[str]], list[str]]) -> Iterator[str]:
        clean = _POSSESSIVE.sub("", _NEGATION.sub(" not", normalise(text)))
        for match in (_ASCII_TOKEN if clean.isascii() else _TOKEN).finditer(clean):
            if match["unit"]:
                number, unit = match["number"], match["unit"].lower()
                yield from (number + unit, number, unit)
            elif match["unspaced"]:
                yield from _pairs(match["unspaced"], identifier is _indexed_identifier)
            else:
                parts = [match["word"]] if match["word"].isalnum() else _PART.findall(match["word"])
                if len(parts) > 1 and _DIGIT.search(match["word"]):
                    yield from identifier([part.lower() for part in parts])
                else:
                    yield from _joined(parts)


def _indexed_identifier(parts: list[str]) -> list[str]:
    count = len(parts)
    if count > MOST_RUNS:
        return ["-".join(parts), *parts]
    return [
        "-".join(parts[start : start + length]) for length in range(count, 0, -1) for start in range(count - length + 1)
    ]


def _joined(parts: list[str]) -> Iterator[str]:
    """Yield login-timeout, loginTimeout and login_timeout alike: the whole without its joints, and its parts."""
    humps = [hump for part in parts for hump in _humps(part)]
    if len(humps) > 1 and (whole := "".join(parts).lower()) and len(whole) > len(humps):
        yield whole
    for hump in humps:
        yield hump.lower()


def _humps(part: str) -> list[str]:
    if part.islower() or part.isupper() or not part.isascii():
        return [part]
    humps = [hump for hump in _HUMP.findall(part) if len(hump) > 1]
    return humps if len(humps) > 1 else [part]


def _pairs(run: str, single: bool) -> Iterator[str]:
    """Yield the pairs of neighbours; what is indexed is its single characters too."""
    letters = [character for character in run if character.isalnum()]
    if single or len(letters) == 1:
        yield from letters
    yield from (first + second for first, second in pairwise(letters))


def _folded(term: str) -> str:
    """Take accents off Latin letters, and from \u0451 its dots; in other scripts marks are letters."""
    if term.isascii():
        return term
    plain = (unicodedata.normalize("NFD", character) for character in term)
    return "".join(c[0] if c[0].isascii() or c == "\u0435\u0308" else unicodedata.normalize("NFC", c) for c in plain)
