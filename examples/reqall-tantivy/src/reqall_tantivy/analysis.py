"""How texts become terms: the engine's own analysers, the same for what is stored and for what is asked.

Scripts that put no space between words are cut into single characters, and searched by pairs of
neighbours: any part of a sentence is found without a dictionary.
"""

import unicodedata
from collections import Counter
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from reqall_tantivy.options import WITHOUT_STOP_WORDS, Language

if TYPE_CHECKING:
    import tantivy

Term: TypeAlias = tuple[str, ...]
"""One word, or several that must follow each other."""

# Patterns as the engine reads them (https://docs.rs/regex/latest/regex/#syntax): `scx` are script
# extensions, `&&` and `--` are intersection and difference.
_LETTERS = r"[\p{L}\p{N}\p{M}]"
_SCRIPTS = (
    r"\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Hangul}"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
)
_UNSPACED = f"[[{_SCRIPTS}]&&{_LETTERS}]"
_SPACED = f"[{_LETTERS}--{_UNSPACED}]"

TOKENS = f"{_UNSPACED}|{_SPACED}+"
"""What is a term of its own."""

JOINED = f"{_SPACED}+(?:[-_.]+{_SPACED}+)*"
"""Words that are written as one: SA-TC-7, 3.5, login-timeout."""

RUNS = f"{_UNSPACED}+"
"""Characters without a space between them."""


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot hold, half a surrogate pair: the engine refuses it."""
    return text.encode("utf-8", "replace").decode("utf-8")


def normalise(text: str) -> str:
    """Write compatible characters alike (Unicode NFKC)."""
    return unicodedata.normalize("NFKC", encodable(text))


class Analysis:
    """The analysers of one language."""

    def __init__(self, language: Language, *, stop_words: bool = True) -> None:
        """Build nothing yet; `stop_words` leaves them out of queries, where the language has a list."""
        self._language = language
        self._stop_words = stop_words and language not in WITHOUT_STOP_WORDS

    @cached_property
    def terms(self) -> "tantivy.TextAnalyzer":
        """Cut a text into terms: tokens in lower case, without endings and accents."""
        from tantivy import Filter

        stemming = [] if self._language == "none" else [Filter.stemmer(self._language)]
        # Accents go last: stemmers know words by them.
        return _analyser(TOKENS, *stemming, Filter.ascii_fold())

    def query_terms(self, text: str) -> Counter[Term]:
        """Count the terms of a query.

        Of a joined token with a digit (SA-TC-7, 3.5) only the whole counts, of one with an
        underscore the whole and its parts, of any other (login-timeout) its parts. Stop words go,
        unless there is nothing else.
        """
        clean = normalise(text)
        tokens = [token for joined in self._joined.analyze(clean) for token in self._parts(joined)]
        told = [token for token in tokens if len(token) > 1 or self._content.analyze(token[0])]
        pairs = [pair for run in self._runs.analyze(clean) for pair in _pairs(self.terms.analyze(run))]
        kept = told if told or pairs else tokens
        return Counter([tuple(self.terms.analyze(" ".join(token))) for token in kept] + pairs)

    def _parts(self, joined: str) -> list[Term]:
        parts = self._tokens.analyze(joined)
        singles: list[Term] = [(part,) for part in parts]
        if len(parts) == 1:
            return singles
        if "_" in joined:
            return [tuple(parts), *singles]
        return [tuple(parts)] if any(character.isdigit() for character in joined) else singles

    @cached_property
    def _content(self) -> "tantivy.TextAnalyzer":
        from tantivy import Filter

        return _analyser(TOKENS, *([Filter.stopword(self._language)] if self._stop_words else []))

    @cached_property
    def _tokens(self) -> "tantivy.TextAnalyzer":
        return _analyser(TOKENS)

    @cached_property
    def _joined(self) -> "tantivy.TextAnalyzer":
        return _analyser(JOINED)

    @cached_property
    def _runs(self) -> "tantivy.TextAnalyzer":
        return _analyser(RUNS)


def _analyser(pattern: str, *filters: "tantivy.Filter") -> "tantivy.TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.regex(pattern)).filter(Filter.lowercase())
    for each in filters:
        builder = builder.filter(each)
    return builder.build()


def _pairs(characters: list[str]) -> list[Term]:
    return list(pairwise(characters)) if len(characters) > 1 else [(character,) for character in characters]
