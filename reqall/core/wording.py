"""How messages name alternatives and amounts: one wording for every "did you mean" and every number of bytes."""

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


def amount(count: int) -> str:
    """Write a number of bytes in the largest unit that it fills."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
