"""Searches with a text of any length: what an embedder cannot read whole is read in pieces."""

from collections.abc import Sequence

from reqall.core.conformity import chunk_rankings
from reqall.core.errors import ConfigError
from reqall.core.index import Index
from reqall.core.ranking import ChunkRanking
from reqall.core.trace import Trace
from reqall.core.types import Filters


def recall_whole(
    index: Index, texts: Sequence[str], limit: int, filters: Filters, trace: Trace
) -> Sequence[ChunkRanking]:
    """Recall with every text, one ranking per text; one that is too long, with all its pieces.

    A chunk then has the score of the piece that it is nearest to, as a document has that of its best chunk.
    """
    cut = [_pieces(index, text, trace) for text in texts]
    flat = [piece for pieces in cut for piece in pieces]
    found = chunk_rankings(index.recaller.recall(flat, limit, filters), len(flat))
    if len(flat) == len(texts):
        return found
    rest = iter(found)
    return [_nearest([next(rest) for _ in pieces], limit) for pieces in cut]


def _nearest(rankings: Sequence[ChunkRanking], limit: int) -> ChunkRanking:
    if len(rankings) == 1:
        return rankings[0]
    scores = ((chunk.chunk_id, chunk.document_id, chunk.score) for ranking in rankings for chunk in ranking)
    return ChunkRanking.of(scores).limit_documents(limit)


def _pieces(index: Index, text: str, trace: Trace) -> list[str]:
    try:
        return index.pieces(text)
    except ConfigError as error:
        trace.warnings.append(f"index {index.name!r} was searched with the beginning of the text only: {error.message}")
        return [text]
