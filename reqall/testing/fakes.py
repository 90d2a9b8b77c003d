"""Fakes that behave: small, deterministic, without a model or a network."""

import re
from collections.abc import Sequence
from hashlib import blake2b

from reqall import Vectors


class HashingEmbedder:
    """Bag of words hashed to dimensions, rows of length 1: texts that share words are near.

    `embedded` lists the texts given to `embed_documents`, `queries` those given to `embed_query`,
    in order. A text of more than `max_tokens` words is cut, as a model would.
    """

    def __init__(self, dimensions: int = 64, max_tokens: int = 256) -> None:
        """Begin with nothing embedded."""
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.identity = f"hashing/{dimensions}/{max_tokens}"
        self.embedded: list[str] = []
        self.queries: list[str] = []

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(_words(text))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found."""
        self.embedded.extend(texts)
        return self._embed(texts)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with."""
        self.queries.extend(texts)
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _words(text)[: self.max_tokens] or [""]:
                vectors[row, _hashed(word) % self.dimensions] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _hashed(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
