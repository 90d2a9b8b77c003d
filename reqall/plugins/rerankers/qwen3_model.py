"""A loaded Qwen3-Reranker: prompts in, probabilities of `yes` out."""

import inspect
import json
import math
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reqall import RerankerError
from reqall.plugins.rerankers.devices import Dtype, choose_device, choose_dtype
from reqall.plugins.rerankers.qwen3_template import Template

_MODEL_TYPE = "qwen3"


class QwenScorer:
    """The model and its template. Thread-safe: one call computes at a time, which bounds the memory."""

    def __init__(self, model: Any, template: Template, device: str, batch_tokens: int) -> None:
        """Take a model that is on its device; a batch holds at most `batch_tokens` tokens, padding included."""
        self.template = template
        self.device = device
        self._model = model
        self._batch_tokens = batch_tokens
        named = inspect.signature(model.forward).parameters
        self._cache = "cache" if "cache" in named else "past_key_values"  # the older name
        self._lock = threading.Lock()

    @property
    def dtype(self) -> str:
        """In which numbers it computes."""
        return str(self._model.dtype).removeprefix("torch.")

    def score(self, instruction: str, query: str, passages: Sequence[str]) -> list[float]:
        """Return for each passage the probability of `yes`, 0 to 1. Raises RerankerError for scores that are none."""
        import torch

        prompts = self.template.prompts(instruction, query, passages)
        scores = [math.nan] * len(prompts)
        try:
            with self._lock, torch.inference_mode():
                shared = common_prefix(prompts)
                prefix = self._prefix(prompts[0][:shared]) if shared else None
                for rows in batches([len(prompt) - shared for prompt in prompts], self._batch_tokens):
                    found = self._run([prompts[row][shared:] for row in rows], shared, prefix)
                    for row, score in zip(rows, found, strict=True):
                        scores[row] = score
        except (torch.OutOfMemoryError, MemoryError) as error:
            told = f"the memory of {self.device} does not suffice to read {len(prompts)} passages"
            raise RerankerError(told, "Lower `batch_tokens` or `max_tokens`, or name a smaller model.") from error
        if not all(map(math.isfinite, scores)):
            raise RerankerError(
                f"the model's scores are no numbers (computed in {self.dtype} on {self.device})",
                "Set `dtype` to float32; if that does not help, `reqall models verify` checks its files.",
            )
        return scores

    def _prefix(self, ids: Sequence[int]) -> Any:
        """Compute once what all prompts of a query begin with: the template, the instruction and the query."""
        import torch

        from reqall.plugins.rerankers.qwen3_prefix import shared_prefix

        prefix = shared_prefix()
        given = {self._cache: prefix, "use_cache": True, "logits_to_keep": 1}
        self._model(input_ids=torch.tensor([ids], device=self.device), **given)
        return prefix.freeze()

    def _run(self, rows: Sequence[Sequence[int]], shared: int, prefix: Any) -> list[float]:
        import torch

        longest = max(map(len, rows))
        # Padding on the left: so every prompt ends, and is answered, at the last place.
        ids = torch.tensor([[0] * (longest - len(row)) + list(row) for row in rows], device=self.device)
        mask = torch.tensor([[1] * shared + [0] * (longest - len(row)) + [1] * len(row) for row in rows])
        places = (mask.cumsum(-1) - 1).clamp(min=0)[:, shared:]
        given = {self._cache: prefix, "use_cache": prefix is not None, "logits_to_keep": 1}
        logits = self._model(
            input_ids=ids, attention_mask=mask.to(self.device), position_ids=places.to(self.device), **given
        ).logits[:, -1]
        answers = logits[:, [self.template.no, self.template.yes]].double()
        found: list[float] = torch.softmax(answers, dim=-1)[:, 1].tolist()
        return found


def load(folder: Path, *, max_tokens: int, device: str, dtype: Dtype, batch_tokens: int) -> QwenScorer:
    """Load model and tokenizer from a folder; nothing is fetched, no code of the model runs. Raises RerankerError."""
    from tokenizers import Tokenizer
    from transformers import Qwen3ForCausalLM
    from transformers.utils import logging

    chosen = choose_device(device)
    logging.disable_progress_bar()  # it would be drawn into the log of a server
    _require_type(folder)
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        template = Template.of(tokenizer, max_tokens)
        model = Qwen3ForCausalLM.from_pretrained(folder, dtype=choose_dtype(dtype, chosen), local_files_only=True)
        return QwenScorer(model.eval().to(chosen), template, chosen, batch_tokens)
    except RerankerError:
        raise
    except Exception as error:  # the libraries raise whatever they like at files that are not whole
        raise RerankerError(
            f"the model in {folder} cannot be loaded ({type(error).__name__})",
            "`reqall models verify` checks its files; a smaller model, or `dtype` bfloat16, needs less memory.",
        ) from error


def common_prefix(prompts: Sequence[Sequence[int]]) -> int:
    """Count the tokens that all prompts begin with; each keeps one at least. 0 for fewer than two prompts."""
    if len(prompts) < 2:  # noqa: PLR2004 - one alone shares nothing
        return 0
    first, last = min(map(list, prompts)), max(map(list, prompts))
    most = min(map(len, prompts)) - 1
    return next((place for place in range(most) if first[place] != last[place]), most)


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield rows of like length together, longest first: what does not fit into memory fails at once."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
        if rows and (len(rows) + 1) * lengths[rows[0]] > batch_tokens:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _require_type(folder: Path) -> None:
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError):
        kind = "unknown"
    if kind != _MODEL_TYPE:
        raise RerankerError(
            f"the model in {folder} is of the type {kind}, a Qwen3-Reranker is of the type {_MODEL_TYPE}",
            "For a sequence-classification model use the reranker `cross_encoder`.",
        )
