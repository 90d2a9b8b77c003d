"""A catalog with a lexical and a vector index, as an assembled process has them."""

import itertools
from dataclasses import replace

import pytest

from reqall import ChunkDraft, Document, Filters, Services
from reqall.core.catalog import Catalog
from reqall.core.changes import ChangeLog
from reqall.core.database import Database
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.plugins.recallers import register_recallers
from reqall.testing.fakes import HashingEmbedder

RECALLERS = {registration.name: registration for registration in register_recallers()}


class LineChunker:
    """One piece per line, the name before each."""

    def chunk(self, document, budget):
        lines = [(name, line) for name, text in document.sections.items() for line in text.split("\n") if line]
        return [ChunkDraft(name, document.name, line) for name, line in lines] or [ChunkDraft("", document.name, "")]


class HookedEmbedder(HashingEmbedder):
    """Calls `before` once with the texts, before it embeds them."""

    before = None

    def embed_documents(self, texts):
        hook, self.before = self.before, None
        if hook is not None:
            hook(list(texts))
        return super().embed_documents(texts)


class Bench:
    """The indexes `words` and `meaning` over one file; two benches on one path are two processes."""

    def __init__(self, path):
        self.database = Database(path)
        self.catalog, self.log = Catalog(self.database), ChangeLog(self.database)
        self.embedder = HookedEmbedder()
        self.indexer = Indexer(self.catalog, self.log, [self.index("words"), self.index("meaning", self.embedder)])
        self.words, self.meaning = self.indexer.indexes

    def index(self, name, embedder=None, recaller=None, **changes):
        """Build an index; its tables are named `ix_<name>`."""
        registration = RECALLERS["sqlite_vec" if embedder else "sqlite_fts5"]
        options = registration.options(**({"embedder": "e"} if embedder else {}))
        services = Services(name, prefix=f"ix_{name}", database=self.database, embedder=lambda _: embedder)
        built = recaller or registration.build(options, services)
        return replace(Index(name, built, LineChunker(), "lines", f"{name} 1", embedder), **changes)

    def commit(self, *documents, deleted=(), eager=True, within=lambda _tx, _done: None):
        return self.indexer.commit(documents, deleted, eager=eager, within=within)

    def level(self, *indexes):
        return sum(self.indexer.level(each, lambda _tx, _done: None) for each in indexes or self.indexer.indexes)

    def find(self, index, text, **filters):
        """Ids of the documents whose words match; of vectors only those that share a word."""
        (ranking,) = index.recaller.recall([text], 50, Filters(**filters))
        return sorted({chunk.document_id for chunk in ranking if index.embedder is None or chunk.score > 1e-6})

    def held(self, index):
        """(document, chunk) of all entries of an index in the catalog's file."""
        if index.recaller.position() is None:
            return []
        return sorted(self.database.query(f"SELECT document_id, id FROM ix_{index.name}_entry"))

    def chunks(self):
        return sorted(self.database.query("SELECT document_id, id FROM chunk"))

    def dump(self):
        """Everything in the file but the counter of chunk ids, which may have gaps."""
        tables = self.database.query("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        content = {name: sorted(map(repr, self.database.query(f'SELECT * FROM "{name}"'))) for (name,) in tables}
        return content | {"meta": self.database.query("SELECT * FROM meta WHERE key <> 'chunk_id'")}


@pytest.fixture
def make_bench(tmp_path):
    """Open benches; the same name is the same file."""
    made = []

    def make(name="catalog"):
        made.append(Bench(tmp_path / f"{name}.db"))
        return made[-1]

    yield make
    for bench in made:
        bench.database.close()


@pytest.fixture
def bench(make_bench):
    """One bench."""
    return make_bench()


@pytest.fixture
def document():
    """Make documents `s:<number>` of one project."""
    fresh = itertools.count(1)

    def make(number=None, text=None, **changes):
        number = next(fresh) if number is None else number
        plain = Document(f"s:{number}", "s", "s:p", f"P-{number}", "t", "Requirement", f"name{number}")
        return replace(plain, **({} if text is None else {"sections": {"description": text}}), **changes)

    return make
