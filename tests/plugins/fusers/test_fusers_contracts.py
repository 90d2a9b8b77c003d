"""The built-in fusers keep the contract that outside ones inherit, with every option."""

import pytest

from reqall.testing.contracts import FuserContract, NeighboursContract

NORMALISATIONS = [{"normalise": name} for name in ("min-max", "z-score", "theoretical", "distribution", "none")]
BOUNDS = [{"normalise": "theoretical", "lower_bound": bound} for bound in (-1e6, 1e6)]


class TestRrf(FuserContract):
    @pytest.fixture(params=[1, 1_000_000])
    def fuser(self, build, request):
        return build("fuser", "rrf", k=request.param)


class TestIsr(FuserContract):
    @pytest.fixture
    def fuser(self, build):
        return build("fuser", "isr")


class TestBorda(FuserContract):
    @pytest.fixture
    def fuser(self, build):
        return build("fuser", "borda")


class TestConvex(FuserContract):
    @pytest.fixture(params=NORMALISATIONS + BOUNDS, ids=str)
    def fuser(self, build, request):
        return build("fuser", "convex", **request.param)


class TestCombSum(FuserContract):
    """The others order as `convex` does."""

    @pytest.fixture(params=["min-max", "none"])
    def fuser(self, build, request):
        return build("fuser", "combsum", normalise=request.param)


class TestCombMnz(FuserContract):
    @pytest.fixture(params=NORMALISATIONS, ids=str)
    def fuser(self, build, request):
        return build("fuser", "combmnz", **request.param)


class TestDbsf(FuserContract):
    @pytest.fixture
    def fuser(self, build):
        return build("fuser", "dbsf")


class TestRegularised(FuserContract, NeighboursContract):
    @pytest.fixture(params=NORMALISATIONS, ids=str)
    def fuser(self, build, request):
        return build("fuser", "regularised", **request.param)
