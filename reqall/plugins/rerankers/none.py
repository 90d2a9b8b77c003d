"""No reranking: the fused order stays."""

from collections.abc import Sequence

from reqall import DocumentRanking, Passage


class NoReranker:
    """Keeps the order of the passages."""

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:  # noqa: ARG002 - the order says it all
        """Return the passages' documents as they come, scored n down to 1."""
        return DocumentRanking.of(
            (passage.document_id, float(len(passages) - place)) for place, passage in enumerate(passages)
        )
