"""The built-in chunkers keep the contract that outside ones inherit."""

import pytest

from reqall.testing.contracts import ChunkerContract


class TestSentences(ChunkerContract):
    @pytest.fixture
    def chunker(self, build):
        return build("chunker", "sentences")


class TestShortSentences(ChunkerContract):
    @pytest.fixture
    def chunker(self, build):
        return build("chunker", "sentences", size=40, overlap=8)


class TestWhole(ChunkerContract):
    unbounded = True

    @pytest.fixture
    def chunker(self, build):
        return build("chunker", "whole")
