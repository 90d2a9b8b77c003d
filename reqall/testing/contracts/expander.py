"""What every expander keeps."""

from collections.abc import Sequence
from math import inf
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Query, QueryExpander, Variant
from reqall.testing.contracts.examples import examples
from reqall.testing.contracts.threads import in_threads
from reqall.testing.strategies import BLANK_TEXTS, ODD_TEXTS, query_texts, words


def check_variants(given_texts: Sequence[str | Variant], text: str, most: int) -> list[str]:
    """Check what an expander made of the user's text; its texts."""
    variants = list(given_texts)
    assert variants, "an expansion is never empty: it begins with the user's text"
    assert all(isinstance(each, str | Variant) for each in variants), f"not only texts: {variants}"
    weights = [each.weight for each in variants if isinstance(each, Variant)]
    assert all(0 <= weight < inf for weight in weights), f"a weight is a number of 0 or more: {weights}"
    texts = [each.text if isinstance(each, Variant) else each for each in variants]
    assert texts[0] == text, f"the user's text {text[:40]!r} must come first, unchanged; {texts[0][:40]!r} did"
    assert len(set(texts)) == len(texts), f"a text comes twice: {texts}"
    assert all(each.strip() for each in texts[1:]), "a blank variant costs a search that finds nothing"
    assert len(texts) <= most, f"{len(texts)} texts for one question; at most {most} are sensible"
    return texts


class ExpanderContract:
    """Laws of a `QueryExpander`. Override the fixture `expander`."""

    most: ClassVar[int] = 20
    """Most texts of one question, the user's own included: each costs a search of every index."""

    @pytest.fixture
    def expander(self) -> QueryExpander:
        """Return the expander under test."""
        raise NotImplementedError("override the fixture `expander` in your test class")

    @examples(60)
    @given(text=words() | query_texts(), sub_queries=st.lists(words() | query_texts(), max_size=6))
    def test_the_users_text_is_first_and_nothing_is_twice(
        self, expander: QueryExpander, text: str, sub_queries: list[str]
    ) -> None:
        """Whatever is asked, with whatever rewrites."""
        self._expand(expander, text, *sub_queries)

    @pytest.mark.parametrize("text", [*BLANK_TEXTS, *ODD_TEXTS], ids=lambda text: repr(text[:12]))
    def test_odd_texts_are_no_error(self, expander: QueryExpander, text: str) -> None:
        """A query holds whatever a user sends."""
        self._expand(expander, text)

    def test_the_clients_sub_queries_are_not_skipped(self, expander: QueryExpander) -> None:
        """Of the client's rewrites the first are kept, in their order; a bound cuts the last."""
        rewrites = tuple(f"rewrite number {number} by the client" for number in range(8))
        texts = self._expand(expander, "login timeout", *rewrites)
        kept = tuple(text for text in texts if text in rewrites)
        assert kept == rewrites[: len(kept)], f"sub-queries were skipped or moved: {kept} of {rewrites}"

    def test_a_repeated_sub_query_is_searched_once(self, expander: QueryExpander) -> None:
        """The user's own text, or one rewrite, may come several times."""
        self._expand(expander, "login timeout", "login timeout", "session expiry", "session expiry")

    def test_many_sub_queries_are_bounded(self, expander: QueryExpander) -> None:
        """A client that sends a hundred rewrites must not start a hundred searches."""
        self._expand(expander, "login timeout", *(f"rewrite {number}" for number in range(100)))

    def test_threads_get_their_own_texts(self, expander: QueryExpander) -> None:
        """Searches of one server run in several threads."""
        in_threads(lambda: self._expand(expander, "login timeout", "session expiry"))

    def _expand(self, expander: QueryExpander, text: str, *sub_queries: str) -> list[str]:
        return check_variants(expander.expand(Query(text, tuple(sub_queries))), text, self.most)
