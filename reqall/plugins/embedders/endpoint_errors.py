"""What is said of a failed request: enough to mend it, no key and no text that was sent."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reqall import EmbedderError

if TYPE_CHECKING:
    from openai import OpenAIError

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_REMEDIES = {
    400: "Check EMBEDDING_MODEL and EMBEDDING_DIMENSIONS; if a text was too long, lower `max_tokens`.",
    401: "Check EMBEDDING_API_KEY; gateways may want the key in another header: EMBEDDING_KEY_HEADER.",
    403: "Check what EMBEDDING_API_KEY may use, and EMBEDDING_MODEL.",
    404: "Check EMBEDDING_BASE_URL (as far as /v1), EMBEDDING_MODEL and, for Azure, EMBEDDING_API_VERSION.",
    422: "Check EMBEDDING_MODEL and EMBEDDING_DIMENSIONS; if a text was too long, lower `max_tokens`.",
    429: "Wait, lower `batch_size`, or raise the quota that belongs to EMBEDDING_API_KEY.",
}
_NO_ANSWER = "Check EMBEDDING_BASE_URL, the network and the proxy variables (HTTPS_PROXY, NO_PROXY)."
_SERVER = "Try again later; if it stays, check EMBEDDING_BASE_URL."
_NOT_EMBEDDINGS = "Check EMBEDDING_BASE_URL: it must be the address of the API, as far as /v1."


class Redactor:
    """Knows the endpoint's host and its key: names the one, never the other."""

    def __init__(self, url: str, key: str) -> None:
        self.host = urlsplit(url).hostname or "(no host in EMBEDDING_BASE_URL)"
        self._key = key

    def clean(self, text: str) -> str:
        """Replace the key, should anyone quote it."""
        return text.replace(self._key, "***")


def explain(error: "OpenAIError", model: str, redactor: Redactor) -> EmbedderError:
    """Turn what the client raised into an EmbedderError with a remedy.

    The answer's own message is left out: servers quote texts and keys in it. Its code is kept.
    """
    import openai

    where = f"the embedding endpoint {redactor.host}"
    if isinstance(error, openai.APIStatusError):
        code = error.code or error.type or ""
        known = f" ({code})" if _CODE.fullmatch(code) and redactor.clean(code) == code else ""
        remedy = _REMEDIES.get(error.status_code, _SERVER)
        return EmbedderError(f"{where} answered {error.status_code}{known} for the model {model}", remedy)
    if isinstance(error, openai.APITimeoutError):
        return EmbedderError(f"{where} did not answer in time", f"Raise `timeout`. {_NO_ANSWER}")
    if isinstance(error, openai.APIConnectionError):
        reason = redactor.clean(str(error.__cause__ or error))
        return EmbedderError(f"{where} cannot be reached: {reason}", _NO_ANSWER)
    return EmbedderError(f"{where} could not be asked ({type(error).__name__})", _SERVER)


def no_embeddings(error: Exception, redactor: Redactor) -> EmbedderError:
    """Say that an answer came and was something else: a proxy's page, another service's JSON."""
    what = f"the embedding endpoint {redactor.host} sent an answer that holds no embeddings ({type(error).__name__})"
    return EmbedderError(what, _NOT_EMBEDDINGS)
