"""What runs a cross-encoder: ONNX Runtime for an exported model, transformers for weights."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reqall import RerankerError
from reqall.plugins.rerankers.devices import Dtype, choose_device, choose_dtype

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MOST_THREADS = 4
_CHECK = "`reqall models verify` checks files of a hub; else export or download the model again."


class Runtime(Protocol):
    """A loaded model."""

    def logits(self, inputs: "dict[str, npt.NDArray[np.int64]]") -> "npt.NDArray[np.float32]":
        """Return an array of shape (rows, labels)."""


class OnnxRuntime:
    """A model in ONNX Runtime, on the processor."""

    def __init__(self, file: Path, threads: int) -> None:
        """Load the file. Raises RerankerError."""
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads or min(_MOST_THREADS, os.cpu_count() or 1)
        settings.inter_op_num_threads = 1
        # Idle threads shall not burn a processor that the user's other programs need.
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.enable_mem_pattern = False
        try:
            self._session = onnxruntime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's own errors have no common root
            raise RerankerError(f"{file} cannot be loaded as an ONNX model", _CHECK) from error
        self._inputs = {node.name for node in self._session.get_inputs()}

    def logits(self, inputs: "dict[str, npt.NDArray[np.int64]]") -> "npt.NDArray[np.float32]":
        """Return an array of shape (rows, labels). Raises RerankerError."""
        try:
            given = {name: inputs[name] for name in self._inputs & inputs.keys()}
            found: npt.NDArray[np.float32] = self._session.run(None, given)[0]
        except Exception as error:  # ONNX Runtime's own errors have no common root
            raise RerankerError(
                f"the model failed on {' x '.join(map(str, inputs['input_ids'].shape))} tokens",
                "Lower `batch_tokens` or `max_tokens`; check that it takes input_ids and attention_mask.",
            ) from error
        return found


class TorchRuntime:
    """A model in transformers, on the processor or a graphics card."""

    def __init__(self, folder: Path, device: str, dtype: Dtype) -> None:
        """Load the folder; no code of the model runs. Raises RerankerError."""
        from transformers import AutoModelForSequenceClassification
        from transformers.utils import logging

        logging.disable_progress_bar()  # it would be drawn into the log of a server
        self._device = choose_device(device)
        try:
            model: Any = AutoModelForSequenceClassification.from_pretrained(
                folder, dtype=choose_dtype(dtype, self._device), local_files_only=True, trust_remote_code=False
            )
            self._model = model.eval().to(self._device)
        except Exception as error:  # the libraries raise whatever they like at files that are not whole
            raise RerankerError(f"the model in {folder} cannot be loaded ({type(error).__name__})", _CHECK) from error
        self._takes_types = hasattr(self._model.config, "type_vocab_size") and self._model.config.type_vocab_size > 1

    def logits(self, inputs: "dict[str, npt.NDArray[np.int64]]") -> "npt.NDArray[np.float32]":
        """Return an array of shape (rows, labels). Raises RerankerError when the memory does not suffice."""
        import torch

        wanted = {name: array for name, array in inputs.items() if name != "token_type_ids" or self._takes_types}
        try:
            with torch.inference_mode():
                given = {name: torch.from_numpy(array).to(self._device) for name, array in wanted.items()}
                found: npt.NDArray[np.float32] = self._model(**given).logits.float().cpu().numpy()
        except (torch.OutOfMemoryError, MemoryError) as error:
            told = f"the memory of {self._device} does not suffice for {len(inputs['input_ids'])} passages"
            raise RerankerError(told, "Lower `batch_tokens` or `max_tokens`, or name a smaller model.") from error
        return found
