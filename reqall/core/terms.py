"""The words of a text, as people compare texts: any script, any case, nothing stemmed or left out."""

import re
import unicodedata
from itertools import pairwise

_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"\bhttps?://\S+")
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\U0003ffff]")
"""Letters of scripts that put no space between words: Thai to Myanmar, Khmer, Han, Kana, Hangul."""


def terms_of(text: str) -> list[str]:
    """Return the words in lower case, in order; of a run of letters without spaces, its pairs of neighbours.

    Web addresses hold no words: those of one system are alike whatever they lead to.
    """
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", _ADDRESS.sub(" ", text)).lower()):
        pairs = ["".join(pair) for pair in pairwise(word)] if _UNSPACED.search(word) else []
        found += pairs or [word]
    return found
