"""Search at 100,000 chunks: vectors against a numpy scan, hybrid search against the bare engines."""

import random
import statistics
from collections.abc import Callable
from operator import add
from pathlib import Path
from typing import Any

from ratios import Ratio, in_turn, timed
from synthetic import Corpus, query

from reqall import Filters, Query, Vectors
from reqall.core.expansion import Expanding
from reqall.core.pipeline import Arm, Pipeline
from reqall.plugins.expanders.lexical_variants import LexicalVariants, LexicalVariantsOptions
from reqall.plugins.fusers.rrf import Rrf, RrfOptions

LIMIT = 100
TOP_K = 50
_WARM_UP = 3


def measure(folder: Path, chunks: int, rounds: int) -> list[Ratio]:
    """Build the index, warm both ways up, and measure in turn."""
    corpus = Corpus(folder / "catalog.db", chunks)
    print(f"index of {chunks:,} chunks written in {corpus.seconds:.1f} s")
    matrix = corpus.matrix()
    chance = random.Random(2)  # noqa: S311 - data, not a secret
    texts = [query(chance) for _ in range(rounds + _WARM_UP)]
    queries = corpus.embedder.embed_query(texts)
    recaller, reader = corpus.meaning.recaller, corpus.database.reader()
    pipeline = _pipeline(corpus)
    print(f"first search, by vec0: {_milliseconds(lambda: recaller.recall(texts[:1], LIMIT, Filters()))}")
    print(f"second search, loads the matrix: {_milliseconds(lambda: recaller.recall(texts[:1], LIMIT, Filters()))}")
    _check(corpus, matrix, texts[0])
    for text in texts:
        _fts5(reader, text)  # so that neither of two that ask the same reads a page first
    in_project = Filters(project_ids=("jama:p3",))
    works: dict[str, Callable[[int], object]] = {
        "scan": lambda n: _scan(matrix, queries[n]),
        "recall": lambda n: recaller.recall([texts[n]], LIMIT, Filters()),
        "recall in a project": lambda n: recaller.recall([texts[n]], LIMIT, in_project),
        "fts5": lambda n: _fts5(reader, texts[n]),
        "hybrid": lambda n: pipeline.search(Query(texts[n]), TOP_K, LIMIT),
    }
    seconds = {name: found[_WARM_UP:] for name, found in in_turn(works, rounds + _WARM_UP).items()}
    recall, scan, fts5 = seconds["recall"], seconds["scan"], seconds["fts5"]
    print(f"bare FTS5 query: {statistics.median(fts5) * 1000:.2f} ms (median)")
    corpus.database.close()
    return [
        Ratio.of("vector recall / numpy scan", recall, scan, 1.2),
        Ratio.of("vector recall in one project of ten / full scan", seconds["recall in a project"], scan, 0.3),
        Ratio.of("hybrid search / FTS5 query + numpy scan", seconds["hybrid"], [*map(add, fts5, scan)], 2.0),
    ]


def _pipeline(corpus: Corpus) -> Pipeline:
    """Assemble the stages of the packaged default."""
    return Pipeline(
        "default",
        indexer=corpus.indexer,
        arms=[Arm(corpus.words), Arm(corpus.meaning)],
        expanders=[Expanding(LexicalVariants(LexicalVariantsOptions()))],
        fuser=Rrf(RrfOptions()),
        fuser_name="rrf",
        reranker=None,
    )


def _scan(matrix: Vectors, query: Vectors) -> object:
    """Find the exact top as plainly as numpy can."""
    import numpy as np

    scores = matrix @ query
    top = np.argpartition(scores, len(scores) - LIMIT)[-LIMIT:]
    return top[np.argsort(-scores[top])]


def _fts5(reader: Any, text: str) -> list[Any]:
    """Ask FTS5 alone for the best rows of the same table."""
    match = " OR ".join(f'"{word}"' for word in text.split())
    statement = "select rowid, rank from ix_words_words where ix_words_words match ? order by rank limit ?"
    return list(reader.execute(statement, (match, LIMIT)))


def _check(corpus: Corpus, matrix: Vectors, text: str) -> None:
    """Compare one answer with the exact one: a fast wrong answer is worth nothing."""
    import numpy as np

    (ranking,) = corpus.meaning.recaller.recall([text], LIMIT, Filters())
    exact = np.sort(matrix @ corpus.embedder.embed_query([text])[0])[::-1]
    assert len(ranking) >= LIMIT
    assert np.allclose([chunk.score for chunk in ranking], exact[: len(ranking)], atol=1e-5), "recall is not exact"


def _milliseconds(work: Callable[[], object]) -> str:
    return f"{timed(work) * 1000:.0f} ms"
