"""A simulated Jama that goes down for a while, a catalog that is synced from it, and time that passes only in sleep."""

import threading
from datetime import UTC, datetime, timedelta

from reqall import Project
from reqall.app import BUILT_INS, sync_project
from reqall.core.assemble import Assembly
from reqall.core.config import read_yaml
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.host import PluginHost
from reqall.core.jobs import Jobs
from reqall.core.validate import validate
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.source import JamaSource
from tests.soak.truth import PROJECT, differences

WORDS = """
version: 1
indexes: {words: {use: sqlite_fts5}}
pipelines: {default: {recall: [{index: words}]}}
"""
START = datetime(2024, 6, 1, tzinfo=UTC)
OUTAGE = 600.0
TNY = Project(f"jama:{PROJECT}", "jama", "TNY", "Tiny")


class SimulatedTime:
    """Seconds since the start, the same for Jama's dates, for tokens and for jobs.

    What threads sleep side by side passes once. `on_sleep` is called after each sleep.
    """

    def __init__(self):
        self.now = 0.0
        self.on_sleep = lambda: None
        self._slept = {}
        self._lock = threading.Lock()

    def sleep(self, seconds):
        with self._lock:
            mine = self._slept.get(threading.get_ident(), 0.0) + seconds
            self._slept[threading.get_ident()] = mine
            self.now = max(self.now, mine)
        self.on_sleep()

    def clock(self):
        return self.now

    def utc(self):
        return START + timedelta(seconds=self.now)


class _Assembly(Assembly):
    """Takes a source that is built already, and that sleeps in simulated time."""

    def __init__(self, folder, configuration, variables, source):
        host, environment = PluginHost(BUILT_INS, installed=False), Environment(variables, folder / ".env")
        file = folder / "pipelines.yaml"
        file.write_text(configuration, encoding="utf-8")
        config = validate(read_yaml(file), host, environment)
        super().__init__(config, host, environment, Database(folder / "catalog.db"), folder)
        self._source = source

    def source(self, name):
        return self._source


class Household:
    """A simulated Jama, and a catalog that is synced from it; `said` is what the job said whenever the source slept."""

    def __init__(self, simulator, folder, *, configuration=WORDS, variables=None, **options):
        self.simulator, self.world, self.faults = simulator, simulator.world, simulator.faults
        self.world.clock.set(START)
        self.time = SimulatedTime()
        self.time.on_sleep = self._slept
        self.said, self.when_slept = [], []
        self._doomed = iter(range(1015, 1020))
        secrets = {"client_id": simulator.client_id, "client_secret": simulator.client_secret}
        settings = {"page_size": 4, "parallel_pages": 1, "requests_per_second": 1000, **secrets, **options}
        self.source = JamaSource(
            JamaOptions(url=simulator.url, **settings), sleep=self.time.sleep, clock=self.time.clock
        )
        self.assembly = _Assembly(folder, configuration, variables or {}, self.source)
        self.jobs = Jobs(self.assembly.database, clock=self.time.utc)

    def sync(self, *, full=False, background=False):
        return sync_project(self.assembly, self.jobs, TNY, full=full, background=background)

    def done(self, **how):
        """Sync; nothing may be lost."""
        job = self.sync(**how)
        assert (job.status, job.error) == ("DONE", "")
        assert "waiting" not in job.message
        assert differences(self.assembly.catalog, self.world) == []
        return job

    def edit(self):
        """Change enough for several pages of an incremental walk; delete, add, relate."""
        self.world.clock.advance(3600)
        for item in range(1001, 1012):
            self.world.edit(item, description=f"<p>Edited {item} after {self.time.now:.0f} s</p>")
        self.world.delete(next(self._doomed))
        self.world.add({"itemType": 24, "parent": {"item": 102}, "fields": {"name": "Added"}})
        self.world.relate(1012, 1013)

    def tokens_asked_for(self):
        return sum(seen.path.endswith("/oauth/token") for seen in self.simulator.requests)

    def close(self):
        self.jobs.close()
        self.assembly.database.close()

    def _slept(self):
        self.world.clock.set(max(self.world.clock.instant(), self.time.utc()))
        self.said.append(self.jobs.latest(TNY.id).message)
        for each in self.when_slept:
            each()


class Outage:
    """Jama is down from one page of a walk on, for ten simulated minutes or until `end`."""

    def __init__(self, household, kind, path, page=2, seconds=OUTAGE):
        self._household, self._kind, self._path, self._left = household, kind, path, page
        self._seconds, self._until, self._stopper = seconds, None, None
        self._lock = threading.Lock()
        household.faults.before_page = self._before_page
        household.when_slept.append(self._slept)

    @property
    def is_over(self):
        return self._until is not None and self._left < 0

    def end(self):
        self._left = -1
        if self._stopper is None:
            self._household.faults.fail_next.clear()
        else:
            self._stopper.join()
            self._household.simulator.start()

    def _before_page(self, _world, asked, _start):
        with self._lock:
            if self._path in asked and self._until is None:
                self._left -= 1
                if self._left <= 0:
                    self._begin()

    def _begin(self):
        self._until = self._household.time.now + self._seconds
        if self._kind == "refused":
            # The server waits for this very page before it stops.
            self._stopper = threading.Thread(target=self._household.simulator.stop)
            self._stopper.start()
        else:
            self._household.faults.fail(*[self._kind] * 5000, path="/rest/")

    def _slept(self):
        with self._lock:
            if self._until is not None and self._left >= 0 and self._household.time.now >= self._until:
                self.end()
