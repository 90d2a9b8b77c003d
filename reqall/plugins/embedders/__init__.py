"""Built-in embedders: how a text becomes a vector."""

from collections.abc import Iterable

from reqall import Embedder, Registration, hookimpl
from reqall.plugins.embedders.minilm import MiniLMOptions, build_minilm
from reqall.plugins.embedders.openai import OpenAIEmbedder
from reqall.plugins.embedders.openai_options import OpenAIOptions


@hookimpl
def register_embedders() -> Iterable[Registration[Embedder]]:
    """Offer the embedded default model and OpenAI-compatible endpoints."""
    return [
        Registration(
            name="minilm",
            summary="all-MiniLM-L6-v2 (int8) on this machine: 384 dimensions, 256 tokens, no network",
            build=build_minilm,
            options=MiniLMOptions,
        ),
        Registration(
            name="openai",
            summary="an OpenAI, Azure OpenAI or compatible embeddings endpoint (EMBEDDING_* variables)",
            build=lambda options, _services: OpenAIEmbedder(options),
            options=OpenAIOptions,
        ),
    ]
