"""The built-in rerankers keep the contract that outside ones inherit."""

import pytest

from reqall import Services
from reqall.core.scores import ScoreCache
from reqall.core.scoring import scoring
from reqall.testing.contracts import DeadlineContract, RerankerContract, ScoresContract
from reqall.testing.fake_reranker import SharedWordsReranker
from reqall.testing.rerank_endpoint import RerankEndpoint


@pytest.fixture(scope="module")
def endpoint():
    with RerankEndpoint() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield server


@pytest.fixture(scope="module")
def qwen3(build, qwen3_folder):
    """Trained by nobody, so it would not pass its self-check."""
    return build("reranker", "qwen3", model=str(qwen3_folder), self_check=False, max_tokens=512)


@pytest.fixture(scope="module")
def cross_encoder(build, matcher_folder):
    return build("reranker", "cross_encoder", model=str(matcher_folder), threads=1)


class TestNoReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, build):
        return build("reranker", "none")


class TestQwen3(RerankerContract, ScoresContract):
    @pytest.fixture
    def reranker(self, qwen3):
        return qwen3


class TestCrossEncoder(RerankerContract, ScoresContract):
    @pytest.fixture
    def reranker(self, cross_encoder):
        return cross_encoder


class TestApi(RerankerContract, DeadlineContract):
    @pytest.fixture(params=["rerank", "chat"])
    def reranker(self, request, build, endpoint):
        options = {"base_url": endpoint.base_url, "api_key": "test-key", "model": "m", "style": request.param}
        return build("reranker", "api", window=2, **options)


class TestLexical(RerankerContract):
    @pytest.fixture
    def reranker(self, build):
        return build("reranker", "lexical")


class TestBlendOfLexical(RerankerContract):
    @pytest.fixture
    def reranker(self, build):
        services = Services("blend", reranker=lambda config: build("reranker", config.use, **config.options))
        return build("reranker", "blend", services)


class TestBlendOfScores(RerankerContract, DeadlineContract):
    """Around one that keeps a deadline, as the host builds it."""

    @pytest.fixture
    def reranker(self, build, tmp_path):
        cache = ScoreCache(tmp_path)
        inner = scoring(SharedWordsReranker(identity="shared words"), cache)
        yield build("reranker", "blend", Services("blend", reranker=lambda _config: inner))
        cache.close()


class TestFakeReranker(RerankerContract, ScoresContract):
    @pytest.fixture
    def reranker(self):
        return SharedWordsReranker()
