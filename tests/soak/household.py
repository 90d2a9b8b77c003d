"""A home for processes under test: settings, a configuration with words and vectors, and the plugins of these tests."""

import os
import sys
from functools import cached_property
from pathlib import Path

from reqall.app import App, Overrides
from reqall.core.assemble import Assembly
from reqall.core.database import Database
from reqall.core.environment import Environment

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ("counting_embedder", "full_stops")
CONFIGURATION = """
version: 1
sources:
  jama: {use: jama, with: {requests_per_second: 1000, page_size: 20}}
embedders:
  counting: {use: counting}
indexes:
  words: {use: sqlite_fts5}
  meaning: {use: sqlite_vec, with: {embedder: counting}, chunk: {use: full_stops}}
pipelines:
  default: {recall: [{index: words}, {index: meaning}]}
"""


class Household:
    """Everything that processes share which sync one simulated Jama into one file in `folder`."""

    def __init__(self, simulator, folder: Path):
        self.folder = folder
        self.catalog = folder / "catalog.db"
        self.texts = folder / "texts.log"
        self._install(folder / "site")
        (folder / "pipelines.yaml").write_text(CONFIGURATION, encoding="utf-8")
        unset = ("JAMA_", "EMBEDDING_", "REQALL_", "SYNC_", "PYTHONPATH")
        self.settings = {name: value for name, value in os.environ.items() if not name.startswith(unset)} | {
            "PYTHONPATH": os.pathsep.join(map(str, (folder / "site", ROOT))),
            "JAMA_URL": simulator.url,
            "JAMA_CLIENT_ID": simulator.client_id,
            "JAMA_CLIENT_SECRET": simulator.client_secret,
            "JAMA_MCP_DB_PATH": str(self.catalog),
            "REQALL_HOME": str(folder),
            "REQALL_CONFIG": str(folder / "pipelines.yaml"),
            "COUNTED_TEXTS": str(self.texts),
            "SYNC_INTERVAL_HOURS": "0",
        }

    def app(self) -> App:
        """Open the same home in this process; the plugins' folder has to be on sys.path."""
        sys.path.insert(0, str(self.folder / "site"))
        try:
            return App(Overrides(), Environment(self.settings, self.folder / ".env"))
        finally:
            sys.path.remove(str(self.folder / "site"))

    def assembly(self, catalog: Path) -> Assembly:
        """Open a copy of the catalog with the same configuration."""
        app = self._app
        return Assembly(app.config, app.host, app.environment, Database(catalog), catalog.parent)

    @cached_property
    def _app(self) -> App:
        """To load plugins takes longer than to look at a copy."""
        return self.app()

    @staticmethod
    def _install(site: Path) -> None:
        """Leave behind what an installer would: the record of a distribution with an entry point."""
        record = site / "soak-1.0.dist-info"
        record.mkdir(parents=True)
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: soak\nVersion: 1.0\n")
        points = [f"{plugin} = tests.soak.{plugin}\n" for plugin in PLUGINS]
        (record / "entry_points.txt").write_text(f"[reqall]\n{''.join(points)}")
