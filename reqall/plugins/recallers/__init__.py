"""Built-in recallers: indexes that find chunks."""

from collections.abc import Iterable

from reqall import Recaller, Registration, hookimpl
from reqall.plugins.recallers.rank_bm25 import RankBm25, RankBm25Options
from reqall.plugins.recallers.sqlite_fts5 import Fts5Options, build_sqlite_fts5
from reqall.plugins.recallers.sqlite_tfidf import TfidfOptions, build_sqlite_tfidf
from reqall.plugins.recallers.sqlite_vec import SqliteVecOptions, build_sqlite_vec


@hookimpl
def register_recallers() -> Iterable[Registration[Recaller]]:
    """Offer words and vectors in the catalog's file, and words in memory."""
    return [
        Registration(
            name="sqlite_fts5",
            summary="words by BM25 (SQLite FTS5), in the catalog's file",
            build=build_sqlite_fts5,
            options=Fts5Options,
            index_version=2,
        ),
        Registration(
            name="sqlite_tfidf",
            summary="likeness of whole texts by TF-IDF and cosine, in the catalog's file",
            build=build_sqlite_tfidf,
            options=TfidfOptions,
        ),
        Registration(
            name="sqlite_vec",
            summary="exact nearest vectors (sqlite-vec), in the catalog's file",
            build=build_sqlite_vec,
            options=SqliteVecOptions,
        ),
        Registration(
            name="rank_bm25",
            summary="words by Okapi BM25 in memory, built anew in each process; for experiments",
            build=lambda options, _services: RankBm25(options),
            options=RankBm25Options,
        ),
    ]
