"""The built-in recallers, and the one for tests, keep the contracts that outside ones inherit."""

import pytest

from reqall.testing.contracts import DropContract, InspectionContract, LikenessContract, RecallerContract
from reqall.testing.fakes import MemoryRecaller


class TestSqliteFts5(RecallerContract, DropContract, InspectionContract):
    lexical = True

    @pytest.fixture
    def make_recaller(self, recaller_of):
        return recaller_of("sqlite_fts5")


class TestSqliteVec(RecallerContract, DropContract, InspectionContract, LikenessContract):
    @pytest.fixture(params=[512, 0], ids=["cached", "uncached"])
    def make_recaller(self, recaller_of, request):
        return recaller_of("sqlite_vec", cache_mb=request.param)


class TestSqliteTfidf(RecallerContract, DropContract, InspectionContract):
    lexical = True

    @pytest.fixture
    def make_recaller(self, recaller_of):
        return recaller_of("sqlite_tfidf")


class TestRankBm25(RecallerContract, DropContract, InspectionContract):
    lexical = True

    @pytest.fixture
    def make_recaller(self, recaller_of):
        return recaller_of("rank_bm25")


class TestInMemory(RecallerContract, DropContract):
    lexical = True

    @pytest.fixture
    def make_recaller(self):
        return lambda _services: MemoryRecaller()


class TestExternal(RecallerContract, DropContract):
    """One object plays the other engine: a later process finds it as it was left."""

    lexical = True

    @pytest.fixture
    def make_recaller(self):
        engine = MemoryRecaller("external")
        return lambda _services: engine
