"""What a plugin hands to the host: a name, how to build the component, and its options."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from reqall.core.errors import PluginError
from reqall.core.model_store import ModelStore
from reqall.core.protocols import Embedder, Reranker, SourceTool, SqlConnection
from reqall.core.types import Document
from reqall.core.weights import HubModel

T_co = TypeVar("T_co", covariant=True)

KINDS = ("source", "chunker", "embedder", "expander", "recaller", "fuser", "reranker")
"""The kinds of components; each has a hook `register_<kind>s`."""


class PluginOptions(BaseModel):
    """Base of every component's options: a misspelt option is an error, not silence.

    Give every field a description. A default may be `"${VAR}"` or `"${VAR:-text}"`: it is taken
    from the environment when the component is built. Type secrets as `SecretStr`: the YAML may
    then hold only a `${VAR}`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ComponentConfig(BaseModel):
    """A component by its registered name, with its options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    use: str
    options: dict[str, Any] = Field(default_factory=dict, alias="with")


@dataclass(frozen=True, slots=True)
class Stored:
    """Marks an option that changes what an index stores: `Annotated[str, Stored()]`.

    It becomes part of the fingerprint; a changed value is another index.
    """


@dataclass(frozen=True, slots=True)
class Reference:
    """Marks an option that names another component of the file: `Annotated[str, Reference("embedder")]`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Nested:
    """Marks an option that is a component of its own: `Annotated[ComponentConfig, Nested("reranker")]`.

    It is written `{use: ..., with: ...}` and checked like any other; `Services` builds it.
    """

    kind: str


class Database(Protocol):
    """The catalog's file, as a component may use it."""

    def reader(self) -> SqlConnection:
        """Return this thread's connection for reading."""

    def extend(self, callback: Callable[[Any], None]) -> None:
        """Call `callback` on every connection, present and future (to load an extension)."""


class Corpus(Protocol):
    """The documents of the catalog, for a component that learns from them; thread-safe.

    What was learnt is kept fresh so: learn from what changed after the `seq` that was read before the last time,
    and forget what came from documents that are no longer present.
    """

    def seq(self) -> int:
        """Return the number of the newest change."""

    def projects(self) -> Sequence[str]:
        """List the ids of the initialised projects."""

    def changed(self, project_id: str, after: int) -> Iterator[Document]:
        """Walk the documents of a project that were written after the change `after`; 0 walks all."""

    def present(self, project_id: str, document_ids: Iterable[str]) -> set[str]:
        """Return those of the documents that the project has."""


class NoCorpus:
    """The corpus of a component that was built without a catalog: nothing to learn from."""

    def seq(self) -> int:
        """Return 0: nothing changes."""
        return 0

    def projects(self) -> Sequence[str]:
        """List none."""
        return ()

    def changed(self, project_id: str, after: int) -> Iterator[Document]:  # noqa: ARG002 - no documents
        """Walk nothing."""
        return iter(())

    def present(self, project_id: str, document_ids: Iterable[str]) -> set[str]:  # noqa: ARG002 - no documents
        """Return none."""
        return set()


def _no_embedder(name: str) -> Embedder:
    raise PluginError(f"no embedder {name!r}: this component was built without a configuration")


def _no_reranker(config: ComponentConfig) -> Reranker:
    raise PluginError(f"no reranker {config.use!r}: this component was built without a configuration")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Services:
    """What the host lends to a component that is being built; nothing is global.

    `name` is the component's name in the YAML, `folder` a place of its own for files,
    `prefix` a prefix for its tables in `database`, unique to its fingerprint. `embedder` returns one
    of the file by its name, `reranker` builds one that an option holds (`Nested`). `models` has the
    weights of models, and keeps one loaded model for all who ask for the same.
    """

    name: str = ""
    folder: Path = Path()
    prefix: str = ""
    database: Database | None = None
    embedder: Callable[[str], Embedder] = _no_embedder
    reranker: Callable[[ComponentConfig], Reranker] = _no_reranker
    clock: Callable[[], datetime] = _now
    corpus: Corpus = field(default_factory=NoCorpus)
    models: ModelStore = field(default_factory=ModelStore)


@dataclass(frozen=True, slots=True)
class Registration(Generic[T_co]):
    """One component that a plugin offers.

    `build(options, services)` receives an instance of `options`. `index_version` changes when
    the component begins to store or to cut differently: what exists is then built anew.
    `models(options)` says which weights it needs, for `reqall models`; nothing is built for that.
    """

    name: str
    summary: str
    build: Callable[[Any, Services], T_co]
    options: type[PluginOptions] = field(default=PluginOptions)
    index_version: int = 1
    traits: frozenset[str] = frozenset()
    tools: Callable[[str, Callable[[], Any]], Sequence[SourceTool]] | None = None
    models: Callable[[Any], Sequence[HubModel]] | None = None
