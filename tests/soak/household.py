"""A home for processes under test: settings, a configuration with words and vectors, and the counting plugin."""

import os
import sys
from pathlib import Path

from reqall.app import App, Overrides
from reqall.core.environment import Environment

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "counting_embedder"
CONFIGURATION = """
version: 1
sources:
  jama: {use: jama, with: {requests_per_second: 1000}}
embedders:
  counting: {use: counting}
indexes:
  words: {use: sqlite_fts5}
  meaning: {use: sqlite_vec, with: {embedder: counting}, chunk: {use: sentences}}
pipelines:
  default: {recall: [{index: words}, {index: meaning}]}
"""


class Household:
    """Everything that processes share which sync one simulated Jama into one file in `folder`."""

    def __init__(self, simulator, folder: Path):
        self.folder = folder
        self.texts = folder / "texts.log"
        self._install(folder / "site")
        (folder / "pipelines.yaml").write_text(CONFIGURATION, encoding="utf-8")
        unset = ("JAMA_", "EMBEDDING_", "REQALL_", "SYNC_", "PYTHONPATH")
        self.settings = {name: value for name, value in os.environ.items() if not name.startswith(unset)} | {
            "PYTHONPATH": os.pathsep.join(map(str, (folder / "site", ROOT))),
            "JAMA_URL": simulator.url,
            "JAMA_CLIENT_ID": simulator.client_id,
            "JAMA_CLIENT_SECRET": simulator.client_secret,
            "JAMA_MCP_DB_PATH": str(folder / "catalog.db"),
            "REQALL_HOME": str(folder),
            "REQALL_CONFIG": str(folder / "pipelines.yaml"),
            "COUNTED_TEXTS": str(self.texts),
            "SYNC_INTERVAL_HOURS": "0",
        }

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of reqall."""
        return [sys.executable, "-m", "reqall", *arguments]

    def app(self) -> App:
        """Open the same home in this process; the plugin's folder has to be on sys.path."""
        sys.path.insert(0, str(self.folder / "site"))
        try:
            return App(Overrides(), Environment(self.settings, self.folder / ".env"))
        finally:
            sys.path.remove(str(self.folder / "site"))

    @staticmethod
    def _install(site: Path) -> None:
        """Leave behind what an installer would: the record of a distribution with an entry point."""
        record = site / f"{PLUGIN}-1.0.dist-info"
        record.mkdir(parents=True)
        (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PLUGIN}\nVersion: 1.0\n")
        (record / "entry_points.txt").write_text(f"[reqall]\n{PLUGIN} = tests.soak.{PLUGIN}\n")
