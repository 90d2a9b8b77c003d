"""An incremental sync of a large Jama project: few requests, and the catalog that a full sync makes."""

import json
import os
import subprocess
import sys

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

REQUIREMENTS = 3000
TINY = "jama:2"

WORDS_ONLY = """
version: 1
sources: {jama: {use: jama, with: {requests_per_second: 1000}}}
indexes:
  words: {use: sqlite_fts5}
pipelines:
  default: {recall: [{index: words}]}
"""


def settings_of(simulator, folder):
    """Settings of a home with a lexical index alone, and a catalog of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "pipelines.yaml").write_text(WORDS_ONLY, encoding="utf-8")
    return {
        "JAMA_URL": simulator.url,
        "JAMA_CLIENT_ID": simulator.client_id,
        "JAMA_CLIENT_SECRET": simulator.client_secret,
        "JAMA_MCP_DB_PATH": str(folder / "catalog.db"),
        "REQALL_CONFIG": str(folder / "pipelines.yaml"),
        "REQALL_HOME": str(folder),
        "SYNC_INTERVAL_HOURS": "0",
    }


def opened(simulator, folder):
    """Return an App in such a home."""
    return App(Overrides(), Environment(settings_of(simulator, folder), folder / ".env"))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The simulator with many requirements, and an App that has synced them."""
    with JamaSimulator(project=tiny_project(REQUIREMENTS)) as simulator:
        app = opened(simulator, tmp_path_factory.mktemp("large"))
        assert app.sync("TNY").status == "DONE"
        simulator.world.clock.advance(3600)
        yield simulator, app
        app.close()


def content(app):
    """Documents by id and links, as the catalog holds them."""
    catalog = app.assembly.catalog
    return {d.id: d for d in catalog.walk(TINY)}, set(catalog.links(TINY))


def counted(simulator, app):
    """Sync; the ended job and the requests that came in for it."""
    before = len(simulator.requests)
    job = app.sync("TNY")
    assert (job.status, job.error) == ("DONE", "")
    return job, simulator.requests[before:]


def paths(requests):
    return sorted(request.path.rpartition("/rest/v1")[2] for request in requests)


def edit(world):
    """Ten changes, one deletion, one move; a relationship less, one more, and one from another project."""
    for item in range(1101, 1111):
        world.edit(item, description=f"<p>Edited {item}</p>")
    world.delete(1200)
    world.relate(1300, 1301)
    world.unrelate(400)
    world.relate(302, 1600)
    world.move(1500, 100)


def test_ten_changes_cost_forty_requests_and_leave_what_a_full_sync_leaves(large, tmp_path):
    simulator, app = large
    edit(simulator.world)
    job, requests = counted(simulator, app)
    assert len(requests) <= 40, paths(requests)
    assert job.requests <= len(requests)
    assert job.deleted == 1
    fresh = opened(simulator, tmp_path / "fresh")
    assert fresh.sync("TNY").status == "DONE"
    documents, links = content(app)
    wanted, wanted_links = content(fresh)
    fresh.close()
    assert documents == wanted
    assert links == wanted_links
    assert "jama:1200" not in documents
    assert documents["jama:1500"].parent_id == "jama:100"
    assert {link.to_id for link in links if link.from_id == "jama:1300"} == {"jama:103", "jama:1301"}
    assert {link.from_id for link in links if link.to_id == "jama:1600"} == {"jama:302"}


def test_an_unchanged_project_costs_ten_requests(large):
    simulator, app = large
    simulator.world.clock.advance(3600)
    simulator.world.edit(1700, description="the newest activity, which every sync reads again")
    counted(simulator, app)
    simulator.world.clock.advance(3600)
    job, requests = counted(simulator, app)
    assert len(requests) <= 10, paths(requests)
    assert job.message.startswith("0 changed, 0 deleted")


def test_a_second_sync_of_a_new_project_costs_ten_requests(tmp_path):
    """The newest items are read again, for Jama's search lags; they are no reason to ask for their links."""
    with JamaSimulator(project=tiny_project(60)) as simulator:
        app = opened(simulator, tmp_path)
        app.sync("TNY")
        _, requests = counted(simulator, app)
        app.close()
    assert len(requests) <= 10, paths(requests)


def reqall(settings, *arguments):
    """Run the command line; the finished process."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "EMBEDDING_", "REQALL_"))
    }
    command = [sys.executable, "-m", "reqall", *arguments]
    return subprocess.run(command, env=kept | settings, capture_output=True, text=True, check=False, timeout=60)


def test_too_many_removals_wait_for_the_flag(tmp_path):
    with JamaSimulator(project=tiny_project(40)) as simulator:
        app = opened(simulator, tmp_path)
        app.sync("TNY")
        before = content(app)
        for item in range(1001, 1031):
            simulator.world.vanish(item)
        refused = reqall(settings_of(simulator, tmp_path), "sync", "TNY")
        assert refused.returncode != 0
        assert "30 of 47 documents of TNY" in refused.stderr
        assert "reqall sync TNY --allow-removals" in " ".join(refused.stderr.split())
        assert content(app) == before
        done = reqall(settings_of(simulator, tmp_path), "sync", "TNY", "--allow-removals", "--json")
        assert (done.returncode, json.loads(done.stdout)["deleted"]) == (0, 30)
        assert len(content(app)[0]) == 17
        app.close()


def test_an_item_that_left_for_another_project_keeps_the_links_that_end_here(tmp_path):
    """An event of its deletion, long undone, is what leads to it."""
    with JamaSimulator(project=tiny_project(40)) as simulator:
        app = opened(simulator, tmp_path)
        app.sync("TNY")
        before = content(app)[1]
        simulator.world.clock.advance(60)
        simulator.world.delete(1005)
        simulator.world.restore(1005, move_dates=True)
        simulator.world.move(1005, {"project": 3})
        job, requests = counted(simulator, app)
        documents, links = content(app)
        app.close()
    assert job.deleted == 1
    assert "jama:1005" not in documents
    assert links == before
    assert not any(request.path.rpartition("/")[2] == "relationships" for request in requests)
