"""The pytest plugin of reqall: fixtures for authors of plugins, and a line that says what was tested with.

It stands beside the package and not in it, as pytest loads it in every run wherever reqall is installed:
to import the package would cost each of them a fifth of a second. So nothing is imported before a test
asks for a fixture.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from reqall.app import App
    from reqall.core.host import PluginHost
    from reqall.core.jobs import Job
    from reqall.core.types import SearchResult
    from reqall.testing.fakes import HashingEmbedder, ListSource
    from reqall.testing.jama_simulator import JamaSimulator

pytest.register_assert_rewrite("reqall.testing.contracts")

_told = pytest.StashKey[bool]()


class Trial:
    """An assembled app in a folder of its own, asked in few words; `app` is the whole of it."""

    def __init__(self, app: "App") -> None:
        """Take the app."""
        self.app = app

    def sync(self, project: str, **options: Any) -> "Job":
        """Sync a project, named by id, key or name; an AssertionError tells why a job failed."""
        job = self.app.sync(project, **options)
        assert job.status == "DONE", f"the sync of {project!r} ended as {job.status}: {job.error or job.message}"
        return job

    def search(self, query: str, *projects: str, **fields: Any) -> "SearchResult":
        """Search projects; `fields` as in `reqall.core.request.SearchRequest`. Raises InputError."""
        from reqall.core.request import SearchRequest

        return self.app.search(SearchRequest(projects, query, **fields))[1]

    def keys(self, query: str, *projects: str, **fields: Any) -> list[str]:
        """Search, and return the keys of the documents found, best first."""
        return [hit.document.key for hit in self.search(query, *projects, **fields).hits]


class AssembleApp(Protocol):
    """What the fixture `reqall_app` returns."""

    def __call__(self, text: str, modules: Sequence[str] = (), **variables: str) -> Trial:
        """Assemble an app from the text of a pipelines.yaml.

        `modules` names importable plugins that are not installed, `variables` are all that `${...}` finds.
        """


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is tested with, if a conftest has imported reqall."""
    return _report(config)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Say what is tested with, if a test module has imported reqall."""
    return _report(config) if config.get_verbosity() >= 0 else []


@pytest.fixture
def jama_simulator() -> "Iterator[JamaSimulator]":
    """Serve the demo's Jama on loopback, for this test to edit; it fails at the end if a request wrote to it."""
    from reqall.testing.read_only import read_only_jama

    with read_only_jama() as simulator:
        yield simulator


@pytest.fixture
def list_source() -> "ListSource":
    """Return a source in memory, to be edited."""
    from reqall.testing.fakes import ListSource

    return ListSource()


@pytest.fixture
def hashing_embedder() -> "HashingEmbedder":
    """Return an embedder without a model: texts that share words are near."""
    from reqall.testing.fakes import HashingEmbedder

    return HashingEmbedder()


@pytest.fixture
def plugin_host() -> "PluginHost":
    """Load built-in and installed plugins; one that fails fails the test."""
    from reqall.app import BUILT_INS
    from reqall.core.host import PluginHost

    return PluginHost(BUILT_INS, strict=True)


@pytest.fixture
def reqall_app(tmp_path: Path) -> Iterator[AssembleApp]:
    """Return what assembles an app in a folder of its own; nothing of the user's environment is read."""
    with ExitStack() as opened:
        made: list[App] = []

        def assemble(text: str, modules: Sequence[str] = (), **variables: str) -> Trial:
            made.append(_app(text, tmp_path / f"reqall{len(made)}", modules, variables))
            opened.callback(made[-1].close)
            return Trial(made[-1])

        yield assemble


def _app(text: str, folder: Path, modules: Sequence[str], variables: dict[str, str]) -> "App":
    from reqall.app import BUILT_INS, App, Overrides
    from reqall.core.environment import Environment
    from reqall.core.host import PluginHost

    folder.mkdir()
    config = folder / "pipelines.yaml"
    config.write_text(text, encoding="utf-8")
    overrides = Overrides(str(config), database=str(folder / "catalog.db"))
    app = App(overrides, Environment({"REQALL_STRICT_PLUGINS": "1", **variables}, folder / ".env"))
    if modules:
        app.host = PluginHost([*BUILT_INS, *modules], strict=True)
    return app


def _report(config: pytest.Config) -> list[str]:
    """Return the line once, and only in a run that has imported reqall by now."""
    if "reqall" not in sys.modules or config.stash.get(_told, False):
        return []
    import apsw

    config.stash[_told] = True
    has_words = "with" if "ENABLE_FTS5" in apsw.compile_options else "without"
    engine = f"SQLite {apsw.sqlite_lib_version()} ({has_words} FTS5)"
    return [", ".join([_installed("reqall"), engine, _installed("sqlite-vec"), _installed("pluggy")])]


def _installed(distribution: str) -> str:
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        return f"no {distribution}"
