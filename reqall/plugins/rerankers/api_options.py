"""What the reranker `api` is told, and what follows from it: the address and its host."""

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from reqall import ConfigError, PluginOptions
from reqall.plugins.rerankers.qwen3_template import REQUIREMENTS_INSTRUCTION


class ApiOptions(PluginOptions):
    """Options of the reranker `api`; address, key and model come from the RERANKER_* variables."""

    base_url: str = Field(
        default="${RERANKER_BASE_URL}",
        description="Address of the API, such as https://api.cohere.com/v2, https://api.jina.ai/v1 or"
        " https://api.voyageai.com/v1. Queries and texts of items are sent there.",
    )
    api_key: SecretStr = Field(
        default=SecretStr("${RERANKER_API_KEY}"), description="The key; any word when the server wants none."
    )
    model: str = Field(default="${RERANKER_API_MODEL}", min_length=1, description="Name of the model.")
    style: Literal["rerank", "chat"] = Field(
        default="rerank",
        description="rerank asks `/rerank` for scores; chat asks `/chat/completions` of a language model for an order.",
    )
    instruction: str = Field(
        default=REQUIREMENTS_INSTRUCTION, min_length=1, description="Of chat: what counts as relevant, in a sentence."
    )
    max_tokens: int = Field(
        default=512, ge=16, description="Longest passage that is sent, in tokens of 3 bytes; the rest is cut."
    )
    window: int = Field(default=20, ge=2, le=100, description="Of chat: passages that are ordered at a time.")
    documents_per_search: int = Field(
        default=100, ge=1, le=1000, description="Passages that a search sends at most; the others follow as they came."
    )
    tokens_per_search: int = Field(default=100_000, ge=100, description="Tokens that a search sends at most.")
    documents_per_process: int = Field(
        default=100_000, ge=1, description="Passages that are sent until reqall is started again."
    )
    tokens_per_process: int = Field(
        default=50_000_000, ge=100, description="Tokens that are sent until reqall is started again."
    )
    timeout: float = Field(default=20, gt=0, description="Seconds that a request may take.")
    max_retries: int = Field(
        default=2, ge=0, le=10, description="Further tries after 408, 409, 429, 5xx and time-outs."
    )


def endpoint_key(options: ApiOptions) -> str:
    """Return the key. Raises ConfigError when no HTTP header can carry it."""
    key = options.api_key.get_secret_value().strip()
    if not (key and key.isascii() and key.isprintable()):
        raise ConfigError(
            "the key of the reranking endpoint is empty, or has characters that no HTTP header can carry",
            "Set RERANKER_API_KEY to the key alone; to any word when the server wants none.",
        )
    return key


def endpoint_host(options: ApiOptions) -> str:
    """Return the host that texts go to. Raises ConfigError for an address without one."""
    host = urlsplit(options.base_url).hostname
    if not re.match(r"https?://", options.base_url) or not host:
        raise ConfigError(
            "the address of the reranking endpoint does not begin with http:// or https:// and a host",
            "Set RERANKER_BASE_URL, for example to https://api.cohere.com/v2.",
        )
    return host
