"""Asks a language model over HTTP: OpenAI, Azure OpenAI and servers that speak the same API.

API: https://platform.openai.com/docs/api-reference/chat. Errors name the host and the status, never the key,
the question or the answer: servers quote them.
"""

import logging
import re
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reqall import PluginError
from reqall.plugins.expanders.chat_options import ChatOptions, endpoint_key, endpoint_url

if TYPE_CHECKING:
    from openai import Omit, OpenAI, OpenAIError

REMEMBERED = 256
"""Answers that are kept: a search that is repeated, as for its next page, has the same texts."""

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_REMEDIES = {
    400: "Check CHAT_MODEL and the option `parameters`.",
    401: "Check CHAT_API_KEY; gateways may want the key in another header: CHAT_KEY_HEADER.",
    403: "Check what CHAT_API_KEY may use, and CHAT_MODEL.",
    404: "Check CHAT_BASE_URL (as far as /v1), CHAT_MODEL and, for Azure, CHAT_API_VERSION.",
    429: "Wait, or raise the quota that belongs to CHAT_API_KEY.",
}
_NO_ANSWER = "Check CHAT_BASE_URL, the network and the proxy variables (HTTPS_PROXY, NO_PROXY)."
_SERVER = "Try again later; if it stays, check CHAT_BASE_URL."

_log = logging.getLogger("reqall.chat")


class Chat:
    """Puts one question at a time; the client is built at first use. Safe to use from several threads."""

    def __init__(self, options: ChatOptions, user: str) -> None:
        """Check the settings; `user` is who asks. Raises ConfigError."""
        self._options = options
        self._key = endpoint_key(options)
        self._url = endpoint_url(options)
        self.host = urlsplit(self._url).hostname or "(no host in CHAT_BASE_URL)"
        self._lock = threading.Lock()
        self._built: OpenAI | None = None
        self._answers: dict[tuple[str, str], str] = {}
        _log.info("%s sends query texts to %s", user, self.host)

    def ask(self, instruction: str, text: str) -> str:
        """Return the answer; that of the same question is remembered. Raises PluginError."""
        text = text.encode("utf-8", "replace").decode()  # half a character cannot be sent
        question = (instruction, text)
        with self._lock:
            if (known := self._answers.get(question)) is not None:
                return known
        answer = self._request(instruction, text)
        with self._lock:
            self._answers[question] = answer
            while len(self._answers) > REMEMBERED:
                del self._answers[next(iter(self._answers))]
        return answer

    def _request(self, instruction: str, text: str) -> str:
        import openai

        messages: Any = [{"role": "system", "content": instruction}, {"role": "user", "content": text}]
        try:
            response = self._client().chat.completions.create(
                model=self._options.model,
                messages=messages,
                extra_headers=self._headers(),
                extra_body=dict(self._options.parameters) or None,
            )
            content = response.choices[0].message.content
        except openai.OpenAIError as error:
            # The cause may quote the question or the key.
            raise self._explained(error) from None
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            raise self._unusable(f"that is none ({type(error).__name__})") from None
        if not isinstance(content, str) or not content.strip():
            raise self._unusable("without text")
        return content

    def _explained(self, error: "OpenAIError") -> PluginError:
        import openai

        where = f"the chat endpoint {self.host}"
        if isinstance(error, openai.APIStatusError):
            code = error.code or error.type or ""
            known = f" ({code})" if _CODE.fullmatch(code) and self._key not in code else ""
            remedy = _REMEDIES.get(error.status_code, _SERVER)
            return PluginError(
                f"{where} answered {error.status_code}{known} for the model {self._options.model}", remedy
            )
        if isinstance(error, openai.APITimeoutError):
            return PluginError(f"{where} did not answer in time", f"Raise `timeout`. {_NO_ANSWER}")
        if isinstance(error, openai.APIConnectionError):
            return PluginError(f"{where} cannot be reached", _NO_ANSWER)
        return PluginError(f"{where} could not be asked ({type(error).__name__})", _SERVER)

    def _unusable(self, what: str) -> PluginError:
        return PluginError(
            f"the chat endpoint {self.host} sent an answer {what} (model {self._options.model})",
            "Check CHAT_BASE_URL, the address of the API as far as /v1, and CHAT_MODEL.",
        )

    def _headers(self) -> dict[str, "str | Omit"]:
        import openai

        header = self._options.key_header or ("api-key" if self._options.api_version else "")
        return {"Authorization": openai.Omit(), header: self._key} if header else {}

    def _client(self) -> "OpenAI":
        with self._lock:
            if self._built is None:
                import openai

                version = self._options.api_version
                self._built = openai.OpenAI(
                    api_key=self._key,
                    base_url=self._url,
                    default_query={"api-version": version} if version else None,
                    timeout=self._options.timeout,
                    max_retries=self._options.max_retries,
                )
            return self._built
