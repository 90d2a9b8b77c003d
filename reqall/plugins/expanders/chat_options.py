"""What the expanders that ask a language model are told: address, key, model; and what follows from it."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pydantic import Field, SecretStr

from reqall import ConfigError, PluginOptions

OPENAI_URL = "https://api.openai.com/v1"
"""Where requests go when no base_url is given."""


class ChatOptions(PluginOptions):
    """Options of expanders that ask a language model; the defaults come from the CHAT_* variables."""

    base_url: str = Field(
        default="${CHAT_BASE_URL:-}",
        description="Address of the API, as far as /v1; with api_version, the Azure endpoint. Empty: OpenAI.",
    )
    api_key: SecretStr = Field(
        default=SecretStr("${CHAT_API_KEY}"), description="The key; any word when the server wants none."
    )
    model: str = Field(
        default="${CHAT_MODEL}", min_length=1, description="Name of the model; on Azure, of the deployment."
    )
    api_version: str = Field(
        default="${CHAT_API_VERSION:-}",
        description="Azure OpenAI's api-version, for addresses by deployment. Empty: OpenAI's addresses.",
    )
    key_header: str = Field(
        default="${CHAT_KEY_HEADER:-}",
        pattern=r"^[A-Za-z0-9-]*$",
        description="Header that carries the key instead of `Authorization: Bearer`, for example api-key.",
    )
    parameters: Mapping[str, Any] = Field(
        default_factory=dict, description="Further parameters of the request, such as temperature or max_tokens."
    )
    timeout: float = Field(default=10, gt=0, description="Seconds that a request may take.")
    max_retries: int = Field(
        default=1, ge=0, le=20, description="Further tries after 408, 409, 429, 5xx and time-outs."
    )


def endpoint_key(options: ChatOptions) -> str:
    """Return the key. Raises ConfigError when no HTTP header can carry it."""
    key = options.api_key.get_secret_value().strip()
    if not (key and key.isascii() and key.isprintable()):
        raise ConfigError(
            "the key of the chat endpoint is empty, or has characters that no HTTP header can carry",
            "Set CHAT_API_KEY to the key alone; to any word when the server wants none.",
        )
    return key


def endpoint_url(options: ChatOptions) -> str:
    """Return the address below which `/chat/completions` lies. Raises ConfigError."""
    base = (options.base_url or OPENAI_URL).rstrip("/")
    if options.api_version and not options.base_url:
        raise ConfigError(
            "CHAT_API_VERSION is set, CHAT_BASE_URL is not",
            "Set CHAT_BASE_URL to the Azure endpoint, https://<resource>.openai.azure.com, "
            "or take CHAT_API_VERSION away.",
        )
    if not re.match(r"https?://[^/\s]+", base):
        raise ConfigError(
            "the address of the chat endpoint does not begin with http:// or https:// and a host",
            "Set CHAT_BASE_URL, for example to https://api.openai.com/v1.",
        )
    if not options.api_version or "/openai/deployments/" in base or base.endswith("/v1"):
        return base
    return f"{base.removesuffix('/openai')}/openai/deployments/{quote(options.model, safe='')}"
