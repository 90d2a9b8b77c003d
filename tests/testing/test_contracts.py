"""How contracts are found by kind and by ability, and handed a component from outside."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import DocumentRanking, InputError
from reqall.core.registration import KINDS
from reqall.core.rows import storable
from reqall.testing import strategies
from reqall.testing.contracts import (
    FIXTURES,
    CountContract,
    DropContract,
    FuserContract,
    abilities_of,
    contract_for,
)
from reqall.testing.fakes import HashingEmbedder, MemoryRecaller


class Keeping:
    """A reranker that keeps the order."""

    def rerank(self, query, passages):
        return DocumentRanking.of((passage.document_id, -place) for place, passage in enumerate(passages))


TestFromOutside = type(
    "TestFromOutside",
    (contract_for("reranker"),),
    {FIXTURES["reranker"]: pytest.fixture(lambda _self: Keeping())},
)


def test_each_kind_has_its_contract():
    assert contract_for("fuser") is FuserContract
    assert len({contract_for(kind) for kind in KINDS}) == len(KINDS)
    with pytest.raises(InputError, match="'ranker'") as caught:
        contract_for("ranker")
    assert "reranker" in caught.value.remedy


def test_abilities_are_found_by_what_a_component_can_do(list_source):
    list_source.count = lambda _project: 0
    assert abilities_of(list_source) == [CountContract]
    assert abilities_of(MemoryRecaller()) == [DropContract]
    assert abilities_of(HashingEmbedder()) == []


@given(strategies.documents())
def test_documents_are_what_the_catalog_can_hold(document):
    assert storable(document) == document
    assert (document.id.partition(":")[0], document.project_id) == (document.source, "list:1")


@given(strategies.links(["s:1", "s:2", "s:3"]))
def test_links_have_two_ends(link):
    assert link.from_id != link.to_id
    assert {link.from_id, link.to_id} < {"s:1", "s:2", "s:3"}


@given(st.tuples(strategies.chunk_rankings(), strategies.chunk_rankings()))
def test_a_chunk_is_always_of_one_document(rankings):
    first, second = ({chunk.chunk_id: chunk.document_id for chunk in ranking} for ranking in rankings)
    assert all(first[chunk_id] == second[chunk_id] for chunk_id in first.keys() & second.keys())


@given(strategies.document_rankings(min_size=2))
def test_scores_are_equal_or_well_apart(ranking):
    scores = [document.score for document in ranking]
    assert all(one == two or one - two >= 1 / 64 for one, two in pairwise(scores))


@given(strategies.query_texts())
def test_texts_of_queries_are_of_moderate_length(text):
    assert len(text) < 1000
