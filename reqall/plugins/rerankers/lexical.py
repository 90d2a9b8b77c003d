"""Reranks without a model: by what query and passage have in common, compared within the pool.

Each part is between 0 and 1 and the score is their weighted sum, so it can be read. Wording decides;
the other parts tell apart what it leaves close together.
"""

from collections.abc import Sequence

from pydantic import Field

from reqall import DocumentRanking, Passage, PluginOptions
from reqall.plugins.rerankers.agreement import cosines, nearness
from reqall.plugins.rerankers.terms import codes, normalised, pieces, stems, words


class LexicalOptions(PluginOptions):
    """Weights of the parts of a score; that of the wording is 1."""

    proximity: float = Field(
        default=0.1, ge=0, allow_inf_nan=False, description="Weight of neighbouring words of the query that are near."
    )
    codes: float = Field(
        default=0.1, ge=0, allow_inf_nan=False, description="Weight of identifiers, abbreviations, numbers with units."
    )
    name: float = Field(
        default=0.1, ge=0, allow_inf_nan=False, description="Weight of the wording of the document's name alone."
    )


class Lexical:
    """Orders passages by the agreement of wording, proximity, codes and name with the query."""

    def __init__(self, options: LexicalOptions) -> None:
        """Take the weights from the options."""
        self._weights = {
            "wording": 1.0,
            "proximity": options.proximity,
            "codes": options.codes,
            "name": options.name,
        }

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Order the passages; `parts` of the ranking are what each part adds to the score."""
        asked = normalised(query)
        texts = [normalised(passage.text) for passage in passages]
        asked_words, text_words = words(asked), [words(text) for text in texts]
        names = [words(normalised(passage.name)) for passage in passages]
        values = {
            "wording": cosines(asked_words, text_words, pieces),
            "proximity": nearness(stems(asked_words), [stems(each) for each in text_words]),
            "codes": cosines(codes(asked), [codes(text) for text in texts]),
            "name": cosines(asked_words, names, pieces),
        }
        parts = {
            passage.document_id: {part: self._weights[part] * values[part][place] for part in values}
            for place, passage in enumerate(passages)
        }
        return DocumentRanking.of(((key, sum(each.values())) for key, each in parts.items()), parts)
