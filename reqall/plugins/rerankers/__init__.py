"""Built-in rerankers: how the best are ordered anew."""

from collections.abc import Iterable

from reqall import Registration, Reranker, hookimpl
from reqall.plugins.rerankers.api import build_api
from reqall.plugins.rerankers.api_options import ApiOptions
from reqall.plugins.rerankers.blend import Blend, BlendOptions
from reqall.plugins.rerankers.cross_encoder import CrossEncoderOptions, build_cross_encoder, cross_encoder_weights
from reqall.plugins.rerankers.lexical import Lexical, LexicalOptions
from reqall.plugins.rerankers.none import NoReranker
from reqall.plugins.rerankers.qwen3 import Qwen3Options, build_qwen3, qwen3_weights


@hookimpl
def register_rerankers() -> Iterable[Registration[Reranker]]:
    """Offer to keep the order, to compare words, to mix both orders, and models that read."""
    return [*_comparing(), *_reading()]


def _comparing() -> list[Registration[Reranker]]:
    return [
        Registration(
            name="none",
            summary="no reranking: the fused order stays",
            build=lambda _options, _services: NoReranker(),
            traits=frozenset({"identity"}),
        ),
        Registration(
            name="lexical",
            summary="wording, proximity, identifiers, numbers and name compared, without a model",
            build=lambda options, _services: Lexical(options),
            options=LexicalOptions,
        ),
        Registration(
            name="blend",
            summary="the fused order mixed with another reranker's, by place",
            build=lambda options, services: Blend(options, services.reranker(options.reranker)),
            options=BlendOptions,
        ),
    ]


def _reading() -> list[Registration[Reranker]]:
    return [
        Registration(
            name="qwen3",
            summary="Qwen3-Reranker on this machine (extra `qwen3`): a language model judges each passage, yes or no",
            build=build_qwen3,
            options=Qwen3Options,
            models=lambda options: [qwen3_weights(options)],
        ),
        Registration(
            name="cross_encoder",
            summary="a sequence-classification model on this machine, by ONNX Runtime or transformers",
            build=build_cross_encoder,
            options=CrossEncoderOptions,
            models=lambda options: [cross_encoder_weights(options)],
        ),
        Registration(
            name="api",
            summary="a Cohere, Jina or Voyage endpoint, or a language model as judge; texts go to RERANKER_BASE_URL",
            build=build_api,
            options=ApiOptions,
        ),
    ]
