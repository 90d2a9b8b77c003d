"""Rewrites by a language model: the same question from several angles, where the client sends no sub-queries.

As in RAG-Fusion (Rackauckas 2024, arXiv:2402.03367).
"""

import re
from collections.abc import Iterator, Sequence

from pydantic import Field

from reqall import Query
from reqall.plugins.expanders.chat import Chat
from reqall.plugins.expanders.chat_options import ChatOptions
from reqall.plugins.expanders.distinct import LIMIT, distinct

INSTRUCTION = (
    "You help to search a collection of engineering items: requirements, test cases and defects. Write {count} other "
    "queries for what the user is looking for, from different angles and in other words, in the language of the "
    "query. Keep identifiers and numbers as they are. Write each on a line of its own, and nothing else."
)
"""What the model is told beside the query."""

_MARK = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,2}[.):])\s+")
_LONGEST = 500


class MultiQueryOptions(ChatOptions):
    """Options of `multi_query`."""

    count: int = Field(default=3, ge=1, le=10, description="Rewrites that the model is asked for; more are not used.")
    instruction: str = Field(
        default=INSTRUCTION,
        min_length=1,
        description="What the model is told beside the query; `{count}` stands for the number of rewrites.",
    )


class MultiQuery:
    """Adds the model's rewrites where the client has sent none."""

    def __init__(self, options: MultiQueryOptions) -> None:
        """Check the settings; nothing is asked. Raises ConfigError."""
        self._options = options
        self._chat = Chat(options, "multi_query")

    @property
    def sends_to(self) -> str:
        """The host that query texts go to."""
        return self._chat.host

    def expand(self, query: Query) -> Sequence[str]:
        """Return the user's text and the client's sub-queries, or without any the model's. Raises PluginError."""
        given = distinct([query.text, *query.sub_queries])
        if len(given) > 1 or not query.text.strip():
            return given
        instruction = self._options.instruction.replace("{count}", str(self._options.count))
        rewrites = _lines(self._chat.ask(instruction, query.text))
        return distinct([query.text, *rewrites], max(LIMIT, 1 + self._options.count))[: 1 + self._options.count]


def _lines(answer: str) -> Iterator[str]:
    """Read one rewrite per line, without a number or a mark before it and quotes around it."""
    for line in answer.splitlines():
        yield _MARK.sub("", line).strip().strip('"').strip()[:_LONGEST]
