"""The composition root: host, built-ins and pipelines.yaml become an App; faces only call it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from reqall.core.assemble import Assembly
from reqall.core.config import MAX_CANDIDATE_K, MAX_TOP_K, ConfigFile, read_yaml
from reqall.core.database import Database
from reqall.core.environment import Environment, config_folder, data_folder
from reqall.core.errors import ConfigError, InputError, NotFoundError, SourceError
from reqall.core.host import PluginHost, strictness
from reqall.core.jobs import Job, Jobs
from reqall.core.naming import match_project
from reqall.core.request import SearchRequest, filters_for
from reqall.core.rerank_switch import switched
from reqall.core.schedule import Schedule, interval_from
from reqall.core.start import backfill, sync_project, unfinished
from reqall.core.types import Project, Query, SearchResult, native_id
from reqall.core.validate import validate
from reqall.core.wording import did_you_mean, one_of

BUILT_INS = (
    "reqall.plugins.sources",
    "reqall.plugins.sources.folder",
    "reqall.plugins.sources.jama",
    "reqall.plugins.chunkers",
    "reqall.plugins.embedders",
    "reqall.plugins.expanders",
    "reqall.plugins.recallers",
    "reqall.plugins.fusers",
    "reqall.plugins.rerankers",
)

PACKAGED = Path(__file__).with_name("pipelines.yaml")


class Chosen(NamedTuple):
    """A setting and where it came from."""

    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the caller fixes, above the environment; empty = not given."""

    config: str = ""
    pipeline: str = ""
    database: str = ""


class App:
    """An assembled reqall. Nothing heavy happens before it is needed; thread-safe."""

    def __init__(
        self,
        overrides: Overrides = Overrides(),
        environment: Environment | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Load plugins, no more: what is wrong with a configuration must not hide what is installed."""
        self.overrides = overrides
        self.clock = clock
        self.environment = Environment() if environment is None else environment
        self.host = PluginHost(BUILT_INS, **strictness(self.environment))
        self._lock = threading.RLock()  # tools of one server run in several threads
        self._assembly: Assembly | None = None
        self._jobs: Jobs | None = None
        self._schedule: Schedule | None = None

    @cached_property
    def config(self) -> ConfigFile:
        """Read and check the configuration. Raises one ConfigError for all its mistakes."""
        written = validate(read_yaml(Path(self.config_file.value).expanduser()), self.host, self.environment)
        return switched(written, self.environment)

    @cached_property
    def config_file(self) -> Chosen:
        """Choose the YAML file; the working directory is never searched."""
        own = config_folder() / "pipelines.yaml"
        fallback = Chosen(str(own), "user's folder") if own.is_file() else Chosen(str(PACKAGED), "packaged")
        return self._choose(self.overrides.config, "REQALL_CONFIG", fallback)

    @cached_property
    def database_file(self) -> Chosen:
        """Choose the catalog's file."""
        default = Chosen(str(data_folder() / "catalog.db"), "default")
        return self._choose(self.overrides.database, "JAMA_MCP_DB_PATH", default)

    @cached_property
    def pipeline_name(self) -> Chosen:
        """Choose the pipeline that answers when none is named."""
        return self._choose(self.overrides.pipeline, "REQALL_PIPELINE", Chosen("default", "default"))

    @property
    def assembly(self) -> Assembly:
        """Open the database and stand ready to build components. Raises CatalogError."""
        with self._lock:
            if self._assembly is None:
                path = Path(self.database_file.value).expanduser()
                origin = str(Path(self.config_file.value).expanduser().resolve())
                self._assembly = Assembly(
                    self.config, self.host, self.environment, Database(path), path.parent, origin=origin
                )
            return self._assembly

    @property
    def jobs(self) -> Jobs:
        """Return the jobs of the catalog's file."""
        with self._lock:
            if self._jobs is None:
                self._jobs = Jobs(self.assembly.database, clock=self.clock)
            return self._jobs

    @cached_property
    def sync_interval(self) -> timedelta | None:
        """Read how often projects are synced by themselves; None is never. Raises ConfigError."""
        return interval_from(self.environment)

    @property
    def schedule(self) -> Schedule:
        """Return what syncs due projects and keeps indexes level, not started. Raises ConfigError."""
        with self._lock:
            if self._schedule is None:
                catalog, interval = self.assembly.catalog, self.sync_interval
                self._schedule = Schedule(
                    catalog, self.jobs, self.resync, interval, lambda newest: self.backfill(newest=newest)
                )
            return self._schedule

    def close(self) -> None:
        """End the schedule, let running jobs go to another process, and close the database."""
        if self._schedule is not None:
            self._schedule.stop()
        if self._jobs is not None:
            self._jobs.close()
        if self._assembly is not None:
            self._assembly.close()

    def synced_project(self, text: str, source: str = "") -> Project:
        """Find an initialised project by id, key or name, without asking its source. Raises NotFoundError.

        `source` limits the search to one source's projects: two may have the same ids.
        """
        known = [s.project for s in self.assembly.catalog.projects() if source in ("", s.project.source)]
        found = match_project(text, known)
        if found is None:
            names = [name for project in known for name in (project.key, project.name)]
            raise NotFoundError(
                f"project {text!r} is not initialised{did_you_mean(text, names)}",
                f"run `reqall sync {text}` (for MCP clients: the tool {self._init_tool(source)}); initialised:"
                f" {one_of(f'{native_id(p.id)} {p.key} {p.name}' for p in known)}",
            )
        return found

    def source_project(self, text: str, source: str = "") -> Project:
        """Find a project by id, key or name in its source. Raises NotFoundError, SourceError."""
        sources = [source] if source else list(self.config.sources)
        if not sources:
            raise InputError("the configuration names no source", "add one under `sources:`")
        prefix = text.partition(":")[0]
        listed = [p for name in sources for p in self.assembly.source(prefix if prefix in sources else name).projects()]
        found = match_project(text, listed)
        if found is None:
            names = [name for project in listed for name in (project.key, project.name)]
            raise NotFoundError(
                f"no project {text!r} in {one_of(sources)}{did_you_mean(text, names)}",
                f"visible: {one_of(f'{native_id(p.id)} {p.key} {p.name}' for p in listed)}",
            )
        return found

    def sync(
        self,
        text: str,
        *,
        full: bool = False,
        source: str = "",
        background: bool = False,
        allow_removals: bool = False,
    ) -> Job:
        """Sync a project, or return the job that already does; `background` returns at once.

        `allow_removals`: also remove more documents than an outage or a lost permission should cost.
        """
        project = self.source_project(text, source)
        return sync_project(
            self.assembly, self.jobs, project, full=full, background=background, allow_removals=allow_removals
        )

    def backfill(self, *, background: bool = False, newest: str | None = None) -> Job | None:
        """Bring every index level from the catalog; None when all are. No source is asked.

        Nothing is begun when there is a newer backfill than `newest` (see `Jobs.claim`).
        """
        return backfill(self.assembly, self.jobs, background=background, seen=newest)

    def resync(self, project_id: str, newest: str) -> Job:
        """Sync a project that the catalog knows, or that a job of it names, unless a job came after `newest`.

        Raises ConfigError when its source has no settings here.
        """
        source = project_id.partition(":")[0]
        if source not in self.config.sources:
            raise ConfigError(f"the configuration has no source {source!r}", "add it under `sources:`")
        state = self.assembly.catalog.project(project_id)
        try:
            project = self.source_project(project_id, source)  # its key or name may have changed
        except (SourceError, NotFoundError):
            if state is None:
                raise
            project = state.project  # what is wrong stands in the job then, for the status to tell
        return sync_project(self.assembly, self.jobs, project, full=False, background=False, seen=newest)

    def search(self, request: SearchRequest) -> tuple[Sequence[Project], SearchResult]:
        """Search initialised projects. Raises InputError for what the caller can mend."""
        projects = [self.synced_project(text, request.source) for text in request.projects]
        filters = filters_for(request, [project.id for project in projects], self.assembly.catalog)
        query = Query(request.checked_query(), request.checked_sub_queries(), filters)
        name = request.pipeline or self.pipeline_name.value
        return projects, self.answer(projects, query, name, *self.depth(request, name))

    def answer(
        self, projects: Sequence[Project], query: Query, pipeline: str, top_k: int, candidate_k: int
    ) -> SearchResult:
        """Search with a query that is checked; the result also warns of projects that are not indexed whole."""
        result = self.assembly.pipeline(pipeline).search(query, top_k, candidate_k)
        catalog, jobs = self.assembly.catalog, self.jobs
        notes = [note for project in projects if (note := unfinished(catalog, jobs, project))]
        return replace(result, warnings=(*notes, *result.warnings))

    def depth(self, request: SearchRequest, pipeline: str) -> tuple[int, int]:
        """Return (top_k, candidate_k) of a request, else the pipeline's. Raises InputError, NotFoundError."""
        self.assembly.pipeline(pipeline)
        config = self.config.pipelines[pipeline]
        return request.depth(config.top_k, config.candidate_k, MAX_TOP_K, MAX_CANDIDATE_K)

    def _choose(self, override: str, variable: str, fallback: Chosen) -> Chosen:
        if override:
            return Chosen(override, "command line")
        found = self.environment.get(variable)
        return Chosen(found, f"{variable} from {self.environment.origin(variable)}") if found else fallback

    def _init_tool(self, source: str) -> str:
        return f"init_{source or next(iter(self.config.sources), 'source')}_project"
