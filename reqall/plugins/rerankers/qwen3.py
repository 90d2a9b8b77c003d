"""Qwen3-Reranker on this machine: a language model reads query and passage, and answers yes or no.

Paper: Zhang et al. 2025, "Qwen3 Embedding" (https://arxiv.org/abs/2506.05176). The score is the probability of `yes`.
"""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec

from pydantic import Field

from reqall import (
    DocumentRanking,
    HubModel,
    ModelStore,
    Passage,
    PluginError,
    PluginOptions,
    RerankerError,
    Services,
)
from reqall.plugins.rerankers.devices import DEVICE_PATTERN, Dtype
from reqall.plugins.rerankers.ordering import ranking
from reqall.plugins.rerankers.qwen3_check import self_check
from reqall.plugins.rerankers.qwen3_model import QwenScorer, load
from reqall.plugins.rerankers.qwen3_template import REQUIREMENTS_INSTRUCTION

_ALSO = ("tokenizer_config.json", "vocab.json", "merges.txt", "generation_config.json", "LICENSE")


class Qwen3Options(PluginOptions):
    """Options of the reranker `qwen3`."""

    model: str = Field(
        default="${RERANKER_MODEL:-Qwen/Qwen3-Reranker-0.6B}",
        min_length=1,
        description="A Qwen3-Reranker of the hub (0.6B, 4B, 8B), or a folder that holds one.",
    )
    revision: str = Field(default="main", min_length=1, description="Branch, tag or commit of the hub's repository.")
    instruction: str = Field(
        default=REQUIREMENTS_INSTRUCTION,
        min_length=1,
        description="What counts as relevant, in one English sentence. It steers the scores.",
    )
    max_tokens: int = Field(
        default=8192, ge=256, le=32768, description="Tokens that are read of a prompt; the passage's end is cut."
    )
    batch_size: int = Field(
        default=8, ge=1, le=1024, description="Passages that are scored before the search looks at its deadline."
    )
    batch_tokens: int = Field(
        default=4096, ge=64, description="Tokens that are computed at a time, padding included; more need more memory."
    )
    device: str = Field(
        default="auto", pattern=DEVICE_PATTERN, description="auto, cpu, mps, cuda or cuda:N; auto takes the best."
    )
    dtype: Dtype = Field(
        default="auto", description="auto is bfloat16 on cuda and mps where they have it, float32 on the processor."
    )
    self_check: bool = Field(
        default=True, description="Judge two known pairs at load, and refuse the model when it is wrong about them."
    )


class Qwen3Reranker:
    """Scores each passage by itself; the model is found and loaded at first use, once for all that name it."""

    def __init__(self, options: Qwen3Options, models: ModelStore) -> None:
        """Load nothing yet. Raises ConfigError for a name that no model can have."""
        self._options = options
        self._models = models
        self._model = qwen3_weights(options)
        self._model.local  # noqa: B018 - reading it checks the name
        self._refusal: RerankerError | None = None

    @property
    def identity(self) -> str:
        """What a score depends on, apart from query and passage; empty while the model is not there."""
        options = self._options
        files = self._models.fingerprint(self._model)
        told = hashlib.sha256(options.instruction.encode()).hexdigest()[:16]
        return f"qwen3:{files}:{told}:{options.max_tokens}:{options.dtype}:{options.device}" if files else ""

    @property
    def batch_size(self) -> int:
        """Passages that are scored at a time."""
        return self._options.batch_size

    def score(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """Return the probability of `yes` for each passage. Raises ModelError while the weights are not there."""
        texts = [passage.text for passage in passages]
        return self._scorer().score(self._options.instruction, query, texts) if texts else []

    def rerank(self, query: str, passages: Sequence[Passage]) -> DocumentRanking:
        """Order by the probability of `yes`. Raises ModelError while the weights are not there, RerankerError."""
        return ranking(passages, self.score(query, passages))

    def _scorer(self) -> QwenScorer:
        if self._refusal is not None:
            raise self._refusal
        options, folder = self._options, self._models.folder(self._model)
        loaded = ("qwen3", folder, options.max_tokens, options.batch_tokens, options.device, options.dtype)

        def make() -> QwenScorer:
            scorer = load(
                folder,
                max_tokens=options.max_tokens,
                device=options.device,
                dtype=options.dtype,
                batch_tokens=options.batch_tokens,
            )
            if options.self_check:
                self_check(scorer, options.model)
            return scorer

        try:
            return self._models.shared((*loaded, options.self_check), make)
        except RerankerError as error:
            self._refusal = error  # it would be the same again, after as long a load
            raise


def qwen3_weights(options: Qwen3Options) -> HubModel:
    """Say which files the reranker needs."""
    return HubModel(options.model, options.revision, also=_ALSO)


def build_qwen3(options: Qwen3Options, services: Services) -> Qwen3Reranker:
    """Build the reranker. Raises PluginError where PyTorch or transformers is not installed, ConfigError."""
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise PluginError(
                f"qwen3: the package {package} is not installed", "pip install 'reqall[qwen3]', or another reranker."
            )
    return Qwen3Reranker(options, services.models)
