"""The nouns: what flows from a source into the catalog, and out of it into a search.

Times are aware `datetime`s in UTC everywhere inside; ISO 8601 on every face.
Ids are `"<source>:<native id>"`, so that two sources never collide.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"


def native_id(identifier: str) -> str:
    """Return the part of an id that the source itself uses: `"jama:51"` -> `"51"`."""
    return identifier.partition(":")[2] or identifier


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a source; `id` is `"<source>:<native id>"`."""

    id: str
    source: str
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Document:
    """One item: a requirement, test case, defect, folder ... with clean text and resolved fields.

    `sections` maps a section's name (description, test_steps ...) to clean text in reading
    order; `fields` holds the native fields, resolved to text. `path` (names of the ancestors,
    outermost first) is derived by the catalog: a source leaves it empty.
    """

    id: str
    source: str
    project_id: str
    key: str
    type_id: str
    type_name: str
    name: str
    status: str | None = None
    sections: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    parent_id: str | None = None
    path: tuple[str, ...] = ()
    url: str | None = None
    created: datetime | None = None
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A directed trace link between two documents; `from_id` is upstream."""

    from_id: str
    to_id: str
    type: str
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a walk through a source.

    `watermark` is opaque to everyone but the source: the place from which a later incremental
    walk may start. `total` is what the source says the whole walk holds, `requests` what this
    page cost.
    """

    items: Sequence[T]
    watermark: str | None = None
    total: int | None = None
    requests: int = 0


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a document as a chunker cuts it, before the catalog gives it an id.

    `context` (title, section) is prepended for the embedder; `body` is the text itself.
    `section` is empty when the piece spans the whole document.
    """

    section: str
    context: str
    body: str

    @property
    def text(self) -> str:
        """Context and body, as an embedder or a reader sees them."""
        return f"{self.context}\n{self.body}" if self.context and self.body else self.context or self.body

    @property
    def text_hash(self) -> str:
        """Identity of the text, for finding a stored vector again."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Chunk(ChunkDraft):
    """A chunk in the catalog; `id` is unique in the catalog and never reused."""

    id: int
    document_id: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Facets:
    """What a search can be filtered by."""

    project_id: str
    type_id: str
    status: str | None = None
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A chunk with all that a recaller needs to index it and to filter by.

    `path` holds the names of the document's ancestors, outermost first.
    """

    chunk: Chunk
    key: str
    name: str
    facets: Facets
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """One step of an index: replace these documents' entries, remove those documents.

    A document in `upserts` replaces whatever the index held of it. `position` is what the index
    shall remember with this step; None leaves what it remembers as it is.
    """

    upserts: Mapping[str, Sequence[IndexEntry]]
    deletes: Sequence[str] = ()
    position: "Position | None" = None

    @property
    def documents(self) -> list[str]:
        """Ids of all documents whose earlier entries must go."""
        return [*self.upserts, *self.deletes]

    @property
    def entries(self) -> list[IndexEntry]:
        """All entries to be written."""
        return [entry for entries in self.upserts.values() for entry in entries]


@dataclass(frozen=True, slots=True)
class Position:
    """How far an index is: the fingerprint it was built with and the last change it holds."""

    fingerprint: str
    seq: int


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on facets; an empty field does not filter. `modified_*` are inclusive."""

    project_ids: tuple[str, ...] = ()
    type_ids: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    modified_after: datetime | None = None
    modified_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What the user asks: `text`, the client's own rewrites of it, and filters."""

    text: str
    sub_queries: tuple[str, ...] = ()
    filters: Filters = Filters()


@dataclass(frozen=True, slots=True)
class Passage:
    """What a reranker reads of a document: `text` is path, name and best text, `name` the name alone."""

    document_id: str
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which arm found a hit with which text, at which rank and score, and what that ranking weighed in the fusion."""

    arm: str
    variant: str
    rank: int
    score: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: the document, its best piece of text and how it came here.

    `strategy` is `exact` (pinned by its key), `rerank`, or the name of the fuser. `parts` are those
    that a reranker says its score is made of.
    """

    document: Document
    section: str
    text: str
    score: float
    strategy: str
    provenance: tuple[Provenance, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer of a pipeline; `timings` are milliseconds per stage."""

    query: str
    sub_queries_used: tuple[str, ...]
    hits: tuple[Hit, ...]
    pool: int
    pipeline: str
    timings: Mapping[str, float]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemType:
    """A type of documents in a source and the labels of its fields."""

    id: str
    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
