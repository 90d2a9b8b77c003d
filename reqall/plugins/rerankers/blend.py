"""Mixes the fused order with another reranker's: the higher a document stood, the more its place counts.

Several indexes agreed on the first hits, and a reranker that errs does most harm there; further down
the fused order says little. Steps and weights are those of qmd (https://github.com/tobi/qmd).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from pydantic import Field

from reqall import ComponentConfig, DocumentRanking, Nested, Passage, PluginOptions, Reranker, SupportsDeadline

K = 60
"""Levels ranks as reciprocal rank fusion does (Cormack et al. 2009, doi:10.1145/1571941.1572114)."""

TOP = 3
MIDDLE = 10

Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class BlendOptions(PluginOptions):
    """Options of `blend`."""

    reranker: Annotated[ComponentConfig, Nested("reranker")] = Field(
        default=ComponentConfig(use="lexical"),
        description="The reranker whose order is mixed in, with its options: `{use: ..., with: ...}`.",
    )
    top: Share = Field(default=0.25, description=f"Its share in the score of the first {TOP} of the fused order.")
    middle: Share = Field(default=0.4, description=f"Its share from there to place {MIDDLE}.")
    rest: Share = Field(default=0.6, description="Its share further down.")


class Blend:
    """Orders by (1 - share) x place + share x reranked score, each brought to 0..1 within the pool."""

    def __init__(self, options: BlendOptions, reranker: Reranker) -> None:
        """Mix what `reranker` says with the order in which passages come."""
        self._options = options
        self._reranker = reranker

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Order the passages; `parts` are what the place and the reranker add, and the reranker's own parts."""
        return self._mixed(passages, self._reranker.rerank(query, passages))

    def rerank_within(self, query: str, passages: Sequence[Passage], seconds: float) -> DocumentRanking:
        """Order the first passages, as many as the reranker reads in time."""
        if not isinstance(self._reranker, SupportsDeadline):
            return self.rerank(query, passages)
        return self._mixed(passages, self._reranker.rerank_within(query, passages, seconds))

    def _mixed(self, passages: Sequence[Passage], found: DocumentRanking) -> DocumentRanking:
        read = passages[: len(found)]
        places = _scaled({passage.document_id: 1 / (K + rank) for rank, passage in enumerate(read, start=1)})
        scores = _scaled({ranked.document_id: ranked.score for ranked in found})
        parts: dict[str, Mapping[str, float]] = {}
        mixed: dict[str, float] = {}
        for rank, key in enumerate(places, start=1):
            share = self._share(rank)
            both = {"fused": (1 - share) * places[key], "reranked": share * scores[key]}
            mixed[key] = sum(both.values())
            parts[key] = both | {f"reranked.{part}": value for part, value in found.parts.get(key, {}).items()}
        return DocumentRanking.of(mixed.items(), parts)

    def _share(self, rank: int) -> float:
        if rank <= TOP:
            return self._options.top
        return self._options.middle if rank <= MIDDLE else self._options.rest


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Bring scores to 0..1, equal ones to one half."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {key: (score - low) / (high - low) if high > low else 0.5 for key, score in scores.items()}
