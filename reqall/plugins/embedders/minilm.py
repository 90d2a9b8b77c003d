"""all-MiniLM-L6-v2 on this machine, through ONNX Runtime and no network.

Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (mean of the token vectors,
then length 1). The weights are int8, the arithmetic float32, so a vector does not depend on the
batch that it was computed in.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from reqall import EmbedderError, PluginOptions, Services, Vectors
from reqall.plugins.embedders.model_files import (
    MODEL_SHA256,
    TOKENIZER_SHA256,
    ModelFile,
    file_sha256,
    hidden_size,
    model_in,
    packaged_model,
    packaged_tokenizer,
    tokenizer_in,
)
from reqall.plugins.embedders.once import Once
from reqall.plugins.embedders.prefixes import Prefixes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

DIMENSIONS = 384
"""Length of a vector of the packaged model."""

_MOST_THREADS = 4
_TOKEN_VECTORS = ("last_hidden_state", "token_embeddings")
_INSTALL = (
    "pip install onnxruntime tokenizers. Where they have no wheels, "
    "use the embedder `openai` or a pipeline without vectors."
)


class MiniLMOptions(PluginOptions):
    """Options of the embedder `minilm`."""

    folder: str = Field(
        default="",
        description="Folder of another model of this kind: model.onnx (or onnx/model.onnx) and tokenizer.json. "
        "Empty: the packaged all-MiniLM-L6-v2.",
    )
    batch_size: int = Field(default=8, ge=1, le=1024, description="Texts per run of the model; more need more memory.")
    threads: int = Field(default=0, ge=0, description="Threads of the model; 0 is one per processor, at most 4.")
    max_tokens: int = Field(default=256, ge=8, le=512, description="Tokens that are read of a text; the rest is cut.")
    query_prefix: str = Field(
        default="", description="Put before a text that is searched with; the packaged model wants none."
    )
    document_prefix: str = Field(
        default="", description="Put before a text to be found; the packaged model wants none."
    )


class MiniLMEmbedder:
    """Embeds with a sentence-transformers model exported to ONNX; the model is loaded at first use."""

    def __init__(self, options: MiniLMOptions) -> None:
        self._options = options
        self._folder = Path(options.folder).expanduser() if options.folder else None
        self._prefixes = Prefixes(options.query_prefix, options.document_prefix)
        self._encoder = Once(self._load)
        self._counter = Once(lambda: _load_tokenizer(self._file("tokenizer").verified()))
        if self._folder is not None:
            # A wrong folder is a mistake in the configuration: say so before any job starts.
            model_in(self._folder)
            tokenizer_in(self._folder)

    @property
    def identity(self) -> str:
        """Hashes of model and tokenizer, pooling, the longest text and prefixes."""
        model, tokenizer = self._hashes
        return f"onnx:{model[:16]}:{tokenizer[:16]}:mean:{self.max_tokens}{self._prefixes.identity}"

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector: known, or from the folder's config.json, or from the model itself."""
        if self._folder is None:
            return DIMENSIONS
        return hidden_size(self._folder) or self._encoder().dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of a text, prefix and special tokens included."""
        return self._options.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count tokens with the model's tokenizer, prefix and special tokens included, nothing cut."""
        return len(self._counter().encode(self._prefixes.document + text).ids)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. Raises EmbedderError."""
        return self._embed([self._prefixes.document + text for text in texts])

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with. Raises EmbedderError."""
        return self._embed([self._prefixes.query + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return self._encoder().encode(texts, self._options.batch_size)

    @cached_property
    def _hashes(self) -> tuple[str, str]:
        if self._folder is None:
            return MODEL_SHA256, TOKENIZER_SHA256
        return file_sha256(model_in(self._folder)), file_sha256(tokenizer_in(self._folder))

    def _file(self, kind: str) -> ModelFile:
        if self._folder is None:
            return packaged_model() if kind == "model" else packaged_tokenizer()
        # Compared again at load: the vectors must be those that `identity` promised.
        if kind == "model":
            return ModelFile(model_in(self._folder), self._hashes[0])
        return ModelFile(tokenizer_in(self._folder), self._hashes[1])

    def _load(self) -> "_Encoder":
        tokenizer = _load_tokenizer(self._file("tokenizer").verified(), self.max_tokens)
        session = _load_session(self._file("model").verified(), self._options.threads)
        return self._checked(_Encoder(session, tokenizer))

    def _checked(self, encoder: "_Encoder") -> "_Encoder":
        promised = DIMENSIONS if self._folder is None else hidden_size(self._folder)
        if promised not in (None, encoder.dimensions):
            raise EmbedderError(
                f"the model in {self._folder} gives vectors of {encoder.dimensions} dimensions, "
                f"its config.json says {promised}",
                "Take model.onnx and config.json from the same export.",
            )
        return encoder


class _Encoder:
    """A loaded model and its tokenizer; safe to use from several threads."""

    def __init__(self, session: Any, tokenizer: "Tokenizer") -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        outputs = {node.name: node.shape for node in session.get_outputs()}
        self._output = next((name for name in _TOKEN_VECTORS if name in outputs), next(iter(outputs)))
        shape = outputs[self._output]
        if len(shape) != len(("batch", "token", "dimension")) or not isinstance(shape[-1], int):
            raise EmbedderError(
                f"the model's output {self._output} has the shape {shape}, not (batch, tokens, dimensions)",
                "Export the model for feature extraction, with its token vectors as output.",
            )
        self.dimensions: int = shape[-1]

    def encode(self, texts: Sequence[str], batch_size: int) -> Vectors:
        import numpy as np

        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        vectors = np.empty((len(ids), self.dimensions), dtype=np.float32)
        # Texts of like length share a batch: fewer padding tokens to compute.
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            vectors[rows] = self._run([ids[row] for row in rows])
        return vectors

    def _run(self, ids: list[list[int]]) -> Vectors:
        import numpy as np

        tokens = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, sequence in enumerate(ids):
            tokens[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        known = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        try:
            (hidden,) = self._session.run([self._output], {name: known[name] for name in self._inputs & known.keys()})
        except Exception as error:  # ONNX Runtime's own errors have no common root
            raise EmbedderError(
                f"the embedding model failed on a batch of {len(ids)} x {tokens.shape[1]} tokens",
                "Lower batch_size when memory is short; check that the model takes input_ids and attention_mask.",
            ) from error
        return _pool(hidden, mask)


def _pool(hidden: "npt.NDArray[np.float32]", mask: "npt.NDArray[np.int64]") -> Vectors:
    """Mean of the token vectors that are not padding, scaled to length 1."""
    import numpy as np

    weights = mask[:, :, None].astype(np.float32)
    means = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    unit: Vectors = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _load_tokenizer(path: Path, max_tokens: int | None = None) -> "Tokenizer":
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EmbedderError("the package tokenizers cannot be imported", _INSTALL) from error
    tokenizer = Tokenizer.from_file(str(path))
    # The file may bring its own cutting and padding; both are decided here.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if max_tokens is not None:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _load_session(path: Path, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderError("the package onnxruntime cannot be imported", _INSTALL) from error
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads or min(_MOST_THREADS, os.cpu_count() or 1)
    settings.inter_op_num_threads = 1
    # Idle threads shall not burn a processor that the user's other programs need.
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Every batch has another shape: plans of memory per shape cost 130 MB and save no time.
    settings.enable_mem_pattern = False
    try:
        return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's own errors have no common root
        message = f"{path} cannot be loaded as an ONNX model"
        raise EmbedderError(message, "Export or download the model again.") from error


def build_minilm(options: MiniLMOptions, _services: Services) -> MiniLMEmbedder:
    """Build the embedder. Raises EmbedderError on platforms without onnxruntime or tokenizers."""
    for package in ("onnxruntime", "tokenizers"):
        if find_spec(package) is None:
            raise EmbedderError(f"minilm: the package {package} is not installed", _INSTALL)
    return MiniLMEmbedder(options)
