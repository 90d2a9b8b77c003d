"""A cross-encoder on this machine: a model for sequence classification that reads query and passage at once.

Paper: Nogueira and Cho 2019, "Passage Re-ranking with BERT" (https://arxiv.org/abs/1901.04085).
"""

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pydantic import Field

from reqall import DocumentRanking, HubModel, ModelStore, Passage, PluginError, PluginOptions, RerankerError, Services
from reqall.plugins.rerankers.cross_encoder_runtimes import OnnxRuntime, Runtime, TorchRuntime
from reqall.plugins.rerankers.devices import DEVICE_PATTERN, Dtype
from reqall.plugins.rerankers.ordering import ranking
from reqall.plugins.rerankers.pair_encoding import PairEncoder

_QUERY = "How is the pressure of the pump measured?"
_RELEVANT = "The pressure of the pump is measured with a sensor at its outlet, ten times a second."
_IRRELEVANT = "Invoices are sent to the customer's address within fourteen days."
_TWO = 2


class CrossEncoderOptions(PluginOptions):
    """Options of the reranker `cross_encoder`."""

    model: str = Field(
        default="cross-encoder/ms-marco-MiniLM-L6-v2",
        min_length=1,
        description="A sequence-classification model of the hub with one label, or two of which the second says yes;"
        " or a folder that holds one.",
    )
    revision: str = Field(default="main", min_length=1, description="Branch, tag or commit of the hub's repository.")
    runtime: Literal["onnx", "transformers"] = Field(
        default="onnx", description="onnx runs the file `onnx_file`; transformers (extra `cross-encoder`) the weights."
    )
    onnx_file: str = Field(
        default="onnx/model.onnx", min_length=1, description="The exported model, in its repository or folder."
    )
    max_tokens: int = Field(
        default=512, ge=16, le=32768, description="Tokens that are read of query and passage; the longer is cut."
    )
    batch_size: int = Field(
        default=16, ge=1, le=1024, description="Passages that are scored before the search looks at its deadline."
    )
    batch_tokens: int = Field(
        default=8192, ge=16, description="Tokens that are computed at a time, padding included; more need more memory."
    )
    threads: int = Field(default=0, ge=0, description="Threads of onnx; 0 is one per processor, at most 4.")
    device: str = Field(
        default="auto", pattern=DEVICE_PATTERN, description="Of transformers: auto, cpu, mps, cuda or cuda:N."
    )
    dtype: Dtype = Field(
        default="auto", description="Of transformers: auto is bfloat16 on cuda and mps, float32 on the processor."
    )
    self_check: bool = Field(
        default=True, description="Judge two known pairs at load, and refuse the model when it is wrong about them."
    )


class CrossEncoderReranker:
    """Scores each passage by itself; the model is found and loaded at first use, once for all that name it."""

    def __init__(self, options: CrossEncoderOptions, models: ModelStore) -> None:
        """Load nothing yet. Raises ConfigError for a name that no model can have."""
        self._options = options
        self._models = models
        self._model = cross_encoder_weights(options)
        self._model.local  # noqa: B018 - reading it checks the name
        self._refusal: RerankerError | None = None

    @property
    def identity(self) -> str:
        """What a score depends on, apart from query and passage; empty while the model is not there."""
        options, files = self._options, self._models.fingerprint(self._model)
        ran = (options.runtime, options.dtype, options.device) if options.runtime == "transformers" else ("onnx",)
        return f"cross_encoder:{files}:{options.max_tokens}:{':'.join(ran)}" if files else ""

    @property
    def batch_size(self) -> int:
        """Passages that are scored at a time."""
        return self._options.batch_size

    def score(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """Return for each passage how likely it is relevant, 0 to 1. Raises ModelError, RerankerError."""
        if not passages:
            return []
        return self._scorer().score(query, [passage.text for passage in passages])

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Order by the scores. Raises ModelError while the weights are not there, RerankerError."""
        return ranking(passages, self.score(query, passages))

    def _scorer(self) -> "_Scorer":
        if self._refusal is not None:
            raise self._refusal
        folder = self._models.folder(self._model)
        try:
            return self._models.shared(("cross_encoder", folder, self._options), lambda: self._load(folder))
        except RerankerError as error:
            self._refusal = error  # it would be the same again, after as long a load
            raise

    def _load(self, folder: Path) -> "_Scorer":
        options = self._options
        encoder = PairEncoder(folder, options.max_tokens)
        runtime: Runtime
        if options.runtime == "onnx":
            runtime = OnnxRuntime(folder / options.onnx_file, options.threads)
        else:
            runtime = TorchRuntime(folder, options.device, options.dtype)
        scorer = _Scorer(encoder, runtime, options.batch_tokens)
        if options.self_check:
            _self_check(scorer, options.model)
        return scorer


class _Scorer:
    """A loaded model and its tokenizer."""

    def __init__(self, encoder: PairEncoder, runtime: Runtime, batch_tokens: int) -> None:
        self._encoder = encoder
        self._runtime = runtime
        self._batch_tokens = batch_tokens

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        scores = [math.nan] * len(passages)
        for batch in self._encoder.batches(query, passages, self._batch_tokens):
            for row, labels in zip(batch.rows, self._runtime.logits(batch.inputs).tolist(), strict=True):
                scores[row] = _probability(labels)
        if not all(map(math.isfinite, scores)):
            raise RerankerError("the model's scores are no numbers", "Set `dtype` to float32, or take another export.")
        return scores


def _probability(labels: "Sequence[float] | float") -> float:
    """Return P(relevant): the logistic of one label, or the softmax of the second of two. Raises RerankerError."""
    logits = [labels] if isinstance(labels, float) else list(labels)
    if len(logits) > _TWO:
        raise RerankerError(
            f"the model has {len(logits)} labels; a reranker has one, or two of which the second says yes",
            "Name a model that was trained to rerank.",
        )
    margin = logits[-1] - (logits[0] if len(logits) == _TWO else 0.0)
    # In the form that cannot overflow; near 1 the logits' own differences would be lost, so ties are broken later.
    return 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))


def _self_check(scorer: _Scorer, model: str) -> None:
    """Refuse a model that takes an answer for less relevant than a text about something else."""
    good, bad = scorer.score(_QUERY, [_RELEVANT, _IRRELEVANT])
    if good <= bad:
        raise RerankerError(
            f"the model {model} failed its self-check: a passage that answers its query gets {good:.3f},"
            f" one that has nothing to do with it {bad:.3f}",
            "Name a model that was trained to rerank; `reqall models verify` checks files of a hub.",
        )


def cross_encoder_weights(options: CrossEncoderOptions) -> HubModel:
    """Say which files the reranker needs."""
    if options.runtime == "onnx":
        files = ("config.json", "tokenizer.json", options.onnx_file)
        return HubModel(options.model, options.revision, files, also=(f"{options.onnx_file}_data",))
    return HubModel(options.model, options.revision)


def build_cross_encoder(options: CrossEncoderOptions, services: Services) -> CrossEncoderReranker:
    """Build the reranker. Raises PluginError where what it runs on is not installed, ConfigError."""
    needed = ("onnxruntime", "tokenizers") if options.runtime == "onnx" else ("torch", "transformers")
    for package in needed:
        if find_spec(package) is None:
            raise PluginError(
                f"cross_encoder: the package {package} is not installed",
                f"pip install {package}" if options.runtime == "onnx" else "pip install 'reqall[cross-encoder]'",
            )
    return CrossEncoderReranker(options, services.models)
