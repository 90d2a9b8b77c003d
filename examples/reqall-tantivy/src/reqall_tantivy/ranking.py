"""The best chunks of as many documents as are asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reqall import ChunkRanking
from reqall_tantivy.schema import chunk_ids

if TYPE_CHECKING:
    import tantivy

CHUNKS_PER_DOCUMENT = 2
"""So many chunks are read at first for each document that is asked for."""

GROWTH = 4
"""So many times more are read when that was not enough."""


def rank(searcher: "tantivy.Searcher", query: "tantivy.Query", limit: int) -> ChunkRanking:
    """Rank chunks of the first `limit` documents; the engine counts chunks, so more are read until it is met.

    Reading goes on past the last document's score: its ties are for the ranking to order.
    """
    most = max(searcher.num_docs, 1)
    count = min(CHUNKS_PER_DOCUMENT * limit, most)
    while True:
        found = _read(searcher, searcher.search(query, count, count=False).hits)
        if len(found) < count or count == most or _is_enough(found, limit):
            return ChunkRanking.of(found).limit_documents(limit)
        count = min(GROWTH * count, most)


def _read(
    searcher: "tantivy.Searcher", hits: Sequence[tuple[float, "tantivy.DocAddress"]]
) -> list[tuple[int, str, float]]:
    addresses = [address for _, address in hits]
    return [
        (chunk_id, searcher.doc(address)["document"][0], score)
        for chunk_id, (score, address) in zip(chunk_ids(searcher, addresses), hits, strict=True)
    ]


def _is_enough(found: Sequence[tuple[int, str, float]], limit: int) -> bool:
    """Tell whether `limit` documents are there, and a chunk that is worse than the last of them."""
    documents: set[str] = set()
    for _, document_id, score in found:
        documents.add(document_id)
        if len(documents) == limit:
            return found[-1][2] < score
    return False
