"""The search flow, top to bottom: expand, recall, collapse, fuse, read, rerank, pin, present."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reqall.core import conformity
from reqall.core.expanding import FoundDocument
from reqall.core.expansion import ALIKE, MAX_VARIANTS, Asked, Expanding, Expansion, VariantWeights
from reqall.core.guard import Component, Guard, Workers
from reqall.core.indexing import Indexer
from reqall.core.keys import key_tokens
from reqall.core.neighbours import SupportsLikeness, SupportsNeighbours
from reqall.core.passage import passage_of
from reqall.core.present import best_text
from reqall.core.protocols import Fuser, Reranker
from reqall.core.ranking import DocumentRanking
from reqall.core.recall import Arm, Recall, Recalled, fusion_weights
from reqall.core.reranking import DEADLINE_SECONDS, Deadline, Placed, Reranking
from reqall.core.trace import Trace
from reqall.core.types import Document, Filters, Hit, Passage, Provenance, Query, SearchResult

__all__ = ["Arm", "Pipeline"]


class Pipeline:
    """An assembled pipeline: plain objects, each called through a guard. Thread-safe."""

    def __init__(
        self,
        name: str,
        *,
        indexer: Indexer,
        arms: Sequence[Arm],
        expanders: Sequence[Expanding] = (),
        fuser: Fuser,
        fuser_name: str,
        reranker: Reranker | None,
        pin: bool = True,
        variant_weights: VariantWeights = ALIKE,
        max_variants: int = MAX_VARIANTS,
        deadline: float = DEADLINE_SECONDS,
        notices: Sequence[str] = (),
        components: Mapping[str, Component] = MappingProxyType({}),
    ) -> None:
        """Take the stages; without expanders only the user's own text is searched with.

        The reranker gets what is left of `deadline` seconds. `notices` go with every result as warnings: what
        the pipeline has to do without. `components` says of the kinds fuser and reranker who is called, and how
        long they may be silent.
        """
        self.name = name
        self.arms = list(arms)
        self._indexer = indexer
        self._fuser = fuser
        self._pin = pin
        self._deadline = deadline
        self._notices = list(notices)
        workers = Workers()
        self._expansion = Expansion(expanders, workers, variant_weights, max_variants)
        self._recall = Recall(indexer, self.arms, workers)
        self._guards = {
            kind: Guard(components.get(kind, Component(f"the {kind}")), workers) for kind in ("fuser", "reranker")
        }
        self._reranking = Reranking(reranker, self._guards["reranker"], fuser_name)

    def recipients(self) -> dict[str, str]:
        """Say by component which hosts are sent the texts of queries."""
        return self._expansion.recipients()

    def search(self, query: Query, top_k: int, candidate_k: int) -> SearchResult:
        """Search; `candidate_k` documents per arm and text, and in the fused pool.

        Raises ReqallError when a required arm, every arm, or the fuser fails.
        """
        trace, deadline = Trace(warnings=[*self._notices]), Deadline(self._deadline)
        asked, recalled = self._recalled(query, candidate_k, trace)
        with trace.stage("fuse"):
            weights = fusion_weights(recalled)
            pool = self._fuse(recalled, weights).top(candidate_k)
        with trace.stage("read"):
            documents = self._current(pool, query.filters)
            pool = pool.only(documents)
            best = _best_chunks(recalled)
            passages = self._passages(query.text, documents, best)
        with trace.stage("rerank"):
            order = self._reranking.order(query.text, pool, passages, deadline, trace)
        with trace.stage("pin"):
            ranked = _first(self._pinned(query, documents) if self._pin else [], order)
        with trace.stage("present"):
            shown = self._shown([placed.document_id for placed in ranked[:top_k]], documents, best, query.text)
            hits = [_hit(each, documents, shown, recalled, weights) for each in ranked[:top_k]]
        return SearchResult(
            query.text,
            tuple(each.text for each in asked),
            tuple(hits),
            len(ranked),
            self.name,
            trace.timings,
            tuple(dict.fromkeys(trace.warnings)),
        )

    def _recalled(self, query: Query, limit: int, trace: Trace) -> tuple[list[Asked], list[Recalled]]:
        """Expand and recall: the texts, and what the arms found with each; a first search is not made twice."""
        first: list[Recalled] = []
        with trace.stage("expand"):
            asked = self._expansion.expand(query, lambda: self._look(query, limit, first, trace), trace)
        with trace.stage("recall"):
            known = [replace(found, asked=asked[0]) for found in first]
            return asked, self._recall.find(asked[1:] if first else asked, limit, query.filters, trace, known)

    def _look(self, query: Query, limit: int, first: list[Recalled], trace: Trace) -> list[FoundDocument]:
        """Search with the user's text alone, for expanders to read; what the arms found is kept in `first`."""
        first += self._recall.find([Asked(query.text)], limit, query.filters, trace)
        pool = self._fuse(first, fusion_weights(first)).top(limit)
        documents = self._current(pool, query.filters)
        return [FoundDocument(documents[r.document_id], r.score) for r in pool if r.document_id in documents]

    def _fuse(self, recalled: Sequence[Recalled], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; there is no order to fall back to, so a fuser that fails ends the search."""
        guard = self._guards["fuser"]
        rankings = [found.documents for found in recalled]
        try:
            return guard.call(lambda: conformity.fused(self._fused(rankings, weights), rankings))
        except Exception as error:
            failure = guard.failure(error, guard.told(error))
            raise failure from error

    def _fused(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        alike = [arm.index.recaller for arm in self.arms if isinstance(arm.index.recaller, SupportsLikeness)]
        if alike and isinstance(self._fuser, SupportsNeighbours):
            return self._fuser.fuse_alike(rankings, weights, alike[0].likeness)
        return self._fuser.fuse(rankings, weights)

    def _current(self, pool: DocumentRanking, filters: Filters) -> dict[str, Document]:
        """Read the candidates as they are now: arms may have seen an older state."""
        found = self._indexer.catalog.documents([ranked.document_id for ranked in pool])
        return {
            r.document_id: found[r.document_id]
            for r in pool
            if r.document_id in found and _within(found[r.document_id], filters)
        }

    def _shown(
        self, keys: Sequence[str], documents: dict[str, Document], best: dict[str, int], text: str
    ) -> dict[str, tuple[str, str]]:
        """Choose the section and text to show of each document; an arm may name a chunk that is none of its own."""
        chunks = self._indexer.log.chunks(best[key] for key in keys if key in best)
        own = {chunk.document_id: chunk for chunk in chunks.values() if best.get(chunk.document_id) == chunk.id}
        return {key: best_text(documents[key], own.get(key), text) for key in keys}

    def _passages(self, text: str, documents: dict[str, Document], best: dict[str, int]) -> list[Passage]:
        """Make what the reranker reads, in fused order; nothing where there is none."""
        if self._reranking.reranker is None:
            return []
        shown = self._shown(list(documents), documents, best, text)
        return [passage_of(document, shown[key][1]) for key, document in documents.items()]

    def _pinned(self, query: Query, documents: dict[str, Document]) -> list[str]:
        """Find documents whose key stands in the query; what recall did not find is added."""
        tokens = key_tokens(query.text)
        found = self._indexer.catalog.documents(self._indexer.catalog.with_keys(tokens, query.filters))
        documents.update({key: document for key, document in found.items() if key not in documents})
        return sorted(found, key=lambda key: (tokens[found[key].key.casefold()], key))


def _best_chunks(recalled: Sequence[Recalled]) -> dict[str, int]:
    """Pick a chunk per document to show: a piece with a section if one was found, of the best rank."""
    best: dict[str, tuple[bool, int, int]] = {}
    for found in recalled:
        whole = found.arm.index.embedder is None
        for rank, (document_id, chunk_id) in enumerate(found.chunks.best_chunks.items()):
            choice = (whole, rank, chunk_id)
            if document_id not in best or choice < best[document_id]:
                best[document_id] = choice
    return {document_id: choice[2] for document_id, choice in best.items()}


def _first(pinned: Sequence[str], order: Sequence[Placed]) -> list[Placed]:
    """Put the pinned documents first, with a full score; the others follow in their order."""
    rest = [placed for placed in order if placed.document_id not in pinned]
    return [Placed(key, 1.0, "exact") for key in pinned] + rest


def _hit(
    placed: Placed,
    documents: Mapping[str, Document],
    shown: Mapping[str, tuple[str, str]],
    recalled: Sequence[Recalled],
    weights: Sequence[float],
) -> Hit:
    key = placed.document_id
    provenance = _provenance(key, recalled, weights)
    return Hit(documents[key], *shown[key], placed.score, placed.strategy, provenance, placed.parts)


def _provenance(document_id: str, recalled: Sequence[Recalled], weights: Sequence[float]) -> tuple[Provenance, ...]:
    return tuple(
        Provenance(found.arm.index.name, found.asked.text, ranked.rank, ranked.score, weight)
        for found, weight in zip(recalled, weights, strict=True)
        if (ranked := found.documents.by_id.get(document_id)) is not None
    )


def _within(document: Document, filters: Filters) -> bool:
    modified = document.modified
    return (
        (not filters.project_ids or document.project_id in filters.project_ids)
        and (not filters.type_ids or document.type_id in filters.type_ids)
        and (not filters.statuses or document.status in filters.statuses)
        and (filters.modified_after is None or (modified is not None and modified >= filters.modified_after))
        and (filters.modified_before is None or (modified is not None and modified <= filters.modified_before))
    )
