"""What expanders keep that read a first search, or send texts to another machine."""

import re
from typing import Any

import pytest

from reqall import Document, FoundDocument, Query
from reqall.testing.contracts.expanded import MOST_TEXTS, check_variants


class FeedbackContract:
    """Laws of `SupportsFeedback`. Inherit it beside `ExpanderContract`, whose fixture it uses."""

    @pytest.mark.parametrize("count", [0, 1, 30])
    def test_what_a_first_search_found_is_read(self, expander: Any, count: int) -> None:
        """It may have found nothing, or any number of documents, of any script and score; twice alike."""
        texts = ("the login timeout is 30 s", "Die Sitzung endet nach 30 s", "\u767b\u5f55\u8d85\u65f6", "")
        found = [FoundDocument(_document(n, texts[n % 4]), 1.0 - n / 20) for n in range(count)]
        query = Query("login timeout", ("session expiry", "user logout"))
        first, again = (list(expander.expand_from(query, list(found))) for _ in range(2))
        assert first == again, "the same documents gave other texts"
        check_variants(first, query.text, MOST_TEXTS)


class DisclosureContract:
    """Laws of `SupportsDisclosure`. Inherit it beside `ExpanderContract`, whose fixture it uses."""

    def test_the_host_alone_is_named(self, expander: Any) -> None:
        """Neither an address with a path nor a key."""
        assert re.fullmatch(r"[^\s/@?]+", expander.sends_to), "sends_to is a host, nothing else"


def _document(number: int, text: str) -> Document:
    return Document(
        f"s:{number}", "s", "s:1", f"P-{number}", "t", "Requirement", f"Name {number}", sections={"s": text}
    )
