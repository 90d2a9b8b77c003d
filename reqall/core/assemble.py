"""From a checked configuration to living components: each is built once, when it is first needed."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from reqall.core.building import built
from reqall.core.catalog import Catalog
from reqall.core.changes import ChangeLog
from reqall.core.components import build_options, digest, fingerprint, references
from reqall.core.config import ConfigFile, IndexConfig, PipelineConfig, StageConfig
from reqall.core.corpus import CatalogCorpus
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.errors import EmbedderError, NotFoundError, PluginError, ReqallError
from reqall.core.expansion import Expanding, VariantWeights
from reqall.core.guard import Component, blamed
from reqall.core.host import PluginHost
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.model_store import ModelStore
from reqall.core.pipeline import Pipeline
from reqall.core.protocols import Chunker, Embedder, Reranker, Source
from reqall.core.recall import Arm
from reqall.core.registration import ComponentConfig, Registration, Services
from reqall.core.scores import ScoreCache
from reqall.core.scoring import scoring
from reqall.core.usage import Usage, Use
from reqall.core.wording import did_you_mean, one_of

T = TypeVar("T")


class Assembly:
    """The components of one configuration file over one database; thread-safe."""

    def __init__(
        self,
        config: ConfigFile,
        host: PluginHost,
        environment: Environment,
        database: Database,
        folder: Path,
        *,
        pipelines: Iterable[str] | None = None,
        origin: str = "",
    ) -> None:
        """Build nothing yet; `folder` holds the components' own files.

        `pipelines` limits those whose indexes are maintained; None maintains all of the file's.
        `origin` is the file that the configuration was read from; `gc` tells files apart by it.
        """
        self.config = config
        self.host = host
        self.environment = environment
        self.database = database
        self.folder = folder
        self.maintained = list(config.pipelines if pipelines is None else pipelines)
        self.catalog = Catalog(database)
        self.log = ChangeLog(database)
        self.origin = origin
        self.scores = ScoreCache(folder)
        self.models = ModelStore(environment)
        self.usage = Usage(database)
        self._uses: dict[str, Use] = {}
        self._built: dict[tuple[str, str], Any] = {}
        self._lock = threading.RLock()

    def source(self, name: str) -> Source:
        """Return a configured source."""
        config = self._named("source", name, self.config.sources)
        found: Source = self._once("source", name, config, self._services(name))
        return found

    def embedder(self, name: str) -> Embedder:
        """Return a configured embedder."""
        config = self._named("embedder", name, self.config.embedders)
        found: Embedder = self._once("embedder", name, config, self._services(name))
        return found

    def index(self, name: str) -> Index:
        """Return a configured index."""
        config = self._named("index", name, self.config.indexes)
        return self._remember("index", name, lambda: self._index(name, config))

    def pipeline(self, name: str) -> Pipeline:
        """Return a configured pipeline."""
        config = self._named("pipeline", name, self.config.pipelines)
        pipeline = self._remember("pipeline", name, lambda: self._pipeline(name, config))
        self.usage.note(self.uses())
        return pipeline

    def indexer(self) -> Indexer:
        """Return what keeps those indexes level that the file's pipelines name and this process can build.

        An index whose component cannot be built here (no key, no wheel) stays behind; `problems` says why.
        """
        indexer = self._remember("indexer", "", self._indexer)
        self.usage.note(self.uses())
        return indexer

    def uses(self) -> list[Use]:
        """List the indexes that were built here, as `gc` tells them apart."""
        return list(self._uses.values())

    def problems(self) -> dict[str, str]:
        """Say which named indexes cannot be built here, and why."""
        self.indexer()
        return dict(self._remember("problems", "", dict))

    def _indexer(self) -> Indexer:
        problems = self._remember("problems", "", dict)
        indexes = []
        pipelines = [self._named("pipeline", name, self.config.pipelines) for name in self.maintained]
        for name in sorted({arm.index for pipeline in pipelines for arm in pipeline.recall}):
            try:
                indexes.append(self.index(name))
            except ReqallError as error:
                problems[name] = str(error)
        return Indexer(self.catalog, self.log, indexes)

    def _index(self, name: str, config: IndexConfig) -> Index:
        registration = self.host.find("recaller", config.use)
        options = build_options(registration, config, self.environment, f"index {name!r}")
        embedders = [getattr(options, each) for each, kind in references(registration.options) if kind == "embedder"]
        embedder = self.embedder(embedders[0]) if embedders else None
        by = self.host.describe("embedder", self.config.embedders[embedders[0]].use) if embedders else ""
        with blamed(f"index {name!r}: {by} does not say what it is"):
            chunker, chunking = self._chunker(name, config.chunk, embedder)
            identity = fingerprint(registration, options, chunking, embedder.identity if embedder else "")
        prefix = f"ix_{identity[:12]}"
        services = replace(self._services(name), prefix=prefix, folder=self.folder / "indexes" / identity)
        recaller = self._build("recaller", registration, options, services, f"index {name!r}")
        written = config.model_dump(mode="json", by_alias=True)
        self._uses[name] = Use(prefix, self.origin, name, identity, chunking, recaller.storage, written)
        return Index(name, recaller, chunker, chunking, identity, embedder)

    def _chunker(self, index: str, config: ComponentConfig, embedder: Embedder | None) -> tuple[Chunker, str]:
        registration = self.host.find("chunker", config.use)
        where = f"the chunker of index {index!r}"
        options = build_options(registration, config, self.environment, where)
        chunker = self._build("chunker", registration, options, self._services(index), where)
        # Two embedders that read or count differently must never share chunks.
        reads = f"{embedder.identity}/{embedder.max_tokens}" if embedder else "unlimited"
        return chunker, fingerprint(registration, options, reads)

    def _pipeline(self, name: str, config: PipelineConfig) -> Pipeline:
        arms, notices = self._arms(config)
        stages = {"fuser": config.fuse, "reranker": config.rerank}
        return Pipeline(
            name,
            indexer=self.indexer(),
            arms=arms,
            expanders=list(self._expanders(name, config, arms, notices)),
            fuser=self.stage("fuser", name, config.fuse),
            fuser_name=config.fuse.use,
            reranker=self._dispensable("reranker", name, config.rerank, notices),
            pin=config.pin,
            variant_weights=VariantWeights(**config.variant_weights.model_dump()),
            max_variants=config.max_variants,
            deadline=config.deadline,
            notices=notices,
            components={
                kind: Component(self.host.describe(kind, stage.use), stage.timeout or config.timeout)
                for kind, stage in stages.items()
            },
        )

    def _expanders(
        self, pipeline: str, config: PipelineConfig, arms: Sequence[Arm], notices: list[str]
    ) -> Iterator[Expanding]:
        """Build the expanders; one whose indexes are all left out here has nobody to ask."""
        present = {arm.index.name for arm in arms}
        for number, step in enumerate(config.expanders):
            indexes = present.intersection(step.indexes or present)
            built = self._dispensable("expander", f"{pipeline}.{number}", step, notices) if indexes else None
            if built is not None:
                by = Component(self.host.describe("expander", step.use), step.timeout or config.timeout)
                yield Expanding(built, by, step.weight, frozenset(indexes if step.indexes else ()))

    def _arms(self, config: PipelineConfig) -> tuple[list[Arm], list[str]]:
        """Build the legs; one that this machine cannot run is left out, if another can.

        A setting that is missing (ConfigError) is for the user to mend, and no leg is left out for it.
        """
        arms: list[Arm] = []
        notices: list[str] = []
        failures: list[ReqallError] = []
        for arm in config.recall:
            name = self.host.describe("recaller", self._named("index", arm.index, self.config.indexes).use)
            try:
                index = self.index(arm.index)
            except (PluginError, EmbedderError) as error:
                if arm.required:
                    raise
                failures.append(error)
                notices.append(f"searched without index {arm.index!r} ({name}): {error.message}")
            else:
                arms.append(Arm(index, arm.weight, arm.required, Component(name, arm.timeout or config.timeout)))
        if not arms:
            raise failures[0]
        return arms, notices

    def _dispensable(self, kind: str, pipeline: str, config: StageConfig | None, notices: list[str]) -> Any:
        """Build a stage that a search can do without: None where it does nothing, or cannot be built here."""
        if config is None:
            return None
        try:
            if "identity" in self.host.find(kind, config.use).traits:
                return None
            return self.stage(kind, pipeline, config)
        except (PluginError, EmbedderError) as error:
            notices.append(f"searched without {self.host.describe(kind, config.use)}: {error.message}")
            return None

    def stage(self, kind: str, pipeline: str, config: ComponentConfig) -> Any:
        """Return the expander, fuser or reranker of a pipeline. Raises ReqallError where it cannot be built here."""
        found = self._once(kind, f"{pipeline}.{kind}", config, self._services(f"{pipeline}.{kind}"))
        return scoring(found, self.scores) if kind == "reranker" else found

    def close(self) -> None:
        """Close the files that were opened."""
        self.scores.close()
        self.database.close()

    def _once(self, kind: str, name: str, config: ComponentConfig, services: Services) -> Any:
        def make() -> Any:
            registration = self.host.find(kind, config.use)
            where = f"{kind} {name!r}"
            options = build_options(registration, config, self.environment, where)
            return self._build(kind, registration, options, services, where)

        return self._remember(kind, name, make)

    def _build(self, kind: str, registration: Registration[T], options: Any, services: Services, where: str) -> T:
        return built(kind, registration, options, services, where, self.host.describe(kind, registration.name))

    def _reranker(self, config: ComponentConfig) -> Reranker:
        """Return one that stands in another's options; those of equal options share it, and its model."""
        found: Reranker = self.stage("reranker", f"inner-{digest(config)}", config)
        return found

    def _services(self, name: str) -> Services:
        return Services(
            name,
            self.folder / name,
            database=self.database,
            embedder=self.embedder,
            reranker=self._reranker,
            corpus=CatalogCorpus(self.catalog, self.log),
            models=self.models,
        )

    def _named(self, kind: str, name: str, known: dict[str, T]) -> T:
        if name not in known:
            raise NotFoundError(
                f"no {kind} {name!r}{did_you_mean(name, known)}", f"the configuration has: {one_of(known)}"
            )
        return known[name]

    def _remember(self, kind: str, name: str, make: Callable[[], T]) -> T:
        with self._lock:
            if (kind, name) not in self._built:
                self._built[kind, name] = make()
            found: T = self._built[kind, name]
            return found
