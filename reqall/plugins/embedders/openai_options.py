"""What the openai embedder is told, and what follows from it: address, key, length of the vectors."""

import re
from typing import Annotated
from urllib.parse import quote

from pydantic import BeforeValidator, Field, SecretStr

from reqall import ConfigError, PluginOptions

OPENAI_URL = "https://api.openai.com/v1"
"""Where requests go when no base_url is given."""

NATIVE_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Length of the vectors of OpenAI's models when nothing else is asked for."""


def _empty_is_none(value: object) -> object:
    return None if value == "" else value


class OpenAIOptions(PluginOptions):
    """Options of the embedder `openai`; the defaults come from the EMBEDDING_* variables."""

    base_url: str = Field(
        default="${EMBEDDING_BASE_URL:-}",
        description="Address of the API, as far as /v1; with api_version, the Azure endpoint. Empty: OpenAI.",
    )
    api_key: SecretStr = Field(
        default=SecretStr("${EMBEDDING_API_KEY}"),
        description="The key; any word when the server wants none.",
    )
    model: str = Field(
        default="${EMBEDDING_MODEL:-text-embedding-3-small}",
        min_length=1,
        description="Name of the model; on Azure, of the deployment.",
    )
    dimensions: Annotated[int | None, BeforeValidator(_empty_is_none)] = Field(
        default="${EMBEDDING_DIMENSIONS:-}",
        validate_default=True,
        ge=1,
        description="Length of the vectors. Empty: the native length of OpenAI's models.",
    )
    api_version: str = Field(
        default="${EMBEDDING_API_VERSION:-}",
        description="Azure OpenAI's api-version, for addresses by deployment. Empty: OpenAI's addresses.",
    )
    key_header: str = Field(
        default="${EMBEDDING_KEY_HEADER:-}",
        pattern=r"^[A-Za-z0-9-]*$",
        description="Header that carries the key instead of `Authorization: Bearer`, for example api-key.",
    )
    batch_size: int = Field(default=128, ge=1, le=2048, description="Texts per request.")
    max_tokens: int = Field(default=8191, ge=8, description="Longest text that the model reads whole, in tokens.")
    query_prefix: str = Field(
        default="", description="Put before a text that is searched with; models of OpenAI want none, others may."
    )
    document_prefix: str = Field(
        default="", description="Put before a text to be found; models of OpenAI want none, others may."
    )
    timeout: float = Field(default=60, gt=0, description="Seconds that a request may take.")
    max_retries: int = Field(
        default=4, ge=0, le=20, description="Further tries after 408, 409, 429, 5xx and time-outs."
    )


def endpoint_key(options: OpenAIOptions) -> str:
    """Return the key. Raises ConfigError when no HTTP header can carry it."""
    key = options.api_key.get_secret_value().strip()
    if not (key and key.isascii() and key.isprintable()):
        raise ConfigError(
            "the key of the embedding endpoint is empty, or has characters that no HTTP header can carry",
            "Set EMBEDDING_API_KEY to the key alone; to any word when the server wants none.",
        )
    return key


def endpoint_url(options: OpenAIOptions) -> str:
    """Return the address below which `/embeddings` lies. Raises ConfigError."""
    base = (options.base_url or OPENAI_URL).rstrip("/")
    if options.api_version and not options.base_url:
        raise ConfigError(
            "EMBEDDING_API_VERSION is set, EMBEDDING_BASE_URL is not",
            "Set EMBEDDING_BASE_URL to the Azure endpoint, https://<resource>.openai.azure.com, "
            "or take EMBEDDING_API_VERSION away.",
        )
    if not re.match(r"https?://[^/\s]+", base):
        raise ConfigError(
            "the address of the embedding endpoint does not begin with http:// or https:// and a host",
            "Set EMBEDDING_BASE_URL, for example to https://api.openai.com/v1.",
        )
    if not options.api_version or "/openai/deployments/" in base or base.endswith("/v1"):
        return base
    return f"{base.removesuffix('/openai')}/openai/deployments/{quote(options.model, safe='')}"


def vector_length(options: OpenAIOptions) -> int:
    """Return the length of the vectors. Raises ConfigError when neither options nor model tell it."""
    dimensions = options.dimensions or NATIVE_DIMENSIONS.get(options.model)
    if dimensions is None:
        raise ConfigError(
            f"the length of the vectors of the embedding model {options.model!r} is not known",
            "Set EMBEDDING_DIMENSIONS (or the option `dimensions`) to it.",
        )
    return dimensions
