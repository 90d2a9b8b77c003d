"""Syncs every initialised project now and then, and fills indexes that are behind, as long as this process lives.

Nothing is kept in memory of when to run: a look at the catalog every minute says which projects are
due. So a run that was missed (a laptop that slept, a server that was off) is made up for once, and
of several processes that share the file whichever looks first takes the project's lease; the others
find it fresh. A first sync that never finished is resumed at start, a job whose process ended at once.
Indexes are filled whenever one is behind and no sync is running, which would do it at its end.
"""

import logging
import math
import random
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from reqall.core.catalog import Catalog
from reqall.core.errors import ConfigError, ReqallError
from reqall.core.jobs import BACKFILL, KINDS, Job, Jobs

VARIABLE = "SYNC_INTERVAL_HOURS"
DEFAULT_HOURS = 2.0
PATIENCE = timedelta(hours=DEFAULT_HOURS)
"""How long after a backfill that failed the next one begins, where projects are not synced by themselves."""

LOOK_SECONDS = 60.0

_log = logging.getLogger("reqall.schedule")


def interval_from(environment: Mapping[str, str]) -> timedelta | None:
    """Read how often to sync; None is never. Raises ConfigError."""
    text = environment.get(VARIABLE, str(DEFAULT_HOURS))
    try:
        hours = float(text)
        interval = timedelta(hours=hours)
    except (ValueError, OverflowError):
        hours = math.nan
    if not hours >= 0:
        raise ConfigError(f"{VARIABLE} is {text!r}", "give hours as a number, such as 2 or 0.5; 0 switches it off")
    return interval or None


class Schedule:
    """What is due, and the threads that sync it: one project at a time."""

    def __init__(
        self,
        catalog: Catalog,
        jobs: Jobs,
        sync: Callable[[str, str], Job],
        interval: timedelta | None,
        backfill: Callable[[str], Job | None] = lambda _newest: None,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Do nothing yet; without an interval no project is synced.

        `sync` takes the ids of a project and of its newest job ("" = none; if there is a newer one by then, it does
        nothing), and returns the job when it has ended. `backfill` takes the id of the newest backfill, and does
        nothing when every index is level.
        """
        self.interval = interval
        self._backfill = backfill
        self._catalog = catalog
        self._jobs = jobs
        self._sync = sync
        self._look_seconds = min(look_seconds, interval.total_seconds()) if interval else look_seconds
        self._begun = jobs.clock()
        self._failed: dict[str, datetime] = {}
        self._left_out: set[str] = set()
        self._stop = threading.Event()
        self._worker: threading.Thread | None = None
        self._scheduler: Any = None

    def start(self) -> None:
        """Begin to look: soon, then every minute, each time somewhat later or earlier than other processes."""
        from apscheduler.schedulers.background import BackgroundScheduler

        self._scheduler = BackgroundScheduler(daemon=True, timezone=UTC)
        self._scheduler.add_job(
            self._look,
            "interval",
            seconds=self._look_seconds,
            jitter=self._look_seconds / 10,
            next_run_time=datetime.now(UTC) + timedelta(seconds=self._look_seconds / 10 * random.random()),  # noqa: S311
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
        self._scheduler.start()

    def stop(self) -> None:
        """Begin no more syncs; the one that runs is for `Jobs.close` to let go."""
        self._stop.set()
        if self._scheduler is not None and self._scheduler.running:
            self._scheduler.shutdown()

    def due(self) -> list[str]:
        """List the ids of the projects to sync now."""
        if self.interval is None:
            return []
        orphans = [job.project_id for job in self._jobs.open() if job.status == "QUEUED" and job.kind != BACKFILL]
        projects = dict.fromkeys([*orphans, *(state.project.id for state in self._catalog.projects())])
        return [project_id for project_id in projects if self._is_due(project_id, self._jobs.latest(project_id))]

    def run_due(self) -> list[Job]:
        """Sync what is due, one after the other, then fill indexes; the jobs as they ended."""
        ended = []
        for project_id in self.due():
            # Another process may have done it while we synced the one before.
            newest = self._jobs.latest(project_id)
            if not self._stop.is_set() and self._is_due(project_id, newest):
                ended += self._sync_one(project_id, newest.job_id if newest else "")
        return ended + self._fill()

    def _fill(self) -> list[Job]:
        """Fill indexes that are behind, unless it was just tried in vain or another job is at it."""
        newest = self._jobs.latest("")
        failed = newest is not None and newest.status in ("ERROR", "CANCELLED") and newest.finished
        if failed and self._is_fresh(datetime.fromisoformat(failed), self._jobs.clock()):
            return []
        if self._stop.is_set() or any(job.status == "RUNNING" for job in self._jobs.open()):
            return []
        job = self._backfill(newest.job_id if newest else "")
        return [job] if job is not None else []

    def _look(self) -> None:
        # Not in the scheduler's own thread, which is waited for at the end of the process.
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._work, name="schedule", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        try:
            self.run_due()
        except ReqallError as error:
            _log.warning("scheduled sync: %s", error)
        except Exception:  # noqa: BLE001 - a defect is told, and the next look tries again
            _log.exception("scheduled sync failed")

    def _is_due(self, project_id: str, newest: Job | None) -> bool:
        now = self._jobs.clock()
        if _source(project_id) in self._left_out or self._is_fresh(self._failed.get(project_id), now):
            return False
        if newest is not None and not newest.ended:
            return newest.status == "QUEUED"
        state = self._catalog.project(project_id)
        synced = state.synced if state is not None else None
        if synced is None and newest is not None and newest.status == "CANCELLED":
            return False  # who did not want the first sync is not given it by the clock
        is_sync = newest is not None and newest.kind in KINDS
        tried = datetime.fromisoformat(newest.finished) if newest and is_sync and newest.finished else None
        if synced is None and tried is not None and tried < self._begun:
            return True  # once per process; a failure in this one waits as any other
        return not self._is_fresh(tried, now) and not self._is_fresh(synced, now)

    def _is_fresh(self, time: datetime | None, now: datetime) -> bool:
        # A time that lies ahead is another host's clock: it counts as well.
        return time is not None and abs(now - time) < (self.interval or PATIENCE)

    def _sync_one(self, project_id: str, newest: str) -> list[Job]:
        try:
            return [self._sync(project_id, newest)]
        except ConfigError as error:
            self._left_out.add(_source(project_id))
            _log.warning("no scheduled syncs of source %s: %s", _source(project_id), error.message)
        except ReqallError as error:
            self._failed[project_id] = self._jobs.clock()
            _log.warning("no scheduled sync of project %s: %s", project_id, error.message)
        return []


def _source(project_id: str) -> str:
    return project_id.partition(":")[0]
