"""A text of any length is searched with whole."""

import pytest

from reqall import Filters
from reqall.core.indexing import Indexer
from reqall.core.long_query import recall_whole
from reqall.core.trace import Trace
from reqall.plugins.chunkers.whole import WholeChunker
from reqall.testing.fakes import HashingEmbedder

LONG = "\n".join([*(" ".join([f"filler{number}"] * 20) for number in range(5)), "zebra crossing"])


@pytest.fixture
def index(bench, document):
    """A vector index whose embedder reads 30 words."""
    made = bench.index("short", HashingEmbedder(dimensions=4096, max_tokens=30))
    indexer = Indexer(bench.catalog, bench.log, [made])
    indexer.commit([document(1, "zebra crossing"), document(2, "else")], (), eager=True, within=lambda _tx, _done: None)
    assert made.embedder.count_tokens(LONG) > made.embedder.max_tokens
    return made


def found(index, *texts, limit=1):
    trace = Trace()
    rankings = recall_whole(index, texts, limit, Filters(), trace)
    return [[chunk.document_id for chunk in ranking] for ranking in rankings], trace.warnings


def test_the_end_of_a_long_text_counts(index):
    assert found(index, LONG) == ([["s:1"]], [])
    assert index.embedder.queries[-1] == "zebra crossing"


def test_there_is_one_ranking_per_text_within_the_limit(index):
    assert found(index, "else", LONG, "zebra") == ([["s:2"], ["s:1"], ["s:1"]], [])


def test_a_short_text_is_searched_with_as_it_is(index):
    found(index, "two\nlines")
    assert index.embedder.queries == ["two\nlines"]


def test_what_cannot_be_cut_is_told(bench, index):
    uncut = bench.index("short", index.embedder, recaller=index.recaller, chunker=WholeChunker())
    ids, (warning,) = found(uncut, LONG)
    assert len(ids) == 1
    assert "index 'short' was searched with the beginning of the text only" in warning
    assert "filler" not in warning
