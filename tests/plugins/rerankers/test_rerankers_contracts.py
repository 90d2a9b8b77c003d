"""The built-in rerankers keep the contract that outside ones inherit."""

import pytest

from reqall.testing.contracts import RerankerContract


class TestNoReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, build):
        return build("reranker", "none")
