"""What a configuration may say of the recaller."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from reqall import PluginOptions, Stored

Language: TypeAlias = Literal[
    "none",
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
]
"""Languages that the engine has a Snowball stemmer for."""

WITHOUT_STOP_WORDS: frozenset[Language] = frozenset({"none", "arabic", "greek", "romanian", "tamil", "turkish"})
"""Those of them that the engine has no list of stop words for."""


class TantivyOptions(PluginOptions):
    """Options of `tantivy`. Only `language` changes what is stored; the others may change at any time."""

    language: Annotated[Language, Stored()] = Field(
        default="english", description="Language whose endings are cut off words; 'none' keeps words as they are."
    )
    key_weight: float = Field(
        default=0.5, ge=0, description="Weight of the BM25 score of words in a document's key; 0 = not searched."
    )
    name_weight: float = Field(
        default=1.0, ge=0, description="Weight of the BM25 score of words in a document's name; 0 = not searched."
    )
    text_weight: float = Field(default=1.0, gt=0, description="Weight of the BM25 score of words in a chunk's text.")
    stop_words: bool = Field(
        default=True,
        description="Leave words that say nothing (the, of) out of a query; the engine has no list for some languages.",
    )
    writer_memory_mb: int = Field(
        default=50,
        ge=15,
        le=4000,
        description="Memory for a batch on its way to disk, in MB; more is written in parts.",
    )
    lock_seconds: float = Field(
        default=10.0, ge=0, description="How long a batch waits while another process writes to the same index."
    )
