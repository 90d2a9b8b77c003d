"""Words of a text in any script, as far as it takes to count them."""

import re
import unicodedata
from itertools import pairwise

_UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Myanmar, Khmer
    "\u2e80-\u2fff\u3005-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff\U00020000-\U0003ffff"  # Han, Kana, Hangul
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")


def is_unspaced(text: str) -> bool:
    """Tell whether a text holds letters of a script that puts no space between words."""
    return _UNSPACED_RUN.search(text) is not None


def terms_of(text: str) -> list[str]:
    """List the words in lower case, of scripts without spaces the pairs of neighbours; no word of one letter."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _UNSPACED_RUN.fullmatch(word):
            found += ["".join(pair) for pair in pairwise(word)]
        elif len(word) > 1:
            found.append(word)
    return found
