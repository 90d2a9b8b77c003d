"""The built-in expanders keep the contract that outside ones inherit."""

import pytest

from reqall.testing.contracts import DisclosureContract, ExpanderContract, FeedbackContract
from reqall.testing.openai_endpoint import OpenAIEndpoint


class TestLexicalVariants(ExpanderContract):
    @pytest.fixture(params=[0, 3])
    def expander(self, build, request):
        return build("expander", "lexical_variants", truncations=request.param)


class TestSubQueries(ExpanderContract):
    @pytest.fixture
    def expander(self, build):
        return build("expander", "sub_queries")


class TestOneTextOnly(ExpanderContract):
    @pytest.fixture
    def expander(self, build):
        return build("expander", "sub_queries", limit=1)


class TestRm3(ExpanderContract, FeedbackContract):
    @pytest.fixture(params=[0, 0.5, 1])
    def expander(self, build, request):
        return build("expander", "rm3", documents=3, terms=4, original=request.param)


class TestSynonyms(ExpanderContract):
    @pytest.fixture
    def expander(self, build):
        return build("expander", "synonyms", terms={"login": ["sign in", "log on", "登录"], "a": "b"}, variants=10)


@pytest.fixture(scope="module")
def chat_endpoint():
    with OpenAIEndpoint() as server:
        yield server


@pytest.fixture
def connection(chat_endpoint, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fixed = {"api_version": "", "key_header": ""}
    return {"base_url": chat_endpoint.base_url, "api_key": chat_endpoint.key, "model": "m", **fixed}


class TestHyde(ExpanderContract, DisclosureContract):
    @pytest.fixture
    def expander(self, build, connection):
        return build("expander", "hyde", **connection)


class TestMultiQuery(ExpanderContract, DisclosureContract):
    @pytest.fixture
    def expander(self, build, connection):
        return build("expander", "multi_query", **connection)
