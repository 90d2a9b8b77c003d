"""What every reranker keeps. Models may be slow: the laws take a dozen calls of few passages."""

from collections.abc import Sequence

import pytest

from reqall import Passage, Reranker
from reqall.testing.contracts.threads import in_threads
from reqall.testing.contracts.wellformed import require_document_ranking
from reqall.testing.strategies import BLANK_TEXTS, ODD_TEXTS

QUERY = "how is the volume synchronised?"
PASSAGES = (
    Passage("s:1", "Volume sync\nThe volume of all speakers shall be the same."),
    Passage("s:2", "Door\nThe door closes when the train starts to move."),
    Passage("s:3", "Login\nThe user is logged out after ten minutes without input."),
)


class RerankerSetting:
    """What the laws of rerankers take. Override the fixture `reranker`."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Return the reranker under test."""
        raise NotImplementedError("override the fixture `reranker` in your test class")


class RerankerContract(RerankerSetting):
    """Laws of a `Reranker`. Override the fixture `reranker`."""

    def test_it_orders_its_passages_and_nothing_else(self, reranker: Reranker) -> None:
        """A permutation: every document once, scores finite."""
        _require_permutation(reranker, QUERY, PASSAGES)

    def test_no_passages_no_ranking(self, reranker: Reranker) -> None:
        """Nothing found is nothing to order."""
        assert require_document_ranking(reranker.rerank(QUERY, [])) == [], "documents came out of no passages"

    def test_one_passage_stays(self, reranker: Reranker) -> None:
        """A single passage is a ranking of one."""
        _require_permutation(reranker, QUERY, PASSAGES[:1])

    def test_equal_texts_stay_apart(self, reranker: Reranker) -> None:
        """Two documents of one text are two documents."""
        _require_permutation(reranker, QUERY, [Passage(f"s:{number}", "The same text.") for number in range(4)])

    def test_odd_passages_are_no_error(self, reranker: Reranker) -> None:
        """Blank, very long, in other scripts: a passage holds whatever a document holds."""
        texts = [text for text in (*BLANK_TEXTS, *ODD_TEXTS) if "\ud800" not in text]
        _require_permutation(reranker, QUERY, [Passage(f"s:{number}", text) for number, text in enumerate(texts)])

    @pytest.mark.parametrize(
        "query", ["", "\x00", "用户登录超时 🎉", "volume " * 3000], ids=["blank", "nul", "cjk", "long"]
    )
    def test_odd_queries_are_no_error(self, reranker: Reranker, query: str) -> None:
        """A query holds whatever a user sends."""
        _require_permutation(reranker, query, PASSAGES[:2])

    def test_threads_get_permutations(self, reranker: Reranker) -> None:
        """Searches of one server run in several threads."""
        in_threads(lambda: _require_permutation(reranker, QUERY, PASSAGES))


def _require_permutation(reranker: Reranker, query: str, passages: Sequence[Passage]) -> None:
    found = sorted(require_document_ranking(reranker.rerank(query, passages)))
    given = sorted(passage.document_id for passage in passages)
    assert found == given, f"not a permutation of the passages: {given} went in, {found} came out"
