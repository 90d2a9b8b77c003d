"""Fixtures that many tests share: the demo's Jama, and a catalog synced from it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.testing.read_only import read_only_jama

# How long an example takes says more about the machine's load than about the code.
# Fewer examples than usual, as there are many properties: each run draws others.
settings.register_profile("reqall", deadline=None, max_examples=50)
settings.load_profile("reqall")


@pytest.fixture(scope="session")
def jama():
    """The demo's Jama on loopback, for all tests; those that edit it take `jama_simulator`, of their own."""
    with read_only_jama() as simulator:
        yield simulator


def settings_for(simulator, folder: Path) -> dict[str, str]:
    """Environment of a process that uses the simulator and keeps everything in `folder`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAMA_", "EMBEDDING_", "CHAT_", "REQALL_"))
    }
    return kept | {
        "JAMA_URL": simulator.url,
        "JAMA_CLIENT_ID": simulator.client_id,
        "JAMA_CLIENT_SECRET": simulator.client_secret,
        "JAMA_MCP_DB_PATH": str(folder / "catalog.db"),
        "REQALL_HOME": str(folder),
    }


@pytest.fixture(scope="session")
def home(jama, tmp_path_factory):
    """Settings of a home in which both demo projects are synced."""
    folder = tmp_path_factory.mktemp("home")
    settings = settings_for(jama, folder)
    app = App(Overrides(), Environment(settings, folder / ".env"))
    for project in ("AIP", "ADS"):
        job = app.sync(project)
        assert job.status == "DONE", job.error
    app.close()
    return settings


@pytest.fixture
def empty_home(jama, tmp_path):
    """Settings of a home in which nothing is synced."""
    return settings_for(jama, tmp_path)


@pytest.fixture
def app(home):
    """An App on the synced demo."""
    opened = App(Overrides(), Environment(home, Path(home["REQALL_HOME"]) / ".env"))
    yield opened
    opened.close()


@pytest.fixture
def reqall(home):
    """Run the command line as a user does; returns the finished process."""

    def run(
        *arguments: str, settings: dict[str, str] | None = None, **changes: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "reqall", *arguments],
            env={**(home if settings is None else settings), **changes},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )

    return run
