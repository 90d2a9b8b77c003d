"""What a component must be able to do: structural, synchronous protocols.

Whatever a search calls (`expand`, `recall`, `fuse`, `rerank`, `embed_query`) must be thread-safe.
Small `SupportsX` protocols name optional abilities.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from reqall.core.ranking import ChunkRanking, DocumentRanking
from reqall.core.types import (
    ChunkDraft,
    Document,
    Filters,
    IndexBatch,
    IndexEntry,
    ItemType,
    Link,
    Page,
    Passage,
    Position,
    Project,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""Shape (number of texts, dimensions), float32, rows of length 1."""

Storage: TypeAlias = Literal["catalog", "external", "memory"]


class SqlConnection(Protocol):
    """The part of a database connection that a recaller may rely on (apsw's)."""

    def execute(self, statements: str, bindings: Any = ()) -> Any:
        """Run SQL; iterate over the result for the rows."""

    def executemany(self, statements: str, sequenceofbindings: Any) -> Any:
        """Run SQL once for each of the bindings."""


class Source(Protocol):
    """A system of record, read-only. Pages keep memory bounded; ids are unique in a walk."""

    def projects(self) -> Sequence[Project]:
        """List the projects that the caller may see. Raises SourceError."""

    def documents(self, project: Project, since: str | None) -> Iterator[Page[Document]]:
        """Walk all documents, or those changed at or after the watermark `since`."""

    def links(self, project: Project) -> Iterator[Page[Link]]:
        """Walk the trace links of a project."""

    def document_ids(self, project: Project) -> Iterator[Page[str]]:
        """Walk the ids of all documents as cheaply as the source allows."""

    def describe(self, project: Project) -> Sequence[ItemType]:
        """List the types of documents and their fields."""


@runtime_checkable
class SupportsCount(Protocol):
    """A source that can count a project's documents cheaply."""

    def count(self, project: Project) -> int:
        """Return the number of documents that `documents(project, None)` would yield."""


@runtime_checkable
class SupportsDeletions(Protocol):
    """A source that tells what was deleted."""

    def deleted(self, project: Project, since: str | None) -> Iterator[Page[str]]:
        """Walk the ids of documents deleted at or after the watermark `since`."""


@runtime_checkable
class SupportsPresence(Protocol):
    """A source that looks up a few documents more cheaply than it walks all ids."""

    def present(self, project: Project, document_ids: Sequence[str]) -> Page[str]:
        """Return those of the documents that the project has."""


@runtime_checkable
class SupportsLinkChanges(Protocol):
    """A source that tells which links changed."""

    def changed_links(
        self, project: Project, since: str, changed: Sequence[str], shown: Mapping[str, Sequence[str] | None]
    ) -> Page[tuple[str, Sequence[Link]]] | None:
        """Return documents with all links that touch each, upstream and downstream, as they are now.

        These are the documents in `changed` (one that is no more has none), and all whose links changed
        at or after the watermark `since`. Those in `shown` (with the other ends of the links that each
        had, None where one is of another project) were walked and are as they were, so it may be their
        links. None when that cannot be told, or costs more than a walk through all links.
        """


@runtime_checkable
class SupportsWaiting(Protocol):
    """A source that tells when it has to wait, for a job to show; with somebody to be told it may wait for long."""

    on_wait: Callable[[str], None] | None
    """Set by a thread for what is done for it; called, on whichever thread waits, with the reason and the time."""


@dataclass(frozen=True, slots=True)
class SourceTool:
    """A native function of a source for language models.

    `call` is a plain function, annotated throughout: its signature becomes the tool's input
    schema (`Annotated[..., pydantic.Field(description=...)]` is honoured), its return annotation
    (a pydantic model) the output schema. It raises ReqallError for what the caller can mend.
    `summary` turns the result into the one or few lines that people read. `toolset` is the group by
    which a server leaves tools out; `lean`: belongs to the few that a small context has room for.
    """

    name: str
    title: str
    description: str
    call: Callable[..., Any]
    summary: Callable[[Any], str] = str
    toolset: str = "browse"
    lean: bool = False


@runtime_checkable
class SupportsValidation(Protocol):
    """A source that can check its own settings."""

    def validate(self, *, live: bool) -> Sequence[str]:
        """Return one line per problem; `live` also talks to the system."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a chunk may be: `max_tokens` as `count_tokens` counts them; None is no limit."""

    max_tokens: int | None
    count_tokens: Callable[[str], int]


class Chunker(Protocol):
    """Cuts a document into pieces that an index holds."""

    def chunk(self, document: Document, budget: Budget) -> Sequence[ChunkDraft]:
        """Cut the document; at least one piece, each within the budget, context included."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def identity(self) -> str:
        """What makes two vectors comparable: model and its hash, pooling, prefixes, max tokens.

        Cheap: no model is loaded, no endpoint asked.
        """

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Longest text that is read whole; what is beyond is invisible."""

    def count_tokens(self, text: str) -> int:
        """Count tokens as the model sees them, special tokens included."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. Raises EmbedderError."""

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with. Raises EmbedderError."""


class Recaller(Protocol):
    """An index: keeps entries, finds them again. One Ranking per text.

    `storage` says where it lives: `catalog` (written inside the catalog's own transaction),
    `external` (another engine, after commit) or `memory` (built anew in each process).
    """

    @property
    def storage(self) -> Storage:
        """Where the index lives."""

    def prepare(self, entries: Sequence[IndexEntry]) -> Any:
        """Do the slow and pure part (embedding) without holding a lock."""

    def apply(self, batch: IndexBatch, prepared: Any, tx: SqlConnection | None) -> None:
        """Write the batch; running it twice changes nothing."""

    def position(self) -> Position | None:
        """Say how far the engine itself is; None when it holds nothing, or lost it."""

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Find chunks of up to `limit` DOCUMENTS per text, filtered before ranking."""


@runtime_checkable
class SupportsDrop(Protocol):
    """A recaller that can remove all that it stored."""

    def drop(self, tx: SqlConnection | None) -> None:
        """Remove everything; the next `apply` starts anew."""


@runtime_checkable
class SupportsInspection(Protocol):
    """A recaller that shows what it holds, to be compared with the catalog.

    `tx` is a connection for reading where the storage is `catalog`, else None.
    """

    def inventory(self, tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Yield (chunk id, document id) of every entry that a search can find."""

    def faults(self, entries: Sequence[IndexEntry], tx: SqlConnection | None) -> Iterable[tuple[int, str]]:
        """Of entries in the inventory yield those that are stored otherwise: chunk id and what differs."""

    def damage(self, tx: SqlConnection | None) -> Sequence[str]:
        """Check the engine's own structure; a line for each thing that is broken beyond single entries."""


class Fuser(Protocol):
    """Makes one ranking of several."""

    def fuse(self, rankings: Sequence[DocumentRanking], weights: Sequence[float]) -> DocumentRanking:
        """Fuse; one weight per ranking. Never invents a document, never repeats one."""


class Reranker(Protocol):
    """Orders passages anew by reading them beside the query."""

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Return a permutation of the passages' documents."""
