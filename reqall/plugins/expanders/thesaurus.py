"""Finds what a text names among groups of synonyms, and adds the other words for it.

Words are compared whole and in any case; an abbreviation only as it is written, since CAN is not `can`. In scripts
without spaces between words a term is found anywhere.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reqall.plugins.expanders.terms import is_unspaced

_WORD = re.compile(r"\w+")
_GAP = re.compile(r"[\s\-/]{1,3}")
_LONGEST_ABBREVIATION = 10


@dataclass(frozen=True, slots=True)
class _Named:
    """A stretch of a text, and what else it could be called."""

    start: int
    end: int
    others: Sequence[str]


class Thesaurus:
    """Synonyms, ready to be looked up in both directions."""

    def __init__(self, groups: Sequence[Sequence[str]], *, ignore_case: bool = False) -> None:
        """Take groups of texts that mean the same; a text in several groups has the synonyms of all."""
        self._ignore_case = ignore_case
        self._others: dict[str, dict[str, None]] = {}
        for group in groups:
            for term in group:
                known = self._others.setdefault(self._key(term), {})
                known.update(dict.fromkeys(other for other in group if other != term))
        self._most_words = max((len(key.split()) for key in self._others), default=0)
        self._unspaced = sorted((key for key in self._others if is_unspaced(key)), key=len, reverse=True)

    def rewritten(self, text: str) -> Iterator[str]:
        """Yield the text with the first synonym in brackets after each term, then with the second, and so on.

        The term itself stays: it may be the rarest word of the text, and its synonym be made of common ones.
        """
        named = list(self._named(text))
        for number in range(max((len(each.others) for each in named), default=0)):
            yield _with_others(text, named, number)

    def _key(self, term: str) -> str:
        """Fold what may differ; what is an abbreviation keeps its case, and is told from words by that."""
        words = " ".join(_WORD.findall(term))
        return words if _is_abbreviation(term) and not self._ignore_case else words.casefold()

    def _named(self, text: str) -> Iterator[_Named]:
        """Find the terms from left to right, the longest first; those whose synonyms all stand there already not."""
        words = list(_WORD.finditer(text))
        number = 0
        while number < len(words):
            found = self._at(text, words[number : number + self._most_words])
            if found is None:
                number += 1
                yield from self._inside(text, words[number - 1])
                continue
            count, keys = found
            yield from _new(text, words[number].start(), words[number + count - 1].end(), self._called(keys))
            number += count

    def _at(self, text: str, words: Sequence[re.Match[str]]) -> tuple[int, list[str]] | None:
        for count in range(len(words), 0, -1):
            if not all(_GAP.fullmatch(text, a.end(), b.start()) for a, b in pairwise(words[:count])):
                continue
            written = " ".join(word[0] for word in words[:count])
            forms = dict.fromkeys([written, written.removesuffix("s"), written.casefold()])
            if keys := [form for form in forms if form in self._others and self._is_meant(form, written)]:
                return count, keys
        return None

    def _is_meant(self, form: str, written: str) -> bool:
        """Take the plural of an abbreviation (ECUs) for it, of no other word."""
        return form in (written, written.casefold()) or sum(character.isupper() for character in form) > 1

    def _inside(self, text: str, word: re.Match[str]) -> Iterator[_Named]:
        if not is_unspaced(word[0]):
            return
        place = word.start()
        while place < word.end():
            key = next((key for key in self._unspaced if text.startswith(key, place, word.end())), None)
            if key is not None:
                yield from _new(text, place, place + len(key), self._called([key]))
            place += len(key) if key is not None else 1

    def _called(self, keys: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(other for key in keys for other in self._others[key]))


def _is_abbreviation(term: str) -> bool:
    is_short = len(term) <= _LONGEST_ABBREVIATION and not any(character.isspace() for character in term)
    return is_short and sum(character.isupper() for character in term) > 1


def _new(text: str, start: int, end: int, others: Sequence[str]) -> Iterator[_Named]:
    folded = text.casefold()
    if unused := [other for other in others if other.casefold() not in folded]:
        yield _Named(start, end, unused)


def _with_others(text: str, named: Sequence[_Named], number: int) -> str:
    parts: list[str] = []
    place = 0
    for each in named:
        parts += [text[place : each.end], f" ({each.others[min(number, len(each.others) - 1)]})"]
        place = each.end
    return "".join([*parts, text[place:]])
