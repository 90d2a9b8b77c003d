"""What some models were trained to read before a text: an instruction for queries, another for documents.

Without it such a model finds less, and does not say so. The words are those of the models' cards.
"""

from dataclasses import dataclass

_RETRIEVE = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Texts put before a query and before a document; empty is none."""

    query: str = ""
    document: str = ""

    def or_given(self, query: str | None, document: str | None) -> "Prefixes":
        """Replace what is given; an empty text is given too."""
        return Prefixes(self.query if query is None else query, self.document if document is None else document)

    @property
    def identity(self) -> str:
        """Tell these prefixes from others; empty where there is none."""
        return f":{self.query!r}:{self.document!r}" if self.query or self.document else ""


_BY_NAME = (
    # https://huggingface.co/intfloat/multilingual-e5-large
    ("e5-", Prefixes("query: ", "passage: ")),
    # https://huggingface.co/BAAI/bge-small-en-v1.5
    ("bge-small-en", Prefixes(_RETRIEVE)),
    ("bge-base-en", Prefixes(_RETRIEVE)),
    ("bge-large-en", Prefixes(_RETRIEVE)),
    # https://huggingface.co/BAAI/bge-small-zh-v1.5
    ("bge-small-zh", Prefixes("为这个句子生成表示以用于检索相关文章\uff1a")),
    # https://huggingface.co/mixedbread-ai/mxbai-embed-large-v1
    ("mxbai-embed", Prefixes(_RETRIEVE)),
    # https://huggingface.co/Snowflake/snowflake-arctic-embed-m
    ("snowflake-arctic-embed", Prefixes(_RETRIEVE)),
    # https://huggingface.co/nomic-ai/nomic-embed-text-v1.5
    ("nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    # https://huggingface.co/google/embeddinggemma-300m
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    # https://huggingface.co/Qwen/Qwen3-Embedding-0.6B
    (
        "qwen3-embedding",
        Prefixes(
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        ),
    ),
)


def known_prefixes(model: str) -> Prefixes:
    """Find what a model wants, by its name; none for a model that is not known."""
    name = model.rpartition("/")[2].casefold()
    return next((prefixes for part, prefixes in _BY_NAME if part in name), Prefixes())
