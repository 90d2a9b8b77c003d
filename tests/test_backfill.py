"""An index that is new in the configuration is filled from the catalog, without its source."""

import json
import subprocess
import sys
import threading

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.errors import EmbedderError
from reqall.core.request import SearchRequest
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

WORDS = """
version: 1
sources: {jama: {use: jama, with: {requests_per_second: 1000}}}
embedders: {minilm: {use: minilm}}
indexes:
  words: {use: sqlite_fts5}
pipelines:
  default: {recall: [{index: words}]}
"""
MEANING = WORDS.replace(
    "pipelines:", "  meaning: {use: sqlite_vec, with: {embedder: minilm}, chunk: {use: sentences}}\npipelines:"
)
MEANING += "  both: {recall: [{index: words}, {index: meaning}]}\n"


class Home:
    """A home whose configuration grows an index; its Jama is asked only at first."""

    def __init__(self, folder):
        self.folder = folder
        self.settings = {
            "JAMA_MCP_DB_PATH": str(folder / "catalog.db"),
            "REQALL_CONFIG": str(folder / "pipelines.yaml"),
            "REQALL_HOME": str(folder),
            "SYNC_INTERVAL_HOURS": "0",
        }
        self.opened = []

    def app(self, configuration):
        (self.folder / "pipelines.yaml").write_text(configuration, encoding="utf-8")
        self.opened.append(App(Overrides(), Environment(self.settings, self.folder / ".env")))
        return self.opened[-1]


@pytest.fixture
def home(tmp_path):
    """One that has synced with words alone, and has no Jama any more."""
    made = Home(tmp_path)
    with JamaSimulator(project=tiny_project(80)) as jama:
        made.settings |= {"JAMA_URL": jama.url, "JAMA_CLIENT_ID": jama.client_id}
        made.settings["JAMA_CLIENT_SECRET"] = jama.client_secret
        assert made.app(WORDS).sync("TNY").status == "DONE"
    yield made
    for app in made.opened:
        app.close()


def search(app, pipeline="both"):
    return app.search(SearchRequest(("TNY",), "requirement", pipeline=pipeline))[1]


def test_a_new_index_is_filled_while_searches_go_on(home):
    app = home.app(MEANING)
    found = search(app)
    assert found.hits
    assert any("`reqall backfill`" in warning for warning in found.warnings)
    job = app.backfill(background=True)
    assert search(app, "default").hits
    app.jobs.wait()
    ended = app.jobs.get(job.job_id)
    assert (ended.status, ended.kind, ended.project_id) == ("DONE", "backfill", "")
    assert ended.embedded > 80
    assert ended.requests == 0
    assert search(app).warnings == ()
    assert app.backfill() is None


def test_a_running_schedule_fills_it_by_itself_also_when_syncs_are_off(home):
    app = home.app(MEANING)
    (job,) = app.schedule.run_due()
    assert (job.kind, job.status) == ("backfill", "DONE")
    assert app.schedule.run_due() == []


def test_a_backfill_that_failed_waits_before_the_next(home):
    app = home.app(MEANING)
    embedder = app.assembly.embedder("minilm")

    def fail(_texts):
        raise EmbedderError("down")

    embedder.embed_documents = fail
    (job,) = app.schedule.run_due()
    assert (job.status, job.error) == ("ERROR", "down")
    assert app.schedule.run_due() == []
    del embedder.embed_documents
    assert app.backfill().status == "DONE"


def test_a_backfill_of_two_processes_embeds_once(home):
    apps = [home.app(MEANING), home.app(MEANING)]
    jobs = []
    threads = [threading.Thread(target=lambda app=app: jobs.append(app.backfill())) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({job.job_id for job in jobs if job is not None}) == 1
    assert len([job for job in apps[0].jobs.history() if job.kind == "backfill"]) == 1


def test_a_backfill_whose_process_was_killed_goes_on_under_its_id(home):
    first = home.app(MEANING)
    script = "import os, sys; from reqall.app import App; app = App(); app.jobs.claim('backfill', ''); os._exit(0)"
    subprocess.run([sys.executable, "-c", script], env=home.settings, check=True, timeout=60)
    (left,) = [job for job in first.jobs.open() if job.kind == "backfill"]
    (job,) = first.schedule.run_due()
    assert (job.job_id, job.status) == (left.job_id, "DONE")


def test_the_command_line_fills_it(home):
    home.app(MEANING)

    def command(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "reqall", *arguments],
            env=home.settings,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(command("backfill", "--json"))["status"] == "DONE"
    assert command("backfill") == "every index is level\n"
    assert "(all)" in command("jobs")


def test_a_search_in_an_unfinished_first_sync_says_how_far_it_is(tmp_path):
    home = Home(tmp_path)
    with JamaSimulator(project=tiny_project(80)) as jama:
        home.settings |= {"JAMA_URL": jama.url, "JAMA_CLIENT_ID": jama.client_id}
        home.settings["JAMA_CLIENT_SECRET"] = jama.client_secret
        asked, may_go = threading.Event(), threading.Event()

        def hold(_world, path, start):
            if path.endswith("/abstractitems") and start > 0:
                asked.set()
                may_go.wait(60)

        jama.faults.before_page = hold
        app = home.app(WORDS)
        app.sync("TNY", background=True)
        assert asked.wait(60)
        while not (found := search(app, "default")).hits:
            pass
        assert "project TNY is still being indexed: documents 49/" in found.warnings[0]
        jama.faults.before_page = None
        may_go.set()
        app.jobs.wait()
        assert search(app, "default").warnings == ()
    app.close()
