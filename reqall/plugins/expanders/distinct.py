"""The rule for every expansion: the user's own text first, nothing twice, few in all."""

from collections.abc import Iterable

LIMIT = 5
"""Most texts of one search, the user's own included: each costs a search of every arm."""


def distinct(texts: Iterable[str], limit: int = LIMIT) -> list[str]:
    """Keep the first of texts that differ in case or white space alone, blank ones not; at most `limit`.

    The first text always stays, even if it is blank.
    """
    kept: dict[str, str] = {}
    for text in texts:
        folded = " ".join(text.split()).casefold()
        if folded or not kept:
            kept.setdefault(folded, text)
    return list(kept.values())[:limit]
