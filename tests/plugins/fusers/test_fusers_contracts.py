"""The built-in fusers keep the contract that outside ones inherit."""

import pytest

from reqall.testing.contracts import FuserContract


class TestRrf(FuserContract):
    @pytest.fixture
    def fuser(self, build):
        return build("fuser", "rrf")


class TestConvex(FuserContract):
    @pytest.fixture
    def fuser(self, build):
        return build("fuser", "convex")
