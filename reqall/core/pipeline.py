"""The search flow, top to bottom: expand, recall, collapse, fuse, rerank, pin, present."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reqall.core import conformity
from reqall.core.expanding import FoundDocument
from reqall.core.expansion import ALIKE, MAX_VARIANTS, Asked, Expanding, Expansion, VariantWeights
from reqall.core.guard import Component, Guard, Workers
from reqall.core.indexing import Indexer
from reqall.core.keys import key_tokens
from reqall.core.present import best_text
from reqall.core.protocols import Fuser, Reranker
from reqall.core.ranking import DocumentRanking
from reqall.core.recall import Arm, Recall, Recalled, fusion_weights
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
        notices: Sequence[str] = (),
        components: Mapping[str, Component] = MappingProxyType({}),
    ) -> None:
        """Take the stages; without expanders only the user's own text is searched with.

        `notices` go with every result as warnings: what the pipeline has to do without. `components`
        says of the kinds fuser and reranker who is called, and how long they may be silent.
        """
        self.name = name
        self.arms = list(arms)
        self._indexer = indexer
        self._fuser = fuser
        self._fuser_name = fuser_name
        self._reranker = reranker
        self._pin = pin
        self._notices = list(notices)
        workers = Workers()
        self._expansion = Expansion(expanders, workers, variant_weights, max_variants)
        self._recall = Recall(indexer, self.arms, workers)
        self._guards = {
            kind: Guard(components.get(kind, Component(f"the {kind}")), workers) for kind in ("fuser", "reranker")
        }

    def recipients(self) -> dict[str, str]:
        """Say by component which hosts are sent the texts of queries."""
        return self._expansion.recipients()

    def search(self, query: Query, top_k: int, candidate_k: int) -> SearchResult:
        """Search; `candidate_k` documents per arm and text, and in the fused pool.

        Raises ReqallError when a required arm, every arm, or the fuser fails.
        """
        trace = Trace(warnings=[*self._notices])
        first: list[Recalled] = []
        with trace.stage("expand"):
            asked = self._expansion.expand(query, lambda: self._look(query, candidate_k, first, trace), trace)
        with trace.stage("recall"):
            known = [replace(found, asked=asked[0]) for found in first]
            recalled = self._recall.find(asked[1:] if first else asked, candidate_k, query.filters, trace, known)
        with trace.stage("fuse"):
            weights = fusion_weights(recalled)
            pool = self._fuse(recalled, weights).top(candidate_k)
        with trace.stage("rerank"):
            documents = self._current(pool, query.filters)
            best = _best_chunks(recalled)
            order, strategy = self._rerank(query.text, pool, documents, best, trace)
        with trace.stage("pin"):
            pinned = self._pinned(query, documents) if self._pin else []
        ranked = _first(pinned, order, documents)
        with trace.stage("present"):
            shown = self._shown([key for key, _ in ranked[:top_k]], documents, best, query.text)
            hits = [
                Hit(
                    documents[k],
                    *shown[k],
                    score,
                    "exact" if k in pinned else strategy,
                    _provenance(k, recalled, weights),
                )
                for k, score in ranked[:top_k]
            ]
        return SearchResult(
            query.text,
            tuple(each.text for each in asked),
            tuple(hits),
            len(ranked),
            self.name,
            trace.timings,
            tuple(dict.fromkeys(trace.warnings)),
        )

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
            return guard.call(lambda: conformity.fused(self._fuser.fuse(rankings, weights), rankings))
        except Exception as error:
            failure = guard.failure(error, guard.told(error))
            raise failure from error

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

    def _rerank(
        self, text: str, pool: DocumentRanking, documents: dict[str, Document], best: dict[str, int], trace: Trace
    ) -> tuple[DocumentRanking, str]:
        reranker, guard = self._reranker, self._guards["reranker"]
        if reranker is None or not documents:
            return pool, self._fuser_name
        shown = self._shown(list(documents), documents, best, text)
        passages = [Passage(key, _passage(document, shown[key][1])) for key, document in documents.items()]
        try:
            order = guard.call(lambda: conformity.reranked(reranker.rerank(text, passages), documents))
        except Exception as error:  # noqa: BLE001 - a plugin that fails must not take the search down
            told = guard.told(error)
            trace.warnings.append(f"{guard.subject} was left out, the order is the fused one: {told}")
            return pool, self._fuser_name
        return order, "rerank"

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


def _first(pinned: Sequence[str], order: DocumentRanking, documents: dict[str, Document]) -> list[tuple[str, float]]:
    """Put the pinned documents first, with a full score; the others follow in their order."""
    rest = [(r.document_id, r.score) for r in order if r.document_id in documents and r.document_id not in pinned]
    return [(key, 1.0) for key in pinned] + rest


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


def _passage(document: Document, text: str) -> str:
    return "\n".join(part for part in (" > ".join([*document.path, document.name]), text) if part)
