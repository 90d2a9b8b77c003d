"""Makes an order of single scores: in batches, in fused order, until the time is up; known ones are not asked for."""

import time
from collections.abc import Iterator, Sequence
from math import inf

from reqall.core import conformity
from reqall.core.protocols import Reranker
from reqall.core.ranking import DocumentRanking
from reqall.core.reranker_abilities import SupportsScores
from reqall.core.scores import Score, ScoreCache, score_key
from reqall.core.types import Passage


def scoring(reranker: Reranker, cache: ScoreCache) -> Reranker:
    """Let a reranker that scores be called in batches and remembered; any other stays as it is."""
    return Scoring(reranker, cache) if isinstance(reranker, SupportsScores) else reranker


class Scoring:
    """A reranker over a scorer. Thread-safe if that is."""

    def __init__(self, scorer: SupportsScores, cache: ScoreCache) -> None:
        """Ask nothing yet."""
        self._scorer = scorer
        self._cache = cache

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Score all passages, however long that takes."""
        return self.rerank_within(query, passages, inf)

    def rerank_within(self, query: str, passages: Sequence[Passage], seconds: float) -> DocumentRanking:
        """Score passages in order; no batch is begun that would take longer than what is left, if it is like the last.

        Raises PluginError for scores that are none.
        """
        end = time.monotonic() + seconds
        identity = self._scorer.identity
        keys = [score_key(identity, query, passage.text) for passage in passages]
        known = self._cache.get(keys) if identity and keys else {}
        took = 0.0
        for batch in self._batches(keys, passages, known):
            begun = time.monotonic()
            if begun + took > end:
                break
            values = conformity.scores(self._scorer.score(query, list(batch.values())), len(batch))
            took = time.monotonic() - begun
            cost = took * 1000 / len(batch)
            fresh = {key: Score(value, cost) for key, value in zip(batch, values, strict=True)}
            known.update(fresh)
            if identity:
                self._cache.put(fresh)
        return _ranked(keys, passages, known)

    def _batches(
        self, keys: Sequence[bytes], passages: Sequence[Passage], known: dict[bytes, Score]
    ) -> Iterator[dict[bytes, Passage]]:
        """Cut what is unknown into batches; of passages of one text one is enough."""
        unknown = list({key: passage for key, passage in zip(keys, passages, strict=True) if key not in known}.items())
        size = max(self._scorer.batch_size, 1)
        for start in range(0, len(unknown), size):
            yield dict(unknown[start : start + size])


def _ranked(keys: Sequence[bytes], passages: Sequence[Passage], known: dict[bytes, Score]) -> DocumentRanking:
    """Rank the first passages, up to one without a score: what follows would be put before what was not read."""
    count = next((place for place, key in enumerate(keys) if key not in known), len(keys))
    return DocumentRanking.of(
        (passage.document_id, known[key].value) for key, passage in zip(keys[:count], passages[:count], strict=True)
    )
