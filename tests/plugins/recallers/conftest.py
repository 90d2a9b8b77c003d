"""A recaller in a catalog file of its own, with a small, deterministic embedder."""

import itertools

import pytest

from reqall import Chunk, Facets, Filters, IndexBatch, IndexEntry, Position, Services
from reqall.core.database import Database
from reqall.plugins.recallers import register_recallers
from reqall.testing.fakes import HashingEmbedder

REGISTRATIONS = {registration.name: registration for registration in register_recallers()}
IN_CATALOG = ["sqlite_fts5", "sqlite_vec"]
LEXICAL = ["sqlite_fts5", "rank_bm25"]


class Shelf:
    """Builds a recaller, writes to it as the host does, and asks it."""

    def __init__(self, name, path, embedder=None, **options):
        self.embedder = embedder or HashingEmbedder()
        self._name, self._path, self._numbers = name, path, itertools.count(1)
        self._options = REGISTRATIONS[name].options(**options, **({"embedder": "e"} if name == "sqlite_vec" else {}))
        self.open()

    def open(self):
        self.database = Database(self._path)
        services = Services(prefix="ix_test", database=self.database, embedder=lambda _: self.embedder)
        self.recaller = REGISTRATIONS[self._name].build(self._options, services)

    def entry(self, document_id, body, **known):
        """One chunk of a document; `known` overrides number, key, name, project, type, status, modified."""
        chunk = Chunk("", known.get("name", ""), body, known.get("number") or next(self._numbers), document_id, 0)
        facets = Facets(known.get("project", "p"), known.get("type", "t"), known.get("status"), known.get("modified"))
        return IndexEntry(chunk, known.get("key", ""), known.get("name", ""), facets)

    def put(self, document_id, *bodies, **known):
        """Write one document of as many chunks as bodies."""
        self.write([self.entry(document_id, body, **known) for body in bodies])

    def write(self, entries, deletes=(), seq=None):
        upserts = {}
        for entry in entries:
            upserts.setdefault(entry.chunk.document_id, []).append(entry)
        batch = IndexBatch(upserts, deletes, None if seq is None else Position("f", seq))
        prepared = self.recaller.prepare(entries)
        self.apply(batch, prepared)
        return batch, prepared

    def apply(self, batch, prepared):
        if self.recaller.storage == "catalog":
            with self.database.writing() as tx:
                self.recaller.apply(batch, prepared, tx)
        else:
            self.recaller.apply(batch, prepared, None)

    def drop(self):
        with self.database.writing() as tx:
            self.recaller.drop(tx)

    def ranking(self, text, limit=50, **filters):
        (ranking,) = self.recaller.recall([text], limit, Filters(**filters))
        return ranking

    def find(self, text, limit=50, **filters):
        """Ids of the documents found, best first."""
        return [document.document_id for document in self.ranking(text, limit, **filters).collapse()]

    def rows(self, statement):
        return list(self.database.reader().execute(statement))


@pytest.fixture
def make_shelf(tmp_path):
    """Build shelves; each call has a file of its own."""
    made, numbers = [], itertools.count()

    def make(name, embedder=None, **options):
        made.append(Shelf(name, tmp_path / f"catalog{next(numbers)}.db", embedder, **options))
        return made[-1]

    yield make
    for shelf in made:
        shelf.database.close()


@pytest.fixture(params=list(REGISTRATIONS))
def shelf(request, make_shelf):
    """Each recaller in turn."""
    return make_shelf(request.param)


@pytest.fixture(params=IN_CATALOG)
def catalog_shelf(request, make_shelf):
    """Each recaller that lives in the catalog's file."""
    return make_shelf(request.param)


@pytest.fixture(params=LEXICAL)
def lexical_shelf(request, make_shelf):
    """Each recaller that finds words."""
    return make_shelf(request.param)
