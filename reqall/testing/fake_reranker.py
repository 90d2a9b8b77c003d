"""A reranker that behaves: deterministic, without a model."""

import re
from collections.abc import Sequence

from reqall import DocumentRanking, Passage


class SharedWordsReranker:
    """Scores passages by the number of words that they share with the query; `batches` lists how many it was given.

    It has the ability to score, so a pipeline calls `score`; `identity` is empty and nothing is kept unless it is set.
    """

    def __init__(self, batch_size: int = 8, identity: str = "") -> None:
        """Begin with nothing scored."""
        self.batch_size = batch_size
        self.identity = identity
        self.batches: list[int] = []

    def score(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """Count shared words."""
        self.batches.append(len(passages))
        words = set(_words(query))
        return [float(len(words & set(_words(passage.text)))) for passage in passages]

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Order by the scores."""
        scores = self.score(query, passages)
        return DocumentRanking.of((p.document_id, score) for p, score in zip(passages, scores, strict=True))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
