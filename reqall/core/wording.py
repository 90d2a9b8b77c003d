"""How messages name alternatives: one wording for every "did you mean"."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'x'?"` for the nearest known word, or nothing."""
    known = list(known)
    lowered = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[near[0]]!r}?" if near else ""


def one_of(names: Iterable[str], limit: int = 20) -> str:
    """Join names for a message, cut after `limit`; `none` when there are none."""
    listed = list(names)
    rest = len(listed) - limit
    return (", ".join(listed[:limit]) or "none") + (f" and {rest} more" if rest > 0 else "")
