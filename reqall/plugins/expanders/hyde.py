"""HyDE: a language model writes the item that would answer, and that is searched with too.

Gao, Ma, Lin and Callan 2023 (Precise zero-shot dense retrieval without relevance labels,
doi:10.18653/v1/2023.acl-long.99). There the vectors are averaged; here the rankings are fused.
"""

from collections.abc import Sequence

from pydantic import Field

from reqall import Query
from reqall.plugins.expanders.chat import Chat
from reqall.plugins.expanders.chat_options import ChatOptions
from reqall.plugins.expanders.distinct import LIMIT, distinct

INSTRUCTION = (
    "You help to search a collection of engineering items: requirements, test cases and defects. Write the text of "
    "one item that would answer the user's query, in the language of the query, in 30 to 80 words, in the style of a "
    "specification. Write that text only. If you do not know a value, leave it out."
)
"""What the model is told beside the query."""


class HydeOptions(ChatOptions):
    """Options of `hyde`."""

    instruction: str = Field(default=INSTRUCTION, min_length=1, description="What the model is told beside the query.")
    most_characters: int = Field(default=2000, ge=1, description="Longest text that is searched with; the rest is cut.")


class Hyde:
    """Adds one text: an item as it might be. For vector indexes."""

    def __init__(self, options: HydeOptions) -> None:
        """Check the settings; nothing is asked. Raises ConfigError."""
        self._options = options
        self._chat = Chat(options, "hyde")

    @property
    def sends_to(self) -> str:
        """The host that query texts go to."""
        return self._chat.host

    def expand(self, query: Query) -> Sequence[str]:
        """Return the user's text, the client's sub-queries and the item. Raises PluginError."""
        given = distinct([query.text, *query.sub_queries])
        if not query.text.strip():
            return given
        item = " ".join(self._chat.ask(self._options.instruction, query.text).split())
        return distinct([*given, item[: self._options.most_characters]], LIMIT + 1)
