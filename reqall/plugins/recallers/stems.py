"""Stems of a text, the terms of the vector space model: documents and queries are read in one way.

Words are split and stop words dropped as `words` does it for queries, then stemmed by a tokenizer of FTS5.
A name in camel case (OperatorLogin) counts whole and by its parts, so that prose finds it.
"""

import re
import shlex
import threading
from collections import Counter
from functools import cache

import apsw

from reqall.plugins.recallers.words import query_terms

_MOST = 1_000_000
"""Stems that are remembered; beyond it all are forgotten."""

_CAMEL_CASE = re.compile(r"\b[^\W\d_]*[a-z][A-Z][^\W_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Stemmer:
    """Counts the stems of texts. Thread-safe."""

    def __init__(self, tokenizer: str) -> None:
        """Take an FTS5 tokenizer, as in `tokenize=`. Raises apsw.Error or ValueError for one that there is not."""
        name, *arguments = shlex.split(tokenizer)
        self._tokenize = apsw.Connection(":memory:").fts5_tokenizer(name, arguments)
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    def count(self, text: str) -> Counter[str]:
        """Count the stems of a text; a term of several words is one stem of several, joined by blanks."""
        stems: Counter[str] = Counter()
        for term, times in query_terms(_CAMEL_CASE.sub(_with_parts, text)).items():
            stems[" ".join(self._stem(word) for word in term.split())] += times
        return stems

    def _stem(self, word: str) -> str:
        known = self._known.get(word)
        if known is None:
            with self._lock:
                text, why = word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT
                tokens = self._tokenize(text, why, None, include_offsets=False, include_colocated=False)
                known = " ".join(map(str, tokens))
                if len(self._known) >= _MOST:
                    self._known = {}
                self._known[word] = known
        return known


@cache
def stemmer(tokenizer: str) -> Stemmer:
    """Return the one stemmer of a tokenizer: what it remembers serves all indexes."""
    return Stemmer(tokenizer)


def _with_parts(name: re.Match[str]) -> str:
    return " ".join([name[0], *_PART.findall(name[0])])
