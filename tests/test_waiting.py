"""A sync that has to wait for Jama says so in its job, and ends all the same."""

import threading
import time
from pathlib import Path

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.testing.jama_simulator import JamaSimulator, tiny_project


def test_a_wait_for_jama_stands_in_the_jobs_message(empty_home):
    with JamaSimulator(project=tiny_project(requirements=5)) as jama:
        settings = empty_home | {
            "JAMA_URL": jama.url,
            "JAMA_CLIENT_ID": jama.client_id,
            "JAMA_CLIENT_SECRET": jama.client_secret,
        }
        jama.faults.retry_after, jama.faults.retry_after_seconds = "seconds", 1
        app = App(Overrides(), Environment(settings, Path(settings["REQALL_HOME"]) / ".env"))
        app.assembly.source("jama").projects()
        jama.faults.fail(429, path="abstractitems")
        job = app.sync("TNY", background=True)
        messages = set()
        deadline = time.monotonic() + 60
        while not (job := app.jobs.get(job.job_id)).ended and time.monotonic() < deadline:
            messages.add(job.message)
            threading.Event().wait(0.01)
        assert job.status == "DONE", job.error
        assert any("waiting" in message and "429" in message for message in messages), messages
        app.close()
