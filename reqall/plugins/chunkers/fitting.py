"""Cutting text to a number of tokens, whatever way of counting them: each piece is counted, none assumed to fit."""

from collections.abc import Callable

from reqall import ConfigError

Fits = Callable[[str], bool]
"""Tells whether a text is short enough."""


def fitting_prefix(text: str, fits: Fits) -> str:
    """Return a prefix of `text` that fits, cut at a space where one is near; empty if not one character fits."""
    if fits(text):
        return text
    low, high = 0, len(text)  # text[:low] fits, text[:high] does not
    while high - low > 1:
        middle = (low + high) // 2
        if fits(text[:middle]):
            low = middle
        else:
            high = middle
    space = max(text.rfind(white, low // 2, low) for white in " \n")
    # Token counts need not grow with the text: a shorter prefix has to be counted too.
    return text[:space] if space > 0 and fits(text[:space]) else text[:low]


def fitting_pieces(text: str, fits: Fits) -> list[str]:
    """Cut `text` into pieces that fit, nothing left out but space at the cuts. Raises ConfigError."""
    pieces: list[str] = []
    rest = text.strip()
    while rest:
        piece = fitting_prefix(rest, fits)
        if not piece:
            raise ConfigError(
                "the chunk size has no room for a single character of the text",
                "Raise `size` of the chunker or `max_tokens` of the embedder.",
            )
        pieces.append(piece.strip())
        rest = rest[len(piece) :].lstrip()
    return pieces
