"""Lexical recall in memory: Okapi BM25 by the package rank_bm25 (https://github.com/dorianbrown/rank_bm25).

For experiments and small corpora: built anew in each process, no stemming, no stop words.
"""

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from reqall import (
    ChunkRanking,
    Filters,
    IndexBatch,
    IndexEntry,
    PluginOptions,
    Position,
    SqlConnection,
    Storage,
)
from reqall.plugins.recallers.facets import matches
from reqall.plugins.recallers.words import spaced

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi


class RankBm25Options(PluginOptions):
    """Options of `rank_bm25`."""

    k1: float = Field(default=1.5, gt=0, description="How slowly the weight of a repeated word saturates.")
    b: float = Field(default=0.75, ge=0, le=1, description="How much a long text is held against it; 0 = not at all.")


@dataclass(frozen=True, slots=True)
class _Model:
    """The entries at one moment, and BM25 over them; None where no entry holds a word."""

    entries: Sequence[IndexEntry]
    bm25: "BM25Okapi | None"


class RankBm25:
    """A BM25 index in memory, built at the first search after a change."""

    storage: Storage = "memory"

    def __init__(self, options: RankBm25Options) -> None:
        """Begin empty."""
        self._options = options
        self._lock = threading.Lock()
        self._documents: dict[str, Sequence[IndexEntry]] = {}
        self._position: Position | None = None
        self._model: _Model | None = None

    def prepare(self, entries: Sequence[IndexEntry]) -> None:
        """Do nothing: there is nothing slow to do."""

    def apply(self, batch: IndexBatch, prepared: Any, tx: SqlConnection | None) -> None:  # noqa: ARG002 - neither used
        """Replace the entries of the batch's documents."""
        with self._lock:
            for document_id in batch.deletes:
                self._documents.pop(document_id, None)
            self._documents.update(batch.upserts)
            self._position = batch.position or self._position
            self._model = None

    def position(self) -> Position | None:
        """Return the position of this process's copy."""
        return self._position

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find chunks that share a word with each text; a score may be negative in a tiny corpus."""
        model = self._current()
        return [_rank(model, set(_words(text)), _words(text), limit, filters) for text in texts]

    def drop(self, tx: SqlConnection | None) -> None:  # noqa: ARG002 - nothing is stored
        """Forget everything."""
        with self._lock:
            self._documents.clear()
            self._position = self._model = None

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:  # noqa: ARG002 - nothing is stored
        """Yield chunk id and document id of every entry."""
        return [(chunk_id, entry.chunk.document_id) for chunk_id, entry in self._held().items()]

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:  # noqa: ARG002 - nothing is stored
        """Yield the entries that are held otherwise."""
        held = self._held()
        return [(entry.chunk.id, "its entry differs") for entry in entries if held[entry.chunk.id] != entry]

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:  # noqa: ARG002 - nothing is stored
        """Return nothing: there is no structure that could break."""
        return ()

    def _held(self) -> dict[int, IndexEntry]:
        with self._lock:
            return {entry.chunk.id: entry for entries in self._documents.values() for entry in entries}

    def _current(self) -> _Model:
        with self._lock:
            if self._model is None:
                entries = [entry for entries in self._documents.values() for entry in entries]
                self._model = _Model(entries, self._build(entries))
            return self._model

    def _build(self, entries: Sequence[IndexEntry]) -> "BM25Okapi | None":
        from rank_bm25 import BM25Okapi

        corpus = [_words(f"{entry.key} {entry.name} {entry.chunk.body}") for entry in entries]
        return BM25Okapi(corpus, k1=self._options.k1, b=self._options.b) if any(corpus) else None


def _rank(model: _Model, distinct: set[str], words: list[str], limit: int, filters: Filters) -> ChunkRanking:
    if model.bm25 is None or limit < 1:
        return ChunkRanking()
    # Sharing a word decides, not the score: rank_bm25's idf of common words may be negative.
    candidates = [
        number
        for number, (entry, frequencies) in enumerate(zip(model.entries, model.bm25.doc_freqs, strict=True))
        if not distinct.isdisjoint(frequencies) and matches(entry.facets, filters)
    ]
    if not candidates:
        return ChunkRanking()
    chunks = [model.entries[number].chunk for number in candidates]
    scores = model.bm25.get_batch_scores(words, candidates)
    return ChunkRanking.of(
        (chunk.id, chunk.document_id, float(score)) for chunk, score in zip(chunks, scores, strict=True)
    ).limit_documents(limit)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", spaced(text).lower())
