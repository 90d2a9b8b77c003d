"""The stage that orders the pool anew: within its time, and with the fused order to fall back to."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reqall.core import conformity
from reqall.core.guard import Guard
from reqall.core.protocols import Reranker
from reqall.core.ranking import DocumentRanking
from reqall.core.reranker_abilities import SupportsDeadline
from reqall.core.trace import Trace
from reqall.core.types import Passage

DEADLINE_SECONDS = 45.0
"""How long a search may take before its reranker has to stop: MCP clients give up after 60."""

USED = 0.9
"""The share of the time left that a reranker is told: its last batch may take longer than the one before."""

STRATEGY = "rerank"


@dataclass(frozen=True, slots=True)
class Placed:
    """A document at its place in the final order, with the score and the strategy that put it there."""

    document_id: str
    score: float
    strategy: str
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a search that began at `begun` (monotonic seconds) has to end."""

    seconds: float
    begun: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds from now on; negative when it has passed."""
        return self.begun + self.seconds - time.monotonic()


class Reranking:
    """The reranker of a pipeline behind its guard. Thread-safe."""

    def __init__(self, reranker: Reranker | None, guard: Guard, fused: str) -> None:
        """`fused` is the strategy of documents that stay where the fuser put them; without a reranker all do."""
        self.reranker = reranker
        self._guard = guard
        self._fused = fused

    def order(
        self, query: str, pool: DocumentRanking, passages: Sequence[Passage], deadline: Deadline, trace: Trace
    ) -> list[Placed]:
        """Place the documents of `pool`; whatever the reranker does, a warning tells of it and there is an order.

        `passages` are those of the pool, in its order; of none nothing is asked.
        """
        placed = [Placed(ranked.document_id, ranked.score, self._fused) for ranked in pool]
        if self.reranker is None or not passages:
            return placed
        left = deadline.left
        if left <= 0:
            trace.warnings.append(f"{self._left_out}: the search's {deadline.seconds:g} s had passed before")
            return placed
        try:
            found = self._guard.begin(lambda _call: self._asked(query, passages, left), left).result()
        except Exception as error:  # noqa: BLE001 - a plugin that fails must not take the search down
            trace.warnings.append(f"{self._left_out}: {self._guard.told(error)}")
            return placed
        if not found:
            trace.warnings.append(f"{self._left_out}: it could not read any of {len(pool)} candidates in time")
        elif len(found) < len(pool):
            told = f"{self._guard.subject} read only {len(found)} of {len(pool)} candidates in time"
            trace.warnings.append(f"{told}; the others follow in the fused order")
        return self._merged(found, placed)

    @property
    def _left_out(self) -> str:
        return f"{self._guard.subject} was left out, the order is the fused one"

    def _asked(self, query: str, passages: Sequence[Passage], left: float) -> DocumentRanking:
        reranker, ids = self.reranker, [passage.document_id for passage in passages]
        assert reranker is not None, "without a reranker nothing is asked"
        if isinstance(reranker, SupportsDeadline):
            seconds = min(left, self._guard.timeout) * USED
            return conformity.reranked_in_part(reranker.rerank_within(query, passages, seconds), ids)
        return conformity.reranked(reranker.rerank(query, passages), ids)

    def _merged(self, found: DocumentRanking, placed: Sequence[Placed]) -> list[Placed]:
        """Put what was read before what was not; each keeps the score of its own strategy."""
        first = [Placed(r.document_id, r.score, STRATEGY, found.parts.get(r.document_id, {})) for r in found]
        return first + [each for each in placed if each.document_id not in found.by_id]
