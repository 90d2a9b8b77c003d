"""An endpoint that reranks or judges: requests, answers, and what is said of those that fail.

APIs: https://docs.cohere.com/reference/rerank, https://jina.ai/reranker,
https://docs.voyageai.com/reference/reranker-api and https://platform.openai.com/docs/api-reference/chat.
No key and no text stands in any error.
"""

import math
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reqall import RerankerError
from reqall.plugins.rerankers.api_options import ApiOptions, endpoint_host, endpoint_key

if TYPE_CHECKING:
    from openai import OpenAI, OpenAIError

_LEAST_SECONDS = 0.1

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_REMEDIES = {
    400: "Check RERANKER_API_MODEL; if a text was too long, lower `max_tokens` or `documents_per_search`.",
    401: "Check RERANKER_API_KEY.",
    403: "Check what RERANKER_API_KEY may use, and RERANKER_API_MODEL.",
    404: "Check RERANKER_BASE_URL (as far as /v1 or /v2), RERANKER_API_MODEL and the option `style`.",
    422: "Check RERANKER_API_MODEL; if a text was too long, lower `max_tokens` or `documents_per_search`.",
    429: "Wait, lower `documents_per_search`, or raise the quota that belongs to RERANKER_API_KEY.",
}
_NO_ANSWER = "Check RERANKER_BASE_URL, the network and the proxy variables (HTTPS_PROXY, NO_PROXY)."
_SERVER = "Try again later; if it stays, check RERANKER_BASE_URL."
_NO_RANKING = "Check RERANKER_BASE_URL and the option `style`: does this address answer such requests?"


class Endpoint:
    """One address; the client is built at first use. Thread-safe."""

    def __init__(self, options: ApiOptions) -> None:
        """Ask nothing yet. Raises ConfigError for an address or a key that cannot be used."""
        self._options = options
        self.host = endpoint_host(options)
        self._key = endpoint_key(options)
        self._lock = threading.Lock()
        self._built: OpenAI | None = None

    def scores(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        """Ask `/rerank` for a score for each text. Raises RerankerError."""
        import openai

        body = {"model": self._options.model, "query": query, "documents": list(texts)}
        try:
            answer = self._client(seconds).post("/rerank", cast_to=object, body=body)
        except openai.OpenAIError as error:
            raise self._explained(error) from None
        except (ValueError, TypeError, AttributeError) as error:  # an answer that is no JSON
            raise self.unusable(type(error).__name__) from None
        return self._read(answer, len(texts))

    def chat(self, system: str, user: str, seconds: float) -> str:
        """Ask `/chat/completions` for one answer. Raises RerankerError."""
        import openai

        messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            answer = self._client(seconds).chat.completions.create(model=self._options.model, messages=messages)
            return answer.choices[0].message.content or ""
        except openai.OpenAIError as error:
            raise self._explained(error) from None
        except (ValueError, TypeError, AttributeError, IndexError) as error:  # an answer that is no JSON, or another
            raise self.unusable(type(error).__name__) from None

    def _read(self, answer: Any, count: int) -> list[float]:
        """Read Cohere's and Jina's `results`, or Voyage's `data`: an index and a score for each text."""
        try:
            listed = answer["results"] if "results" in answer else answer["data"]
            found = {int(each["index"]): float(each["relevance_score"]) for each in listed}
        except (KeyError, TypeError, ValueError) as error:
            raise self.unusable(type(error).__name__) from None
        if sorted(found) != list(range(count)):
            raise self.unusable(f"{len(found)} scores for {count} texts, or not one for each")
        if not all(map(math.isfinite, found.values())):
            raise self.unusable("scores that are no numbers")
        return [found[place] for place in range(count)]

    def unusable(self, why: str) -> RerankerError:
        """Say that an answer came and was something else: a proxy's page, another service's JSON."""
        return RerankerError(
            f"the reranking endpoint {self.host} sent an answer that holds no ranking ({why})", _NO_RANKING
        )

    def _explained(self, error: "OpenAIError") -> RerankerError:
        """Turn what the client raised into an error with a remedy; the server's own words may quote texts and keys."""
        import openai

        where = f"the reranking endpoint {self.host}"
        if isinstance(error, openai.APIStatusError):
            code = str(error.code or error.type or "")
            told = f" ({code})" if _CODE.fullmatch(code) and self._key not in code else ""
            remedy = _REMEDIES.get(error.status_code, _SERVER)
            what = f"{where} answered {error.status_code}{told} for the model {self._options.model}"
            return RerankerError(what, remedy)
        if isinstance(error, openai.APITimeoutError):
            return RerankerError(f"{where} did not answer in time", f"Raise `timeout`. {_NO_ANSWER}")
        if isinstance(error, openai.APIConnectionError):
            return RerankerError(f"{where} cannot be reached ({type(error.__cause__ or error).__name__})", _NO_ANSWER)
        return RerankerError(f"{where} could not be asked ({type(error).__name__})", _SERVER)

    def _client(self, seconds: float) -> "OpenAI":
        with self._lock:
            if self._built is None:
                import openai

                self._built = openai.OpenAI(
                    api_key=self._key, base_url=self._options.base_url, max_retries=self._options.max_retries
                )
        return self._built.with_options(timeout=max(min(self._options.timeout, seconds), _LEAST_SECONDS))
