"""The search flow, top to bottom: expand, recall, collapse, fuse, rerank, pin, present."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from reqall.core.errors import PluginError, ReqallError
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.keys import key_tokens
from reqall.core.present import best_text
from reqall.core.protocols import Fuser, QueryExpander, Reranker
from reqall.core.ranking import ChunkRanking, DocumentRanking
from reqall.core.types import Document, Filters, Hit, Passage, Provenance, Query, SearchResult

_log = logging.getLogger("reqall.pipeline")


@dataclass(frozen=True, slots=True)
class Arm:
    """One leg of recall: an index and its weight in the fusion."""

    index: Index
    weight: float = 1.0
    required: bool = False


@dataclass(frozen=True, slots=True)
class _Recalled:
    """What one arm found with one text."""

    arm: Arm
    variant: str
    chunks: ChunkRanking
    documents: DocumentRanking


@dataclass
class _Trace:
    """What happened in one search: milliseconds per stage, and warnings."""

    timings: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.timings[name] = round((time.perf_counter() - start) * 1000, 3)


class Pipeline:
    """An assembled pipeline: plain objects, plain calls. Thread-safe."""

    def __init__(
        self,
        name: str,
        *,
        indexer: Indexer,
        arms: Sequence[Arm],
        expander: QueryExpander | None,
        fuser: Fuser,
        fuser_name: str,
        reranker: Reranker | None,
        pin: bool = True,
        notices: Sequence[str] = (),
    ) -> None:
        """Take the stages; without an expander only the user's own text is searched with.

        `notices` go with every result as warnings: what the pipeline has to do without.
        """
        self.name = name
        self.arms = list(arms)
        self._indexer = indexer
        self._expander = expander
        self._fuser = fuser
        self._fuser_name = fuser_name
        self._reranker = reranker
        self._pin = pin
        self._notices = list(notices)

    def search(self, query: Query, top_k: int, candidate_k: int) -> SearchResult:
        """Search; `candidate_k` documents per arm and text, and in the fused pool.

        Raises ReqallError when a required arm, or every arm, fails.
        """
        trace = _Trace(warnings=[*self._notices])
        with trace.stage("expand"):
            texts = self._expand(query, trace)
        with trace.stage("recall"):
            recalled = self._recall(texts, candidate_k, query.filters, trace)
        with trace.stage("fuse"):
            weights = [found.arm.weight for found in recalled]
            pool = self._fuser.fuse([found.documents for found in recalled], weights).top(candidate_k)
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
                Hit(documents[k], *shown[k], score, "exact" if k in pinned else strategy, _provenance(k, recalled))
                for k, score in ranked[:top_k]
            ]
        return SearchResult(
            query.text, tuple(texts), tuple(hits), len(ranked), self.name, trace.timings, tuple(trace.warnings)
        )

    def _expand(self, query: Query, trace: _Trace) -> list[str]:
        if self._expander is None:
            return [query.text]
        try:
            return list(self._expander.expand(query)) or [query.text]
        except Exception as error:  # noqa: BLE001 - a plugin that fails must not take the search down
            trace.warnings.append(f"the expander was left out, only the query itself was used: {_told(error)}")
            return [query.text]

    def _recall(self, texts: Sequence[str], limit: int, filters: Filters, trace: _Trace) -> list[_Recalled]:
        found: list[_Recalled] = []
        failures: list[ReqallError] = []
        for arm in self.arms:
            try:
                self._catch_up(arm, filters, trace)
                with trace.stage(f"recall.{arm.index.name}"):
                    rankings = arm.index.recaller.recall(texts, limit, filters)
                found += [
                    _Recalled(arm, text, chunks, chunks.collapse().top(limit))
                    for text, chunks in zip(texts, rankings, strict=True)
                ]
            except Exception as error:  # noqa: BLE001 - a plugin that fails must not take the search down
                told = _told(error)
                failure = error if isinstance(error, ReqallError) else PluginError(f"index {arm.index.name!r}: {told}")
                if arm.required:
                    raise failure from None if failure is error else error
                failures.append(failure)
                trace.warnings.append(f"index {arm.index.name!r} was left out: {told}")
        if failures and not found:
            raise failures[0]
        return found

    def _catch_up(self, arm: Arm, filters: Filters, trace: _Trace) -> None:
        """Fill an index that lives in memory; say of any other how far it is behind."""
        if arm.index.recaller.storage == "memory":
            if not self._indexer.is_level(arm.index):
                self._indexer.level(arm.index, lambda _tx, _done: None)
        elif not self._indexer.is_level(arm.index) and (lag := self._indexer.lag(arm.index, filters.project_ids)):
            trace.warnings.append(
                f"index {arm.index.name!r} does not hold {lag} documents as they are now; a running server"
                " or `reqall backfill` brings it level"
            )

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
        """Choose the section and text to show of each document."""
        chunks = self._indexer.log.chunks(best[key] for key in keys if key in best)
        return {key: best_text(documents[key], chunks.get(best.get(key, -1)), text) for key in keys}

    def _rerank(
        self, text: str, pool: DocumentRanking, documents: dict[str, Document], best: dict[str, int], trace: _Trace
    ) -> tuple[DocumentRanking, str]:
        if self._reranker is None or not documents:
            return pool, self._fuser_name
        shown = self._shown(list(documents), documents, best, text)
        passages = [Passage(key, _passage(document, shown[key][1])) for key, document in documents.items()]
        try:
            order = self._reranker.rerank(text, passages)
            if order.by_id.keys() != documents.keys():
                raise PluginError("it returned other documents than it was given")  # noqa: TRY301 - handled as any failure
            return order, "rerank"  # noqa: TRY300
        except Exception as error:  # noqa: BLE001 - a plugin that fails must not take the search down
            trace.warnings.append(f"the reranker was left out, the order is the fused one: {_told(error)}")
            return pool, self._fuser_name

    def _pinned(self, query: Query, documents: dict[str, Document]) -> list[str]:
        """Find documents whose key stands in the query; what recall did not find is added."""
        tokens = key_tokens(query.text)
        found = self._indexer.catalog.documents(self._indexer.catalog.with_keys(tokens, query.filters))
        documents.update({key: document for key, document in found.items() if key not in documents})
        return sorted(found, key=lambda key: (tokens[found[key].key.casefold()], key))


def _best_chunks(recalled: Sequence[_Recalled]) -> dict[str, int]:
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


def _provenance(document_id: str, recalled: Sequence[_Recalled]) -> tuple[Provenance, ...]:
    return tuple(
        Provenance(found.arm.index.name, found.variant, ranked.rank, ranked.score)
        for found in recalled
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


def _told(error: Exception) -> str:
    """Say what failed: our own errors in words; of others the kind alone, as their text may hold content."""
    if isinstance(error, ReqallError):
        return error.message
    _log.error("a component failed in a search", exc_info=error)
    return f"unexpected {type(error).__name__}; the log has the details"
