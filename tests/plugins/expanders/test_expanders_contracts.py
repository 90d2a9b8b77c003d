"""The built-in expanders keep the contract that outside ones inherit."""

import pytest

from reqall.testing.contracts import ExpanderContract


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
