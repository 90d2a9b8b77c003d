"""Runs an experiment: pipelines on judged collections, each collection in a database of its own.

So the statistics of BM25 are those of the collection alone, and a second run embeds nothing. Queries
from trace links are asked where the project is: in the catalog.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from reqall.app import App
from reqall.core.assemble import Assembly
from reqall.core.collection import Collection
from reqall.core.config import ConfigFile
from reqall.core.database import Database
from reqall.core.environment import data_folder
from reqall.core.errors import InputError, JobError
from reqall.core.evaluation import EVERYTHING, Searched, search_all
from reqall.core.jobs import Job, Jobs
from reqall.core.metrics import evaluate, parse
from reqall.core.registration import ComponentConfig
from reqall.core.start import sync_project
from reqall.core.types import Filters
from reqall.core.wording import did_you_mean, one_of
from reqall.experiments.caching import RememberingAssembly
from reqall.experiments.fingerprints import folder_hash, pipeline_fingerprint
from reqall.experiments.links import from_links
from reqall.experiments.plan import LinkQueries, Plan
from reqall.experiments.report import Outcome, Report, compared
from reqall.experiments.runs import other_runs
from reqall.experiments.store import Store
from reqall.experiments.tuning import cross_validated

SOURCE = "collection"

Watch: TypeAlias = Callable[[str, int, int], None]
"""Is told (what is done, done, total) now and then."""

POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class _Setting:
    """Judged queries, the hash of all that is searched, and where they are asked; `fill` indexes it."""

    collection: Collection
    content: str
    filters: Filters
    assembly: RememberingAssembly
    fill: Callable[[], None]


def run(app: App, plan: Plan, watch: Watch) -> Report:
    """Run what is not known from an earlier run, and compare. Raises InputError, SourceError, JobError.

    Document ids of a folder are not indexed as text (in some collections they hold the answer), nor are links.
    """
    for metric in (*plan.metrics, *([plan.tune.metric] if plan.tune else [])):
        parse(metric)
    baseline = _baseline(plan)
    config = app.config.model_copy(update={"pipelines": {**app.config.pipelines, **plan.pipelines}})
    collections: list[Collection] = []
    found: dict[str, dict[str, Searched]] = {}
    for folder in plan.folders:
        with _folder(app, config, folder, list(plan.pipelines), watch) as setting:
            _add(setting, plan, watch, collections, found)
    if plan.links:
        _add(_project(app, config, plan.links, list(plan.pipelines)), plan, watch, collections, found)
    if not collections:
        raise InputError("there is nothing to evaluate on", "name a folder of judged queries, or --from-links PROJECT")
    return _report(plan, baseline, collections, found, watch)


def _report(
    plan: Plan, baseline: str, collections: list[Collection], found: dict[str, dict[str, Searched]], watch: Watch
) -> Report:
    """Add what tuning and other systems found, score all and compare."""
    chosen: tuple[str, ...] = ()
    tuned = ""
    if plan.tune:
        tuned = f"tuned({plan.tune.metric},{plan.tune.folds} folds)"
        chosen, rows = cross_validated(collections, found, plan.tune)
        for name, searched in rows.items():
            found[name][tuned] = searched
    for name, others in other_runs(plan.runs, collections, found[collections[0].name]).items():
        found[name].update(others)
    outcomes = {
        c.name: {
            system: Outcome(each, evaluate(each.run, c.qrels, plan.metrics)) for system, each in found[c.name].items()
        }
        for c in collections
    }
    watch("comparing", 0, 0)
    comparisons = compared(plan.metrics, baseline, collections, outcomes)
    return Report(plan.metrics, baseline, tuple(collections), outcomes, comparisons, plan.depth, tuned, chosen)


def _baseline(plan: Plan) -> str:
    if not plan.pipelines:
        raise InputError("there is no pipeline to evaluate", "name one with --pipeline")
    if plan.baseline and plan.baseline not in plan.pipelines:
        near = did_you_mean(plan.baseline, plan.pipelines)
        raise InputError(
            f"the baseline {plan.baseline!r} is not evaluated{near}", f"there are: {one_of(plan.pipelines)}"
        )
    return plan.baseline or next(iter(plan.pipelines))


def _add(
    setting: _Setting,
    plan: Plan,
    watch: Watch,
    collections: list[Collection],
    found: dict[str, dict[str, Searched]],
) -> None:
    """Search with every pipeline that has not been searched with before."""
    name = setting.collection.name
    if name in found:
        raise InputError(f"two collections are called {name!r}", "rename one of the folders")
    collections.append(setting.collection)
    found[name] = {}
    store = Store(data_folder() / "eval" / "results")
    is_filled = False
    for number, pipeline in enumerate(plan.pipelines):
        what = f"{name}: {number + 1}/{len(plan.pipelines)} {pipeline}"
        key = pipeline_fingerprint(setting.assembly, pipeline, plan.depth)
        searched = None if plan.fresh else store.get(setting.content, key)
        if searched is None:
            if not is_filled:
                setting.fill()
                is_filled = True
            searched = _searched(setting, pipeline, plan.depth, partial(watch, what))
            store.put(setting.content, key, searched)
        found[name][pipeline] = searched


def _searched(setting: _Setting, pipeline: str, depth: int, count: Callable[[int, int], None]) -> Searched:
    done = 0

    def progress(step: int) -> None:
        nonlocal done
        done += step
        count(done, len(setting.collection.queries))

    assembly = setting.assembly
    return search_all(
        assembly.pipeline(pipeline),
        setting.collection,
        filters=setting.filters,
        depth=depth,
        settle=assembly.ledger.settle,
        progress=progress,
    )


@contextmanager
def _folder(app: App, config: ConfigFile, folder: Path, pipelines: list[str], watch: Watch) -> Iterator[_Setting]:
    collection = Collection.read(folder)
    options = {"path": str(folder.resolve()), "keys": False}
    sources = {SOURCE: ComponentConfig.model_validate({"use": "jsonl", "with": options})}
    config = config.model_copy(update={"sources": sources})
    database = Database(_database_file(folder))
    where = (config, app.host, app.environment, database, database.path.parent)
    assembly = RememberingAssembly(*where, pipelines=pipelines)
    try:

        def fill() -> None:
            # With an assembly of its own: what remembers must not see a collection half written.
            _index(Assembly(*where, pipelines=pipelines), collection.name, watch)

        yield _Setting(collection, folder_hash(folder), EVERYTHING, assembly, fill)
    finally:
        assembly.close()


def _project(app: App, config: ConfigFile, links: LinkQueries, pipelines: list[str]) -> _Setting:
    """Search the user's own catalog, which is read only: what an index lacks is told as a warning."""
    linked = from_links(app, links)
    own = app.assembly
    assembly = RememberingAssembly(
        config, app.host, app.environment, own.database, own.folder, pipelines=pipelines, origin=own.origin
    )
    return _Setting(linked.collection, linked.content, linked.filters, assembly, lambda: None)


def _index(assembly: Assembly, name: str, watch: Watch) -> None:
    jobs = Jobs(assembly.database)
    project = assembly.source(SOURCE).projects()[0]
    job = sync_project(assembly, jobs, project, full=True, background=True)
    while not (job := jobs.get(job.job_id)).ended:
        watch(f"{name}: {job.phase}", job.done, job.total)
        time.sleep(POLL_SECONDS)
    _raise_failed(job)


def _raise_failed(job: Job) -> None:
    if job.status != "DONE":
        raise JobError(f"the collection could not be indexed: {job.error}")


def _database_file(folder: Path) -> Path:
    place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    return data_folder() / "eval" / f"{folder.resolve().name}-{place}.db"
