"""Stemmers and stop words by language: Snowball (https://snowballstem.org) and the package stop-words.

A word is stemmed in the language of its script, so that texts of several scripts may stand in one
index; Latin letters say nothing of their language, so that is for an option to tell.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, field_validator

from reqall import PluginOptions, Stored

_OWN = "english"
_ENGLISH = (
    "a about am an and any are as at be been being both but by can could did do does each few for from had has have "
    "he her here his how i if in into is it its just may me might must my of on or other our own same shall she "
    "should so some such than that the their them then there these they this those to too very was we were what when "
    "where which who whom why will with would you your"
)
"""No word of direction, order, limit or negation (over, before, within, not): in a requirement they are the point."""

_CARRIERS = {
    "dutch": "boven buiten geen na niet nooit onder over tegen tijdens tot tussen voor zonder",
    "french": "après avant contre entre hors jusque ne ni non pas pendant sans sauf sous sur vers",
    "german": (
        "außer bevor bis gegen hinter immer kein keine keinem keinen keiner keines mindestens nach nachdem nicht "
        "nichts nie niemals nur ohne über unter vor während zwischen"
    ),
    "italian": "contro dentro dopo durante entro fino fuori mai né non prima senza sopra sotto",
    "portuguese": "antes após até contra depois durante entre fora jamais não nem nunca sem sob sobre",
    "russian": "без больше вне до кроме меньше между над не нельзя нет ни никогда перед под после только",
    "spanish": "antes bajo contra después durante entre fuera hasta jamás ni no nunca sin sobre",
}
"""Words that the lists hold and that carry the meaning of a requirement."""

_BY_SCRIPT = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)


def known_languages() -> list[str]:
    """Name the languages that can be stemmed."""
    import Stemmer

    return sorted(set(Stemmer.algorithms()) - {"porter", "dutch_porter"})


class Languages:
    """Stems and stop words of the languages that Latin letters may be of; thread-safe."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take names as `known_languages` gives them; none: Latin words stay as they are."""
        self._names = tuple(names)
        self._lock = threading.Lock()

    def stems(self, word: str) -> tuple[str, ...]:
        """Return the stems of a word in lower case, one for each language that makes another of it."""
        names = _script_language(word) or self._names
        with self._lock:  # a stemmer works on one word at a time
            return tuple(dict.fromkeys(self._stemmers[name].stemWord(word) for name in names)) or (word,)

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Words that say nothing of what a text is about."""
        return frozenset[str]().union(*map(_stop_words, self._names))

    @cached_property
    def _stemmers(self) -> dict[str, Any]:
        import Stemmer

        return {name: Stemmer.Stemmer(name) for name in {*self._names, *(name for _, _, name in _BY_SCRIPT)}}


def _script_language(word: str) -> tuple[str, ...]:
    if word[0] < _BY_SCRIPT[0][0]:
        return ()
    return tuple(name for first, last, name in _BY_SCRIPT if first <= word[0] <= last)


def _stop_words(language: str) -> frozenset[str]:
    if language == _OWN:
        return frozenset(_ENGLISH.split())
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    listed = get_stop_words(language) if language in AVAILABLE_LANGUAGES else []
    return frozenset(listed) - frozenset(_CARRIERS.get(language, "").split())


class LanguageOptions(PluginOptions):
    """The options of an index that cuts texts into terms."""

    language: Annotated[str | list[str], Stored()] = Field(
        default="english",
        description="Language of the words in Latin letters, or a list of languages: for stems and stop words. An "
        "empty list: neither. Words of other scripts (Greek, Cyrillic, Arabic ...) are stemmed by their script.",
    )

    @field_validator("language")
    @classmethod
    def _known(cls, value: str | list[str]) -> str | list[str]:
        for name in [value] if isinstance(value, str) else value:
            if name not in known_languages():
                raise ValueError(f"no language {name!r}; there are {', '.join(known_languages())}")
        return value

    @property
    def languages(self) -> Languages:
        """Stems and stop words of them."""
        return Languages([self.language] if isinstance(self.language, str) else self.language)
