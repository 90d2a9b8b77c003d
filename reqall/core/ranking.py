"""Rankings: of chunks as recall returns them, of documents after collapse; two types.

Both are built by their `of` alone, which sorts best first, breaks ties by document id, keeps ids
unique and counts ranks from 1. So no stage has to ask whether what it was given is in order.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan

from reqall.core.errors import PluginError


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk at its rank; a higher score is better."""

    chunk_id: int
    document_id: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document at its rank; a higher score is better."""

    document_id: str
    score: float
    rank: int


@dataclass(frozen=True)
class DocumentRanking:
    """Documents, best first; `parts` may say by document what its score is made of, for people to read."""

    documents: tuple[RankedDocument, ...] = ()
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, scores: Iterable[tuple[str, float]], parts: Mapping[str, Mapping[str, float]] | None = None
    ) -> "DocumentRanking":
        """Build from (document id, score); of repeated ids the best score counts. Raises PluginError for NaN."""
        best: dict[str, float] = {}
        for document_id, score in scores:
            _refuse_nan(score)
            if document_id not in best or score > best[document_id]:
                best[document_id] = score
        order = sorted(best.items(), key=lambda item: (-item[1], item[0]))
        return cls(tuple(RankedDocument(d, s, rank) for rank, (d, s) in enumerate(order, start=1)), parts or {})

    def __iter__(self) -> Iterator[RankedDocument]:
        """Best first."""
        return iter(self.documents)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.documents)

    def top(self, limit: int) -> "DocumentRanking":
        """Keep the first `limit` documents."""
        return DocumentRanking(self.documents[:limit], self.parts)

    def only(self, kept: Container[str]) -> "DocumentRanking":
        """Keep the documents in `kept`; ranks are counted anew."""
        remaining = (each for each in self.documents if each.document_id in kept)
        return DocumentRanking(
            tuple(RankedDocument(r.document_id, r.score, rank) for rank, r in enumerate(remaining, start=1)), self.parts
        )

    @cached_property
    def by_id(self) -> dict[str, RankedDocument]:
        """Look a document up by its id."""
        return {document.document_id: document for document in self.documents}


@dataclass(frozen=True)
class ChunkRanking:
    """Chunks, best first."""

    chunks: tuple[RankedChunk, ...] = ()

    @classmethod
    def of(cls, scores: Iterable[tuple[int, str, float]]) -> "ChunkRanking":
        """Build from (chunk id, document id, score); of repeated chunks the best score counts.

        Raises PluginError for a score that is NaN.
        """
        best: dict[int, tuple[str, float]] = {}
        for chunk_id, document_id, score in scores:
            _refuse_nan(score)
            if chunk_id not in best or score > best[chunk_id][1]:
                best[chunk_id] = (document_id, score)
        order = sorted(best.items(), key=lambda item: (-item[1][1], item[1][0], item[0]))
        return cls(tuple(RankedChunk(c, d, s, rank) for rank, (c, (d, s)) in enumerate(order, start=1)))

    def __iter__(self) -> Iterator[RankedChunk]:
        """Best first."""
        return iter(self.chunks)

    def __len__(self) -> int:
        """Count the chunks."""
        return len(self.chunks)

    def limit_documents(self, limit: int) -> "ChunkRanking":
        """Keep the chunks of the first `limit` documents."""
        kept = set(list(self.best_chunks)[:limit])
        return ChunkRanking.of((c.chunk_id, c.document_id, c.score) for c in self.chunks if c.document_id in kept)

    def collapse(self) -> DocumentRanking:
        """Rank documents by their best chunk (MaxP, Dai and Callan 2019, doi:10.1145/3331184.3331303)."""
        return DocumentRanking.of((chunk.document_id, chunk.score) for chunk in self.chunks)

    @cached_property
    def best_chunks(self) -> dict[str, int]:
        """Map each document to its best chunk, documents in order of rank."""
        best: dict[str, int] = {}
        for chunk in self.chunks:
            best.setdefault(chunk.document_id, chunk.chunk_id)
        return best


def _refuse_nan(score: float) -> None:
    """NaN is neither above nor below any score: one of them leaves the others in no order either."""
    if isnan(score):
        raise PluginError("a score is not a number (NaN)", "the component that gave it has a defect")
