"""The reranker `none` keeps the order."""

from reqall import Passage, Services
from reqall.plugins.rerankers import register_rerankers


def test_the_order_stays():
    (registration,) = [found for found in register_rerankers() if found.name == "none"]
    reranker = registration.build(registration.options(), Services())
    ranking = reranker.rerank("query", [Passage(key, "text") for key in ("z", "a", "m")])
    assert [(document.document_id, document.score) for document in ranking] == [("z", 3.0), ("a", 2.0), ("m", 1.0)]
    assert "identity" in registration.traits
    assert len(reranker.rerank("query", [])) == 0
