"""Fakes that behave: small, deterministic, without a model or a network."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, Literal, TypeVar

from reqall import (
    ChunkRanking,
    Document,
    Facets,
    Filters,
    IndexBatch,
    IndexEntry,
    ItemType,
    Link,
    Page,
    Position,
    Project,
    SqlConnection,
    Vectors,
)

T = TypeVar("T")


class HashingEmbedder:
    """Bag of words hashed to dimensions, rows of length 1: texts that share words are near.

    `embedded` lists the texts given to `embed_documents`, `queries` those given to `embed_query`,
    in order. A text of more than `max_tokens` words is cut, as a model would.
    """

    def __init__(self, dimensions: int = 64, max_tokens: int = 256) -> None:
        """Begin with nothing embedded."""
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.identity = f"hashing/{dimensions}/{max_tokens}"
        self.embedded: list[str] = []
        self.queries: list[str] = []

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(_words(text))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found."""
        self.embedded.extend(texts)
        return self._embed(texts)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with."""
        self.queries.extend(texts)
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _words(text)[: self.max_tokens] or [""]:
                vectors[row, _hashed(word) % self.dimensions] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


class ListSource:
    """A source in memory, to be edited: `put`, `remove`, `link`; every edit is a second later than the last.

    A page holds `page_size` items. `calls` counts the walks that were begun, by method. `hidden`
    ids are left out of walks, as by pages that shift, yet stand in the sweep of ids. With `failure`
    set, a walk raises it after `pages_before_failure` pages.
    """

    def __init__(self, name: str = "list", page_size: int = 3) -> None:
        """Begin with one empty project."""
        self.name = name
        self.page_size = page_size
        self.project = Project(f"{name}:1", name, "P", "Project one")
        self.held: dict[str, Document] = {}
        self.linked: list[Link] = []
        self.hidden: set[str] = set()
        self.calls: Counter[str] = Counter()
        self.failure: Exception | None = None
        self.pages_before_failure = 0
        self._now = datetime(2024, 1, 1, tzinfo=UTC)

    def tick(self) -> datetime:
        """Let a second pass; the new time is returned."""
        self._now += timedelta(seconds=1)
        return self._now

    def put(self, native: str, text: str | None = None, **changes: Any) -> Document:
        """Create or edit a document; `text` is its description, the rest as in `Document`."""
        identifier = f"{self.name}:{native}"
        known = self.held.get(identifier) or Document(
            identifier, self.name, self.project.id, f"P-{native}", "t1", "Requirement", f"Name {native}"
        )
        if text is not None:
            changes["sections"] = {"description": text}
        self.held[identifier] = replace(known, **{"modified": self.tick(), **changes})
        return self.held[identifier]

    def remove(self, native: str) -> str:
        """Delete a document and its links; its id is returned."""
        identifier = f"{self.name}:{native}"
        del self.held[identifier]
        self.linked = [link for link in self.linked if identifier not in (link.from_id, link.to_id)]
        self.tick()
        return identifier

    def link(self, from_native: str, to_native: str, type_name: str = "verifies") -> None:
        """Add a link."""
        self.linked.append(Link(f"{self.name}:{from_native}", f"{self.name}:{to_native}", type_name))

    def projects(self) -> list[Project]:
        """List the one project."""
        return [self.project]

    def documents(self, project: Project, since: str | None) -> Iterator[Page[Document]]:
        """Walk by time of change; the watermark is the newest time seen, `since` counts itself."""
        self.calls["documents"] += 1
        found = sorted(self._of(project), key=lambda document: (_stamp(document), document.id))
        wanted = [d for d in found if d.id not in self.hidden and (since is None or _stamp(d) >= since)]
        for number, page in enumerate(self._pages(wanted)):
            if self.failure is not None and number >= self.pages_before_failure:
                raise self.failure
            watermark = max([_stamp(document) for document in page.items], default=since)
            yield replace(page, watermark=watermark)

    def links(self, project: Project) -> Iterator[Page[Link]]:
        """Walk the links."""
        self.calls["links"] += 1
        ids = {document.id for document in self._of(project)}
        yield from self._pages([link for link in self.linked if link.from_id in ids])

    def document_ids(self, project: Project) -> Iterator[Page[str]]:
        """Walk all ids, hidden ones too."""
        self.calls["document_ids"] += 1
        yield from self._pages([document.id for document in self._of(project)])

    def describe(self, project: Project) -> list[ItemType]:
        """List the types that the documents have, with the fields that are used."""
        types: dict[tuple[str, str], dict[str, str]] = {}
        for document in self._of(project):
            fields = types.setdefault((document.type_id, document.type_name), {})
            fields.update((name, name) for name in document.fields)
        return [ItemType(*found, fields) for found, fields in sorted(types.items())]

    def _of(self, project: Project) -> list[Document]:
        return [document for document in self.held.values() if document.project_id == project.id]

    def _pages(self, items: Sequence[T]) -> Iterator[Page[T]]:
        """Cut into pages; an empty walk has one empty page."""
        for start in range(0, max(len(items), 1), self.page_size):
            yield Page(items[start : start + self.page_size], total=len(items), requests=1)


class MemoryRecaller:
    """Finds chunks by the words they share with a query; `applied` lists the batches that it was given.

    With storage "external" the object plays the other engine: hand the same one to a later process.
    """

    def __init__(self, storage: Literal["memory", "external"] = "memory") -> None:
        """Begin empty."""
        self.storage = storage
        self.held: dict[str, Sequence[IndexEntry]] = {}
        self.applied: list[IndexBatch] = []
        self.drops = 0
        self._position: Position | None = None
        self._lock = threading.Lock()

    def prepare(self, entries: Sequence[IndexEntry]) -> None:
        """Do nothing: there is nothing slow to do."""

    def apply(self, batch: IndexBatch, prepared: None, tx: SqlConnection | None) -> None:  # noqa: ARG002 - no preparation
        """Replace the entries of the batch's documents."""
        assert tx is None, "only storage 'catalog' is given a transaction"
        with self._lock:
            for document_id in batch.documents:
                self.held.pop(document_id, None)
            self.held.update(batch.upserts)
            self.applied.append(batch)
            self._position = batch.position or self._position

    def position(self) -> Position | None:
        """Return what the last `apply` left."""
        return self._position

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> list[ChunkRanking]:
        """Score by the number of shared words."""
        with self._lock:
            entries = [entry for held in self.held.values() for entry in held if _meets(entry.facets, filters)]
        return [_by_shared_words(text, entries).limit_documents(limit) for text in texts]

    def drop(self, tx: SqlConnection | None) -> None:  # noqa: ARG002 - the protocol's argument
        """Forget everything."""
        with self._lock:
            self.held.clear()
            self.drops += 1
            self._position = None


def _by_shared_words(text: str, entries: Sequence[IndexEntry]) -> ChunkRanking:
    words = set(_words(text))
    scores = ((e.chunk.id, e.chunk.document_id, float(len(words & set(_words(e.chunk.text))))) for e in entries)
    return ChunkRanking.of(score for score in scores if score[2] > 0)


def _meets(facets: Facets, filters: Filters) -> bool:
    after, before, modified = filters.modified_after, filters.modified_before, facets.modified
    return (
        (not filters.project_ids or facets.project_id in filters.project_ids)
        and (not filters.type_ids or facets.type_id in filters.type_ids)
        and (not filters.statuses or facets.status in filters.statuses)
        and (after is None or (modified is not None and modified >= after))
        and (before is None or (modified is not None and modified <= before))
    )


def _stamp(document: Document) -> str:
    assert document.modified is not None, "every edit of a ListSource has its time"
    return document.modified.isoformat()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _hashed(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
