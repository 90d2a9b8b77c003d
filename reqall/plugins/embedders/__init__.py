"""Built-in embedders: how a text becomes a vector."""

from collections.abc import Iterable

from reqall import Embedder, Registration, hookimpl
from reqall.plugins.embedders.fastembed import FastembedOptions, build_fastembed, fastembed_weights
from reqall.plugins.embedders.minilm import MiniLMOptions, build_minilm
from reqall.plugins.embedders.openai import OpenAIEmbedder
from reqall.plugins.embedders.openai_options import OpenAIOptions
from reqall.plugins.embedders.sentence_transformers import (
    SentenceTransformersOptions,
    build_sentence_transformers,
    sentence_transformers_weights,
)
from reqall.plugins.embedders.wordllama import WordLlamaOptions, build_wordllama


@hookimpl
def register_embedders() -> Iterable[Registration[Embedder]]:
    """Offer the embedded default model, models of other libraries, and OpenAI-compatible endpoints."""
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
        Registration(
            name="fastembed",
            summary="an ONNX model of fastembed's catalogue, or of a folder: bge, e5 and others (extra `fastembed`)",
            build=build_fastembed,
            options=FastembedOptions,
            models=fastembed_weights,
        ),
        Registration(
            name="wordllama",
            summary="static word vectors on this machine: much quicker than minilm, and weaker (extra `wordllama`)",
            build=build_wordllama,
            options=WordLlamaOptions,
        ),
        Registration(
            name="sentence_transformers",
            summary="a model of sentence-transformers, through PyTorch (extra `sentence-transformers`)",
            build=build_sentence_transformers,
            options=SentenceTransformersOptions,
            models=sentence_transformers_weights,
        ),
    ]
