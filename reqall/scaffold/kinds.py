"""What the templates say of each kind of component."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """What a new component of a kind does, and a query that shows it.

    `libraries` are requirements beside reqall's, `required` options that have no default, as `name=value`.
    """

    summary: str
    query: str
    libraries: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


NEW: Mapping[str, Kind] = {
    "source": Kind("the rows of a CSV file", "pressure of the brake", required=("path=example/items.csv",)),
    "chunker": Kind("a piece for each paragraph", "value out of range"),
    "embedder": Kind("words are near whose spelling is, without a model", "presure of the brke", ("numpy>=1.26",)),
    "expander": Kind("searches also with abbreviations spelt out", "batt"),
    "recaller": Kind("shared words in memory, the rarer the better", "pressure of the brake"),
    "fuser": Kind("the sum of weight / rank ** power", "pressure of the brake"),
    "reranker": Kind("by the share of the query's words that a passage holds", "maximum volume at a distance"),
}
"""What is written for each kind."""
