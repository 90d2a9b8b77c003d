import pytest

from reqall.plugins.embedders.prefixes import Prefixes, known_prefixes


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("nomic-ai/nomic-embed-text-v1.5-Q", "search_query: ", "search_document: "),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
        ("BAAI/bge-m3", "", ""),
        ("thenlper/gte-large", "", ""),
    ],
)
def test_prefixes_are_those_of_the_models_card(model, query, document):
    assert known_prefixes(model) == Prefixes(query, document)


def test_what_is_given_goes_first_an_empty_text_too():
    assert Prefixes("a", "b").or_given(None, "") == Prefixes("a", "")
    assert Prefixes("a", "b").or_given("c", None) == Prefixes("c", "b")


def test_identity_tells_prefixes_apart_and_is_empty_without_any():
    several = [Prefixes("a", "b"), Prefixes("b", "a"), Prefixes("a"), Prefixes("", "a"), Prefixes("a:", "b")]
    assert len({each.identity for each in several}) == len(several)
    assert Prefixes().identity == ""
