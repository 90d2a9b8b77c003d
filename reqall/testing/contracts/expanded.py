"""What is checked of the texts that an expander gives, whatever it made them from."""

from collections.abc import Sequence
from math import inf

from reqall import Variant

MOST_TEXTS = 20
"""Most texts of one question, the user's own included: each costs a search of every index."""


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
