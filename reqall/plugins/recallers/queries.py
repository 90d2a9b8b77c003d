"""Vectors to search with: a query that is longer than its embedder reads is cut, and its pieces are averaged.

A model ignores what is beyond its limit, so the end of a long query (a whole requirement or test case,
where links are sought) would not be searched for.
"""

import re
from collections.abc import Callable, Sequence

from reqall import Embedder, Vectors

MOST_PIECES = 16
"""Pieces of one query; what is beyond is left out, as each costs a run of the model."""

_BREAKS = (re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])"), re.compile(r"\s+"))


def query_vectors(embedder: Embedder, texts: Sequence[str], piece_tokens: int | None = None) -> Vectors:
    """Embed texts, each as the mean of its pieces of at most `piece_tokens` tokens, or as many as are read.

    Pieces count by their length in characters, so that the mean is about that of all tokens. What the
    embedder returns is handed on as it is where no text had to be cut. Raises EmbedderError.
    """
    import numpy as np

    limit = min(piece_tokens or embedder.max_tokens, embedder.max_tokens)
    cut = [pieces(text, lambda part: embedder.count_tokens(part) <= limit) for text in texts]
    rows = embedder.embed_query([piece for each in cut for piece in each])
    if len(rows) != sum(map(len, cut)) or len(rows) == len(texts):
        return rows
    weights = np.array([len(piece) for each in cut for piece in each], dtype=np.float32)
    starts = np.cumsum([0, *map(len, cut[:-1])])
    sums = np.add.reduceat(rows * weights[:, None], starts, axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    # Pieces may cancel each other out, in theory: then the first one speaks for all.
    means: Vectors = np.where(norms > 0, sums / np.maximum(norms, np.finfo(np.float32).tiny), rows[starts])
    return means


def pieces(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Halve a text until each part fits, at the end of a sentence near its middle, else at a space."""
    waiting = [text]
    found: list[str] = []
    while waiting and len(found) < MOST_PIECES:
        part = waiting.pop()
        middle = _middle(part)
        if len(part) < 2 or fits(part):  # noqa: PLR2004 - one character cannot be halved
            found.append(part)
        else:
            waiting += [half for half in (part[middle:].strip(), part[:middle].strip()) if half]
    return found


def _middle(text: str) -> int:
    """Return the break that is nearest to the middle, if one lies between the first and the last third."""
    half = len(text) / 2
    for breaks in _BREAKS:
        ends = [match.end() for match in breaks.finditer(text) if len(text) <= 3 * match.end() <= 2 * len(text)]
        if ends:
            return min(ends, key=lambda end: abs(end - half))
    return max(int(half), 1)
