"""An assembly that recalls, expands and reads once, however many pipelines of a grid ask for the same.

What comes out of the cache took its time before: the ledger adds it to the timings of a search, so
that latencies are those of a search without a cache.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from reqall.core.assemble import Assembly
from reqall.core.catalog import Catalog
from reqall.core.components import build_options
from reqall.core.database import Database
from reqall.core.evaluation import Timings
from reqall.core.expanding import FoundDocument, QueryExpander, SupportsFeedback, Variant
from reqall.core.index import Index
from reqall.core.neighbours import SupportsLikeness
from reqall.core.protocols import Recaller, SqlConnection, Storage, Vectors
from reqall.core.ranking import ChunkRanking
from reqall.core.registration import ComponentConfig
from reqall.core.scores import Score, ScoreCache
from reqall.core.types import Document, Filters, IndexBatch, IndexEntry, Position, Query
from reqall.experiments.fingerprints import component_identity

T = TypeVar("T")


class Ledger:
    """Remembers results with the time that each took, and what the search at hand owes."""

    def __init__(self) -> None:
        """Begin with nothing remembered."""
        self._known: dict[Hashable, tuple[Any, float]] = {}
        self._owed: dict[str, float] = {}
        self._lock = threading.Lock()  # arms are asked at once, each on a thread of its own

    def remember(self, stages: Sequence[str], key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, called once per key; a later call owes its time to these stages."""
        if key in self._known:
            found: T
            found, milliseconds = self._known[key]
            self.owe(stages, milliseconds)
            return found
        start = time.perf_counter()
        made = make()
        self._known[key] = made, (time.perf_counter() - start) * 1000
        return made

    def owe(self, stages: Sequence[str], milliseconds: float) -> None:
        """Note what the search at hand would have taken longer."""
        with self._lock:
            for stage in stages:
                self._owed[stage] = self._owed.get(stage, 0.0) + milliseconds

    def settle(self, timings: Timings) -> dict[str, float]:
        """Add what the search owes to its timings, and begin the next."""
        settled = {stage: round(value + self._owed.get(stage, 0.0), 3) for stage, value in timings.items()}
        self._owed.clear()
        return settled


class RememberingRecaller:
    """A recaller that recalls the same texts to the same depth once; for an index that does not change meanwhile."""

    def __init__(self, name: str, recaller: Recaller, ledger: Ledger) -> None:
        """Stand before `recaller`, which belongs to the index `name`."""
        self._name, self._recaller, self._ledger = name, recaller, ledger

    @property
    def storage(self) -> Storage:
        """Where the index lives."""
        return self._recaller.storage

    def prepare(self, entries: Sequence[IndexEntry]) -> Any:
        """Prepare as the recaller does."""
        return self._recaller.prepare(entries)

    def apply(self, batch: IndexBatch, prepared: Any, tx: SqlConnection | None) -> None:
        """Apply as the recaller does."""
        self._recaller.apply(batch, prepared, tx)

    def position(self) -> Position | None:
        """Say how far the engine is."""
        return self._recaller.position()

    def recall(self, texts: Sequence[str], limit: int, filters: Filters) -> Sequence[ChunkRanking]:
        """Recall, or return what was recalled.

        Texts that are searched together are remembered together: a model may round otherwise in another batch.
        """
        key = ("recall", self._name, self.position(), tuple(texts), limit, filters)
        stages = ("recall", f"recall.{self._name}")
        return self._ledger.remember(stages, key, lambda: self._recaller.recall(texts, limit, filters))


class RememberingAlike(RememberingRecaller):
    """The same of a recaller that knows how alike its documents are: that is asked anew."""

    def likeness(self, document_ids: Sequence[str]) -> Vectors:
        """Compare documents as the recaller does."""
        assert isinstance(self._recaller, SupportsLikeness)
        return self._recaller.likeness(document_ids)


def remembering(name: str, recaller: Recaller, ledger: Ledger) -> RememberingRecaller:
    """Stand before a recaller with all that it can do in a search."""
    kind = RememberingAlike if isinstance(recaller, SupportsLikeness) else RememberingRecaller
    return kind(name, recaller, ledger)


class RememberingCatalog(Catalog):
    """A catalog that reads each document once: pipelines of a grid have most of their candidates in common.

    To be used when the documents do not change meanwhile.
    """

    def __init__(self, database: Database, ledger: Ledger) -> None:
        """Read from an opened database."""
        super().__init__(database)
        self._ledger = ledger
        self._read: dict[str, tuple[Document | None, float]] = {}

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """Return documents by id; a pipeline reads its candidates in the stage `read`."""
        fresh = [key for key in ids if key not in self._read]
        self._ledger.owe(("read",), sum(self._read[key][1] for key in ids if key in self._read))
        if fresh:
            start = time.perf_counter()
            found = super().documents(fresh)
            share = (time.perf_counter() - start) * 1000 / len(fresh)
            self._read.update({key: (found.get(key), share) for key in fresh})
        return {key: document for key in ids if (document := self._read[key][0]) is not None}


class RememberingExpander:
    """An expander that is asked once per query, so that pipelines that share it search with the same texts."""

    def __init__(self, identity: str, expander: QueryExpander, ledger: Ledger) -> None:
        """Stand before `expander`; `identity` tells it from others."""
        self._identity, self._expander, self._ledger = identity, expander, ledger

    def expand(self, query: Query) -> Sequence[str | Variant]:
        """Expand, or return what was expanded."""
        key = ("expand", self._identity, query)
        return self._ledger.remember(("expand",), key, lambda: list(self._expander.expand(query)))


class RememberingFeedback(RememberingExpander):
    """The same of an expander that reads what a first search found: once per query and what was found."""

    def __init__(self, identity: str, expander: Any, ledger: Ledger) -> None:
        """Stand before `expander`, which supports feedback."""
        super().__init__(identity, expander, ledger)
        self._reader: SupportsFeedback = expander

    def expand_from(self, query: Query, found: Sequence[FoundDocument]) -> Sequence[str | Variant]:
        """Expand, or return what was expanded."""
        key = ("expand", self._identity, query, tuple((each.document.id, each.score) for each in found))
        return self._ledger.remember(("expand",), key, lambda: list(self._reader.expand_from(query, found)))


class RememberingScores(ScoreCache):
    """Scores of models, kept on disk from one experiment to the next, with the time that each took."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        """Keep the file in `folder`."""
        super().__init__(folder)
        self._ledger = ledger

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Score]:
        """Return the scores that are known."""
        found = super().get(keys)
        self._ledger.owe(("rerank",), sum(score.milliseconds for score in found.values()))
        return found


class RememberingAssembly(Assembly):
    """An assembly whose pipelines share recall and expansions, and stages of equal options.

    A model of a reranker is loaded once for all pipelines of a grid that name it with the same options.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Build nothing yet; the arguments are those of an assembly."""
        super().__init__(*arguments, **options)
        self.ledger = Ledger()
        self.catalog = RememberingCatalog(self.database, self.ledger)
        self.scores = RememberingScores(self.folder, self.ledger)
        self._indexes: dict[str, Index] = {}

    def index(self, name: str) -> Index:
        """Return a configured index with a recaller that remembers."""
        if name not in self._indexes:
            found = super().index(name)
            self._indexes[name] = replace(found, recaller=remembering(name, found.recaller, self.ledger))
        return self._indexes[name]

    def stage(self, kind: str, pipeline: str, config: ComponentConfig) -> Any:
        """Return one stage for all pipelines that name it with equal options."""
        registration = self.host.find(kind, config.use)
        where = f"{kind} {f'{pipeline}.{kind}'!r}"
        options = build_options(registration, config, self.environment, where)
        identity = component_identity(registration, options)
        found = super().stage(kind, f"eval-{identity[:12]}", config)
        if kind != "expander":
            return found
        remembering = RememberingFeedback if isinstance(found, SupportsFeedback) else RememberingExpander
        return remembering(identity, found, self.ledger)
