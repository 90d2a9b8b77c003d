"""Reranking over HTTP: endpoints for reranking, or a language model as a judge. Texts leave this machine."""

import logging
import math
import time
from collections.abc import Sequence

from reqall import DocumentRanking, ModelStore, Passage, Services
from reqall.plugins.rerankers.api_budget import SendingBudget, count, cut
from reqall.plugins.rerankers.api_endpoint import Endpoint
from reqall.plugins.rerankers.api_judge import SYSTEM, order_in, question, windows
from reqall.plugins.rerankers.api_options import ApiOptions
from reqall.plugins.rerankers.ordering import ranking

_log = logging.getLogger("reqall.rerankers.api")

_QUERY_TOKENS = 2000
_TIMES_SENT = {"rerank": 1, "chat": 2}
"""How often a passage is sent: the windows of a judge overlap by half."""


class ApiReranker:
    """Sends the first passages, as many as the budget allows; the others follow them as they came."""

    def __init__(self, options: ApiOptions, models: ModelStore) -> None:
        """Ask nothing yet. Raises ConfigError."""
        self._options = options
        self._endpoint = Endpoint(options)
        self._budget = models.shared(("api budget", options.base_url, options.model), lambda: SendingBudget(options))
        self._is_told = False

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Order the passages; those that the budget does not allow follow as they came. Raises RerankerError."""
        if not passages:
            return ranking([], [])
        scores = self._scores(query, passages, math.inf)
        lowest, rest = min(scores), len(passages) - len(scores)
        return ranking(passages, [*scores, *(lowest - place for place in range(1, rest + 1))])

    def rerank_within(self, query: str, passages: Sequence[Passage], seconds: float) -> DocumentRanking:
        """Order the first passages that the budget allows; no request gets more time than is left."""
        scores = self._scores(query, passages, seconds) if passages else []
        return ranking(passages[: len(scores)], scores)

    def _scores(self, query: str, passages: Sequence[Passage], seconds: float) -> list[float]:
        """Score the first passages, one at least."""
        options = self._options
        asked = cut(query, _QUERY_TOKENS)
        # The APIs refuse a whole request for one empty text.
        texts = [cut(passage.text, options.max_tokens) or " " for passage in passages]
        costs = [count(text) * _TIMES_SENT[options.style] for text in texts]
        allowed = texts[: self._budget.admit(costs, count(asked))]
        if not self._is_told:
            self._is_told = True
            _log.warning("the reranker api sends queries and texts of items to %s", self._endpoint.host)
        if options.style == "rerank":
            return self._endpoint.scores(asked or " ", allowed, seconds)
        order = self._judged(asked, allowed, time.monotonic() + seconds)
        places = {row: place for place, row in enumerate(order)}
        return [1 - places[row] / len(order) for row in range(len(order))]

    def _judged(self, query: str, texts: Sequence[str], end: float) -> list[int]:
        """Let a language model order the texts; when the time is up the order stays as far as it has come."""
        order = list(range(len(texts)))
        for start, stop in windows(len(order), self._options.window):
            left = end - time.monotonic()
            if left <= 0 and stop < len(order):
                break
            rows = order[start:stop]
            asked = question(self._options.instruction, query, [texts[row] for row in rows])
            found = order_in(self._endpoint.chat(SYSTEM, asked, left), len(rows))
            if found is None:
                raise self._endpoint.unusable("no order of the passages")
            order[start:stop] = [rows[place] for place in found]
        return order


def build_api(options: ApiOptions, services: Services) -> ApiReranker:
    """Build the reranker. Raises ConfigError for an address or a key that cannot be used."""
    return ApiReranker(options, services.models)
