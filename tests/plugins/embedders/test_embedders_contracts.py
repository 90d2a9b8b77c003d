"""The built-in embedders, and the one for tests, keep the contract that outside ones inherit."""

import pytest

from reqall.testing.contracts import EmbedderContract
from reqall.testing.openai_endpoint import OpenAIEndpoint


@pytest.fixture(scope="module")
def minilm(build):
    return build("embedder", "minilm")


@pytest.fixture(scope="module")
def openai(build):
    """The client of a stand-in for the endpoint; what the options take from the environment is given."""
    empty = dict.fromkeys(("api_version", "key_header"), "")
    options = {"api_key": "test-key", "model": "text-embedding-3-small", "dimensions": None, "max_tokens": 512, **empty}
    with OpenAIEndpoint() as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield build("embedder", "openai", base_url=endpoint.base_url, **options)


class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, minilm):
        return minilm


class TestOpenAI(EmbedderContract):
    @pytest.fixture
    def embedder(self, openai):
        return openai


class TestHashing(EmbedderContract):
    @pytest.fixture
    def embedder(self, hashing_embedder):
        return hashing_embedder
