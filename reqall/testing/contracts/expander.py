"""What every expander keeps."""

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Query, QueryExpander
from reqall.testing.contracts.abilities import require_abilities_tried
from reqall.testing.contracts.examples import examples
from reqall.testing.contracts.expanded import MOST_TEXTS, check_variants
from reqall.testing.contracts.threads import in_threads
from reqall.testing.strategies import BLANK_TEXTS, ODD_TEXTS, query_texts, words


class ExpanderContract:
    """Laws of a `QueryExpander`. Override the fixture `expander`."""

    most: ClassVar[int] = MOST_TEXTS
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

    def test_its_abilities_are_tried(self, expander: QueryExpander) -> None:
        """What else it can do has a contract of its own."""
        require_abilities_tried(expander, type(self))

    def _expand(self, expander: QueryExpander, text: str, *sub_queries: str) -> list[str]:
        return check_variants(expander.expand(Query(text, tuple(sub_queries))), text, self.most)
