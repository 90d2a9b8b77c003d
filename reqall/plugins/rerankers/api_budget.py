"""How much may be sent: in one search, and until the process ends."""

import threading
from collections.abc import Sequence

from reqall import RerankerError
from reqall.plugins.rerankers.api_options import ApiOptions

_BYTES_PER_TOKEN = 3
"""Prose has 4 to 5, in Chinese or Russian too: what is counted so is rather too much than too little."""


def cut(text: str, tokens: int) -> str:
    """Cut a text to so many tokens, as they are counted here."""
    content = text.encode(errors="replace")
    return content[: tokens * _BYTES_PER_TOKEN].decode(errors="ignore")


def count(text: str) -> int:
    """Count tokens by their bytes, one at least."""
    return max(-(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN), 1)


class SendingBudget:
    """What was sent by this process to one endpoint; thread-safe."""

    def __init__(self, options: ApiOptions) -> None:
        """Begin with nothing sent."""
        self._options = options
        self._lock = threading.Lock()
        self.documents = 0
        self.tokens = 0

    def admit(self, costs: Sequence[int], fixed: int) -> int:
        """Say how many of the first passages, at such costs and a fixed one in tokens, may be sent; they count as sent.

        Raises RerankerError when the process may not send even one.
        """
        options = self._options
        with self._lock:
            documents, tokens = 0, fixed
            for cost in costs[: options.documents_per_search]:
                is_spent = (
                    self.documents + documents >= options.documents_per_process
                    or self.tokens + tokens + cost > options.tokens_per_process
                )
                if is_spent and not documents:
                    raise RerankerError(
                        f"this process has sent {self.documents} passages and {self.tokens} tokens, as much as it may",
                        "Raise `documents_per_process` or `tokens_per_process`, or start reqall again.",
                    )
                if is_spent or tokens + cost > options.tokens_per_search:
                    break
                documents, tokens = documents + 1, tokens + cost
            if not documents:
                raise RerankerError(
                    f"the query and one passage take more than the {options.tokens_per_search} tokens of a search",
                    "Raise `tokens_per_search`, or lower `max_tokens`.",
                )
            self.documents += documents
            self.tokens += tokens
            return documents
