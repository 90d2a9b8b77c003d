"""The built-in embedders, and the one for tests, keep the contract that outside ones inherit."""

from importlib.util import find_spec

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


@pytest.fixture(scope="module")
def fastembed(build, minilm_folder):
    pytest.importorskip("fastembed", reason="needs the extra fastembed")
    return build("embedder", "fastembed", folder=str(minilm_folder), max_tokens=256)


@pytest.fixture(scope="module")
def wordllama(build):
    if find_spec("wordllama") is None:
        pytest.skip("needs the extra wordllama")
    return build("embedder", "wordllama")


@pytest.fixture(scope="module")
def sentence_transformers(build, tiny_bert_folder):
    return build("embedder", "sentence_transformers", folder=str(tiny_bert_folder), max_tokens=64)


class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, minilm):
        return minilm


class TestOpenAI(EmbedderContract):
    @pytest.fixture
    def embedder(self, openai):
        return openai


class TestFastembed(EmbedderContract):
    @pytest.fixture
    def embedder(self, fastembed):
        return fastembed


class TestWordLlama(EmbedderContract):
    @pytest.fixture
    def embedder(self, wordllama):
        return wordllama


class TestSentenceTransformers(EmbedderContract):
    @pytest.fixture
    def embedder(self, sentence_transformers):
        return sentence_transformers


class TestHashing(EmbedderContract):
    @pytest.fixture
    def embedder(self, hashing_embedder):
        return hashing_embedder
