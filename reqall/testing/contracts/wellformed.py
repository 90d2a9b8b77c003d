"""What every ranking must be, whoever made it."""

from collections.abc import Sequence
from math import isfinite

from reqall import ChunkRanking, DocumentRanking, RankedChunk, RankedDocument


def require_document_ranking(ranking: object) -> list[str]:
    """Check a ranking of documents; their ids are returned, best first."""
    assert isinstance(ranking, DocumentRanking), (
        f"a DocumentRanking was to be returned, not {type(ranking).__name__}: build it with DocumentRanking.of"
    )
    ids = [document.document_id for document in ranking]
    assert len(set(ids)) == len(ids), f"a document stands in the ranking twice: {_repeated(ids)}"
    _require_order(ranking.documents, ids)
    return ids


def require_chunk_ranking(ranking: object) -> list[str]:
    """Check a ranking of chunks; the ids of their documents are returned, best first, each once."""
    assert isinstance(ranking, ChunkRanking), (
        f"a ChunkRanking was to be returned, not {type(ranking).__name__}: build it with ChunkRanking.of"
    )
    ids = [chunk.chunk_id for chunk in ranking]
    assert len(set(ids)) == len(ids), f"a chunk stands in the ranking twice: {_repeated(ids)}"
    _require_order(ranking.chunks, [chunk.document_id for chunk in ranking])
    return list(ranking.best_chunks)


def _require_order(ranked: Sequence[RankedChunk | RankedDocument], document_ids: Sequence[str]) -> None:
    scores = [each.score for each in ranked]
    assert all(isfinite(score) for score in scores), f"a score is not a finite number: {scores}"
    assert [each.rank for each in ranked] == list(range(1, len(ranked) + 1)), "ranks do not count 1, 2, 3 ..."
    order = [(-score, document_id) for score, document_id in zip(scores, document_ids, strict=True)]
    assert order == sorted(order), "not best first, equal scores by document id: build rankings with their `of`"


def _repeated(ids: Sequence[object]) -> list[object]:
    return sorted({each for each in ids if ids.count(each) > 1}, key=str)
