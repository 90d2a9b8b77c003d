"""`dbsf` and `convex` give what LlamaIndex's fusion of retrievers gives.

Rankings have two documents at least, and no equal scores: there LlamaIndex gives 1, or 0 to a negative score.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import DocumentRanking

scores = st.integers(-(10**5), 10**5).map(lambda number: number / 64)
ranking = st.dictionaries(st.sampled_from("abcdefgh"), scores, min_size=2).filter(
    lambda found: len(set(found.values())) == len(found)
)
arms = st.lists(st.tuples(ranking, st.sampled_from([0.25, 0.5, 1.0, 3.0])), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def llama_index():
    """Fuse with LlamaIndex, whose weights always sum up to 1."""
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Given(BaseRetriever):
        def __init__(self, found):
            super().__init__()
            self._found = found

        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(id_=key, text=key), score=score) for key, score in self._found.items()]

    def fuse(mode, arms):
        retriever = QueryFusionRetriever(
            [Given(found) for found, _ in arms],
            llm=MockLLM(),
            mode=mode,
            num_queries=1,
            similarity_top_k=100,
            use_async=False,
            retriever_weights=[weight for _, weight in arms],
        )
        return {found.node.text: found.score for found in retriever.retrieve("any")}

    return fuse


@given(arms)
@pytest.mark.parametrize(("name", "mode"), [("dbsf", "dist_based_score"), ("convex", "relative_score")])
def test_a_fuser_gives_what_llama_index_gives(build, llama_index, name, mode, arms):
    total = sum(weight for _, weight in arms)
    rankings = [DocumentRanking.of(found.items()) for found, _ in arms]
    fused = build("fuser", name).fuse(rankings, [weight / total for _, weight in arms])
    ours = {document.document_id: document.score for document in fused}
    assert ours == pytest.approx(llama_index(mode, arms), rel=1e-9, abs=1e-9)
