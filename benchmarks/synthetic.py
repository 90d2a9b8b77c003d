"""A synthetic corpus: words of a Zipf distribution, random unit vectors, ten projects; and its index."""

import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice, product
from pathlib import Path
from typing import Any
from zlib import crc32

from reqall import Budget, ChunkDraft, Document, Services, Vectors
from reqall.core.catalog import Catalog
from reqall.core.changes import ChangeLog
from reqall.core.database import Database
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.plugins.recallers import register_recallers

DIMENSIONS = 384
PROJECTS = 10
COMMON = 30
"""The most frequent words, which no query asks for."""

_BATCH = 500
_NAME_WORDS, _TEXT_WORDS, _QUERY_WORDS = 5, 40, 4
_EXPONENT = 1.07
_SYLLABLES = [consonant + vowel for consonant, vowel in product("bdfgklmnprstvz", "aeiou")]
VOCABULARY = ["".join(parts) for parts in islice(product(_SYLLABLES, repeat=3), 20_000)]
_WEIGHTS = [1 / rank**_EXPONENT for rank in range(1, len(VOCABULARY) + 1)]
_CUMULATED = list(accumulate(_WEIGHTS))


class RandomVectors:
    """An embedder without a model: random vectors of length 1, the same for the same query."""

    identity = "random"
    dimensions = DIMENSIONS
    max_tokens = 256

    def __init__(self) -> None:
        """Begin with nothing embedded."""
        import numpy as np

        self._chance = np.random.default_rng(1)
        self._queries: dict[str, Vectors] = {}
        self.made: list[Vectors] = []

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return a new vector per text, and keep it as the reference."""
        import numpy as np

        self.made.append(_unit(self._chance.standard_normal((len(texts), DIMENSIONS), dtype=np.float32)))
        return self.made[-1]

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of each text; made once, as embedding queries is no part of what is measured."""
        import numpy as np

        for text in texts:
            if text not in self._queries:
                chance = np.random.default_rng(crc32(text.encode()))
                self._queries[text] = _unit(chance.standard_normal((1, DIMENSIONS), dtype=np.float32))
        return np.concatenate([self._queries[text] for text in texts])


def _unit(vectors: Vectors) -> Vectors:
    import numpy as np

    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


class SectionChunker:
    """One chunk per section."""

    def chunk(self, document: Document, budget: Budget) -> list[ChunkDraft]:  # noqa: ARG002 - sections are short
        """Cut at the sections."""
        return [ChunkDraft(section, document.name, text) for section, text in document.sections.items()]


def query(chance: random.Random) -> str:
    """Draw the words of a query, none of the most frequent ones."""
    return " ".join(chance.choices(VOCABULARY[COMMON:], weights=_WEIGHTS[COMMON:], k=_QUERY_WORDS))


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(VOCABULARY, cum_weights=_CUMULATED, k=count))


def documents(chunks: int) -> Iterator[Document]:
    """Make documents with so many sections in all; every third document has two."""
    chance = random.Random(1)  # noqa: S311 - data, not a secret
    made = number = 0
    while made < chunks:
        number += 1
        names = ["description", "test_steps"] if number % 3 == 0 and made + 1 < chunks else ["description"]
        made += len(names)
        yield Document(
            id=f"jama:{number}",
            source="jama",
            project_id=f"jama:p{number % PROJECTS}",
            key=f"P{number % PROJECTS}-REQ-{number}",
            type_id=f"t{number % 7}",
            type_name=f"Type {number % 7}",
            name=_words(chance, _NAME_WORDS),
            status=("Draft", "Approved", None)[number % 3],
            sections={name: _words(chance, _TEXT_WORDS) for name in names},
            modified=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
        )


class Corpus:
    """A catalog with the indexes `words` and `meaning`, written as a sync writes them."""

    def __init__(self, path: Path, chunks: int) -> None:
        """Create the file and fill it, through the indexer and so each recaller's own `apply`."""
        self.database = Database(path)
        self.embedder = RandomVectors()
        self.words = self._index("words", "sqlite_fts5", {}, None)
        self.meaning = self._index("meaning", "sqlite_vec", {"embedder": "random"}, self.embedder)
        self.indexer = Indexer(Catalog(self.database), ChangeLog(self.database), [self.words, self.meaning])
        start = time.perf_counter()
        source = documents(chunks)
        while batch := list(islice(source, _BATCH)):
            self.indexer.commit(batch, (), eager=True, within=lambda _tx, _done: None)
        self.seconds = time.perf_counter() - start

    def _index(self, name: str, use: str, options: dict[str, Any], embedder: RandomVectors | None) -> Index:
        registration = next(found for found in register_recallers() if found.name == use)
        services = Services(
            name=name, prefix=f"ix_{name}", database=self.database, embedder=lambda _name: self.embedder
        )
        recaller = registration.build(registration.options(**options), services)
        return Index(name, recaller, SectionChunker(), "sections", name, embedder)

    def matrix(self) -> Vectors:
        """Return all vectors, for the reference."""
        import numpy as np

        whole: Vectors = np.concatenate(self.embedder.made)
        self.embedder.made.clear()
        return whole
