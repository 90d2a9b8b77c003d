"""Evaluates pipelines on judged collections; each is kept in a database of its own.

So the statistics of BM25 are those of the collection alone, and a second run embeds nothing.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from reqall.app import App
from reqall.core.assemble import Assembly
from reqall.core.collection import Collection
from reqall.core.config import ComponentConfig
from reqall.core.database import Database
from reqall.core.environment import data_folder
from reqall.core.errors import JobError
from reqall.core.evaluation import Evaluated, run_pipeline
from reqall.core.jobs import Job, Jobs
from reqall.core.start import sync_project

SOURCE = "collection"

Watch: TypeAlias = Callable[[str, int, int], None]
"""Is told (what is done, done, total) now and then."""

POLL_SECONDS = 0.2


def evaluate_folder(app: App, folder: Path, pipelines: Sequence[str], watch: Watch) -> list[Evaluated]:
    """Index a BEIR-style folder with the named pipelines' indexes and run its queries through each.

    Document ids are not indexed as text (in some collections they hold the answer), nor are links.
    Raises InputError, SourceError, JobError.
    """
    collection = Collection.read(folder)
    options = {"path": str(folder.resolve()), "keys": False}
    config = app.config.model_copy(
        update={"sources": {SOURCE: ComponentConfig.model_validate({"use": "jsonl", "with": options})}}
    )
    database = Database(_database_file(folder))
    try:
        assembly = Assembly(config, app.host, app.environment, database, database.path.parent, pipelines=pipelines)
        _index(assembly, collection.name, watch)
        results = []
        for name in pipelines:
            done = 0

            def count(step: int, name: str = name) -> None:
                nonlocal done
                done += step
                watch(f"{collection.name}: {name}", done, len(collection.queries))

            results.append(run_pipeline(assembly.pipeline(name), collection, count))
        return results
    finally:
        database.close()


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
