"""A folder to write files into, the source over it, and a catalog that is synced from it."""

import json
import os
from pathlib import Path

import pytest

from reqall import Services
from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.request import SearchRequest
from reqall.plugins.sources.folder.options import FolderOptions
from reqall.plugins.sources.folder.source import FolderSource


class Shelf:
    """A folder `specs` with files; `source` builds the source over it, named `docs`."""

    def __init__(self, root: Path):
        self.root = root / "specs"
        self.root.mkdir()

    def put(self, path, text="", *, at=None):
        """Write a file, given as text or bytes; `at` is its time in seconds."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if at is not None:
            os.utime(file, (at, at))
        return file

    def source(self, **options):
        return FolderSource(FolderOptions(path=self.root, **options), Services(name="docs"))

    def documents(self, **options):
        """Walk all documents; by key, in order."""
        source = self.source(**options)
        pages = source.documents(source.projects()[0], None)
        return {document.key: document for page in pages for document in page.items}

    def links(self, **options):
        """Walk all links, as (from, to, type) without the source's name."""
        source = self.source(**options)
        found = [link for page in source.links(source.projects()[0]) for link in page.items]
        return {(link.from_id[5:], link.to_id[5:], link.type) for link in found}


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


CONFIG = """
version: 1
sources:
  docs: {{use: folder, with: {{path: {path}, page_size: 3}}}}
indexes:
  words: {{use: sqlite_fts5}}
pipelines:
  default: {{recall: [{{index: words}}]}}
"""


class Household:
    """The folder, and a catalog that is synced from it."""

    def __init__(self, shelf, home):
        self.shelf, self.put = shelf, shelf.put
        (home / "pipelines.yaml").write_text(CONFIG.format(path=json.dumps(str(shelf.root))), encoding="utf-8")
        self.settings = {
            "REQALL_CONFIG": str(home / "pipelines.yaml"),
            "JAMA_MCP_DB_PATH": str(home / "catalog.db"),
            "REQALL_HOME": str(home),
            "SYNC_INTERVAL_HOURS": "0",
        }
        self.file = home / ".env"

    def ask(self, question):
        app = App(Overrides(), Environment(self.settings, self.file))
        try:
            return question(app)
        finally:
            app.close()

    def sync(self, **how):
        return self.ask(lambda app: app.sync("specs", **how))

    def held(self):
        """Documents in the catalog by key, folders left out."""
        found = self.ask(lambda app: list(app.assembly.catalog.walk("docs:specs")))
        return {document.key: document for document in found if document.type_id != "Folder"}

    def links(self):
        found = self.ask(lambda app: app.assembly.catalog.links("docs:specs"))
        return {(link.from_id[5:], link.to_id[5:], link.type) for link in found}

    def search(self, query):
        request = SearchRequest(("specs",), query)
        return [hit.document.key for hit in self.ask(lambda app: app.search(request))[1].hits]


@pytest.fixture
def home(shelf, tmp_path):
    place = tmp_path / "home"
    place.mkdir()
    return Household(shelf, place)
