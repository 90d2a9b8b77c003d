"""Whatever happens in the source, and whatever fails on the way: after a sync that is DONE, catalog == source.

Of what leaves or comes without an event and without a new date, an incremental sync knows only by the
count of documents. So when both happened since the last sync (also to one and the same item: it came from
another project, and left in silence), equality is asked of a full sync alone.
"""

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from reqall.app import BUILT_INS
from reqall.core.assemble import Assembly
from reqall.core.config import read_yaml
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.host import PluginHost
from reqall.core.integrity import inspect
from reqall.core.jobs import Jobs
from reqall.core.start import sync_project
from reqall.core.validate import validate
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.source import JamaSource
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from tests.soak.truth import OTHER, PROJECT, differences

CONFIGURATION = """
version: 1
indexes: {words: {use: sqlite_fts5}}
pipelines: {default: {recall: [{index: words}]}}
"""
REQUIREMENTS = 7
PARENTS = (100, 101, 102)
TRANSIENT = (500, 503, "reset", "truncated", "short", "html500")
PATHS = ("abstractitems", "relationships", "activities", "itemtypes", "projects", "")
WORDS = ("siren", "valve", "level <b>", "naïve & bold")
REQUIREMENT, FOLDER = 24, 32
STATUSES = (293, 300, 301, None)

NUMBERS = st.integers(0, 999)
KINDS = (
    *(
        "rename",
        "rewrite",
        "change_status",
        "add",
        "delete",
        "restore",
        "move",
        "replace",
        "replace",
        "restore",
        "restore",
    ),
    *("leave", "come", "vanish", "relate", "unrelate", "comment"),
)
EDITS = st.lists(st.tuples(st.sampled_from(KINDS), NUMBERS, NUMBERS), max_size=5)


class _Assembly(Assembly):
    """Takes a source that is built already, and that does not sleep between two tries."""

    def __init__(self, path, source):
        host, environment = PluginHost(BUILT_INS, installed=False), Environment({}, path / ".env")
        file = path / "pipelines.yaml"
        file.write_text(CONFIGURATION, encoding="utf-8")
        config = validate(read_yaml(file), host, environment)
        super().__init__(config, host, environment, Database(path / "catalog.db"), path)
        self._source = source

    def source(self, name):
        return self._source


class Model(RuleBasedStateMachine):
    """The world is edited, the project synced; the simulator is the model."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.simulator = served = JamaSimulator(project=tiny_project(requirements=REQUIREMENTS)).start()
        self.world = served.world
        # How images and tables are read is told elsewhere.
        del self.world.items[302]["fields"]["description"]
        self.world.clock.set(datetime(2024, 6, 1, tzinfo=UTC))
        self.source = JamaSource(
            JamaOptions(
                url=served.url,
                client_id=served.client_id,
                client_secret=served.client_secret,
                page_size=4,
                requests_per_second=1000,
            ),
            sleep=lambda _seconds: None,
        )
        self.assembly = _Assembly(self.folder, self.source)
        self.jobs = Jobs(self.assembly.database)
        (self.project,) = [each for each in self.source.projects() if each.id == f"jama:{PROJECT}"]
        self.left_in_silence = self.came_in_silence = 0
        self.came = set()
        assert self._synced(full=False).status == "DONE"
        self._done(full=False)

    def teardown(self):
        if hasattr(self, "jobs"):
            self.jobs.close()
            self.assembly.database.close()
            self.simulator.stop()
            shutil.rmtree(self.folder)

    @rule(seconds=st.sampled_from((1, 60, 86_400)))
    def time_passes(self, seconds):
        self.world.clock.advance(seconds)

    @rule(kind=st.sampled_from(TRANSIENT), path=st.sampled_from(PATHS))
    def fail_once(self, kind, path):
        if not self.simulator.faults.fail_next:
            self.simulator.faults.fail(kind, path=path)

    @rule(edits=EDITS, path=st.sampled_from(PATHS[:3]), pages=st.integers(0, 3), full=st.booleans())
    def sync_in_an_outage(self, edits, path, pages, full):
        """Every try of one of the requests fails, from the first or a later page on."""
        self._work(edits)
        left = iter(range(pages))

        def fail(_world, asked, _start):
            if path in asked and next(left, None) is None and not self.simulator.faults.fail_next:
                self.simulator.faults.fail(*[503] * 40, path=path)

        self.simulator.faults.before_page = fail
        job = self._synced(full=full)
        self.simulator.faults.before_page = None
        self.simulator.faults.fail_next.clear()
        assert job.status in ("DONE", "ERROR")
        if job.status == "ERROR":
            assert "503" in job.error
        else:
            self._done(full=job.kind == "full")

    @rule(edits=EDITS)
    def sync(self, edits):
        self._work(edits)
        assert self._synced(full=False).status == "DONE"
        self._done(full=False)

    @rule(edits=EDITS)
    def sync_all(self, edits):
        self._work(edits)
        assert self._synced(full=True).status == "DONE"
        self._done(full=True)

    def _work(self, edits):
        for edit, chosen, other in edits:
            self.world.clock.advance(other % 3)
            getattr(self, f"_{edit}")(chosen, other)

    def _synced(self, *, full):
        return sync_project(self.assembly, self.jobs, self.project, full=full, background=False)

    def _done(self, *, full):
        if not full and self.left_in_silence and self.came_in_silence:
            return
        self.left_in_silence = self.came_in_silence = 0
        self.came.clear()
        self.simulator.faults.fail_next.clear()
        assert differences(self.assembly.catalog, self.world) == []
        assert inspect(self.assembly.indexer(), self.project.id).problems == []

    def _rename(self, chosen, other):
        self.world.edit(self._one(chosen), name=f"{WORDS[other % len(WORDS)]} {other}")

    def _rewrite(self, chosen, other):
        self.world.edit(self._one(chosen), description=f"<p>{WORDS[other % len(WORDS)]}&nbsp;{other}</p>")

    def _change_status(self, chosen, other):
        self.world.edit(self._one(chosen), status=STATUSES[other % len(STATUSES)])

    def _add(self, chosen, other):
        kind = FOLDER if other % 2 else REQUIREMENT
        self.world.add({"itemType": kind, "parent": {"item": self._place(chosen)}, "fields": {"name": f"new {other}"}})

    def _delete(self, chosen, other):
        first, second = self._one(chosen), self._one(other)
        below = {*self._subtree(first)[1:], *self._subtree(second)[1:]}
        self.world.delete(*([first] if {first, second} & below else dict.fromkeys((first, second))))

    def _replace(self, chosen, other):
        """Delete and add as many: the source's own count does not change."""
        item = self._one(chosen)
        count = len(self._subtree(item))
        self.world.delete(item)
        for number in range(count):
            self._add(0, other + number)

    def _restore(self, chosen, other):
        restorable = [each for each in self.world.deleted if self.world.can_restore(each)]
        if restorable:
            item, before = restorable[chosen % len(restorable)], len(self.world.items)
            parent = (self.world.deleted[item].get("parent") or {}).get("item")
            # What comes back to another place than it was taken from has a new date.
            is_dated = bool(other % 2) or (parent is not None and parent not in self.world.items)
            self.world.restore(item, move_dates=is_dated)
            self.came_in_silence += 0 if is_dated else len(self.world.items) - before

    def _move(self, chosen, other):
        item, below = self._one(chosen), self._place(other)
        if below not in self._subtree(item):
            self.world.move(item, below)

    def _leave(self, chosen, _other):
        """Move to another project."""
        gone = self._subtree(self._one(chosen))
        self.world.move(gone[0], {"project": OTHER})
        self._left(gone)

    def _come(self, chosen, other):
        """Move here from another project."""
        elsewhere = [key for key, item in self.world.items.items() if item["project"] == OTHER]
        if elsewhere:
            came = self._subtree(elsewhere[chosen % len(elsewhere)])
            self.world.move(came[0], self._place(other))
            self.came_in_silence += len(came) - 1  # the date of the item itself moves
            self.came.update(came)

    def _vanish(self, chosen, _other):
        gone = self._subtree(self._one(chosen))
        self.world.vanish(gone[0])
        self._left(gone)

    def _left(self, gone):
        self.left_in_silence += len(gone)
        self.came_in_silence += len(self.came.intersection(gone))

    def _relate(self, chosen, other):
        self.world.relate(self._one(chosen), self._one(other))

    def _unrelate(self, chosen, _other):
        links = list(self.world.collections["relationships"])
        if links:
            self.world.unrelate(links[chosen % len(links)])

    def _comment(self, chosen, _other):
        self.world.comment(self._one(chosen), "Why?")

    def _here(self):
        return [each for each, item in self.world.items.items() if item["project"] == PROJECT]

    def _one(self, number):
        """Choose a requirement or a folder of the project; the tree's own stem stays."""
        items = [
            each for each in self._here() if self.world.items[each]["itemType"] in (REQUIREMENT, FOLDER) and each > 102
        ]
        if not items:
            fields = {"name": "the last one"}
            items = [self.world.add({"itemType": REQUIREMENT, "parent": {"item": 102}, "fields": fields})]
        return items[number % len(items)]

    def _place(self, number):
        places = (*PARENTS, self._one(number))
        return places[number % len(places)]

    def _subtree(self, item):
        return self.world.with_descendants(item)


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=200, stateful_step_count=25, deadline=None)
