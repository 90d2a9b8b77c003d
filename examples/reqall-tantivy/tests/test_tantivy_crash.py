"""Processes that are killed while they sync: the next one goes on from where the engine itself says it is."""

import json
import random
import shutil
import signal
import sys
from pathlib import Path

import pytest
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

from reqall import Position, Services

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")

STEP = 64
"""Documents that the host hands over at once."""


class Mortal:
    """Runs syncs whose recaller is `mortal/reqall_mortal.py`, installed in place of the plugin."""

    def __init__(self, home, site: Path) -> None:
        self.home, self.site = home, site
        shutil.copy(Path(__file__).with_name("mortal") / "reqall_mortal.py", site)
        record = site / "reqall_mortal-1.dist-info"
        record.mkdir()
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: reqall-mortal\nVersion: 1\n")
        (record / "entry_points.txt").write_text("[reqall]\nmortal = reqall_mortal\n")

    def sync(self, **plan):
        """Sync; whether it was killed, and the batches that were applied and returned."""
        (self.site / "plan.json").write_text(json.dumps(plan))
        log = self.site / "applied.jsonl"
        log.write_text("")
        process = self.home.start("sync", "pump", PYTHONPATH=str(self.site), REQALL_PLUGINS="mortal")
        out, told = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL), out + told
        return process.returncode != 0, [json.loads(line) for line in log.read_text().splitlines()]

    def recaller(self):
        return build_tantivy(TantivyOptions(), Services(folder=self.home.index_folder()))

    def behind(self):
        """Documents that the index does not hold as they are now."""
        (project,) = self.home.json("status")["projects"]
        return {index["index"]: index["documents_behind"] for index in project["indexes"]}["rust"]

    def require_level(self, lines):
        """Every document is in the index exactly once, as it is now, and nothing else."""
        held = [document_id for _, document_id in self.recaller().inventory(None)]
        assert sorted(held) == sorted(f"specs:{line['_id']}" for line in lines)
        verified = self.home.json("check", "--deep", "pump")
        assert verified["findings"] == []
        assert [(each["name"], each["state"], each["entries"]) for each in verified["indexes"]] == [
            ("rust", "level", len(lines)),
            ("words", "level", len(lines)),
        ]


@pytest.fixture
def mortal(home, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    return Mortal(home, site)


@pytest.mark.parametrize(
    ("plan", "held"),
    [
        ({"before": 0}, 0),
        ({"before": 2}, 2 * STEP),
        ({"after": 1}, 2 * STEP),
    ],
    ids=["before the first commit", "between the catalog's commit and the index's", "after the index's commit"],
)
def test_a_first_sync_that_is_killed_is_finished_without_doing_anything_twice(mortal, requirements, plan, held):
    lines = requirements(3 * STEP + 8)
    mortal.home.write(lines)
    was_killed, _ = mortal.sync(**plan)
    assert was_killed
    assert mortal.behind() == len(lines) - held
    if held:
        assert mortal.recaller().position().seq == held
    was_killed, applied = mortal.sync()
    assert not was_killed
    assert sum(batch["documents"] for batch in applied) == len(lines) - held
    mortal.require_level(lines)


def test_an_incremental_sync_that_is_killed_leaves_nothing_stale(mortal, requirements):
    lines = requirements(2 * STEP)
    mortal.home.write(lines)
    assert mortal.sync() == (False, [{"documents": STEP, "seq": STEP}, {"documents": STEP, "seq": 2 * STEP}])
    changed = [line | {"text": "The gyroscope drifts."} if number < 3 else line for number, line in enumerate(lines)]
    mortal.home.write(changed[:-2])
    assert mortal.sync(before=0) == (True, [])
    assert mortal.behind() == 3
    assert mortal.sync() == (False, [{"documents": 5, "seq": 2 * STEP + 5}])
    mortal.require_level(changed[:-2])
    found = mortal.home.json("search", "gyroscope", "--project", "pump")["hits"]
    assert sorted(hit["document_key"] for hit in found) == ["SYS-REQ-1", "SYS-REQ-2", "SYS-REQ-3"]


def test_killed_at_any_instant_of_a_commit_it_holds_everything_once(mortal, requirements):
    """Ten kills, each somewhere within the first milliseconds of a batch, while the project changes."""
    draw = random.Random(7)
    lines = requirements(5 * STEP)
    kills = 0
    for turn in range(10):
        mortal.home.write(lines)
        was_killed, _ = mortal.sync(within=[draw.randint(0, 1), draw.uniform(0, 0.06)])
        kills += was_killed
        for number in draw.sample(range(len(lines)), 70):
            lines[number] = lines[number] | {"text": f"{lines[number]['text']} Revision {turn}."}
        lines = [line for line in lines if line is not lines[turn]]
    assert kills >= 5
    mortal.home.write(lines)
    before = mortal.recaller().position() or Position("", 0)
    was_killed, applied = mortal.sync()
    assert not was_killed
    assert applied[0]["seq"] > before.seq
    mortal.require_level(lines)
    assert mortal.sync() == (False, [])
