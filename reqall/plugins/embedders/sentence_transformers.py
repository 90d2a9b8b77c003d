"""Any model of sentence-transformers, from a hub or a folder, through PyTorch: https://sbert.net.

The extra `sentence-transformers` installs the library. Only weights in safetensors are fetched from a
hub: other formats may run code of the model's author when they are loaded.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import Field

from reqall import ConfigError, EmbedderError, HubModel, ModelStore, PluginOptions, Services, Vectors
from reqall.plugins.embedders.extras import require_extra
from reqall.plugins.embedders.model_files import file_sha256
from reqall.plugins.embedders.once import Once
from reqall.plugins.embedders.prefixes import Prefixes, known_prefixes
from reqall.plugins.embedders.unit import unit_rows

_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_NEEDED = ("config.json", "model.safetensors")
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")


class SentenceTransformersOptions(PluginOptions):
    """Options of the embedder `sentence_transformers`."""

    model: str = Field(
        default="sentence-transformers/all-MiniLM-L6-v2",
        min_length=1,
        description="Name of the model on the hub, owner/name. With a `folder`, the name tells only which prefixes "
        "the model wants, should it not say so itself.",
    )
    folder: str = Field(default="", description="Folder of the model, as `save_pretrained` writes it. Empty: the hub.")
    max_tokens: int = Field(
        default=256, ge=8, description="Tokens that are read of a text; not more than the model can read."
    )
    query_prefix: str | None = Field(
        default=None, description="Put before a text that is searched with. Left out: what the model says of itself."
    )
    document_prefix: str | None = Field(
        default=None, description="Put before a text to be found. Left out: what the model says of itself."
    )
    batch_size: int = Field(default=8, ge=1, le=1024, description="Texts per run of the model; more need more memory.")
    device: str = Field(default="", description="Where it runs: cpu, cuda, mps. Empty: the best that there is.")
    revision: str = Field(default="main", min_length=1, description="Branch, tag or commit of the hub's repository.")


class SentenceTransformersEmbedder:
    """Embeds with sentence-transformers; the model is fetched and loaded at first use.

    Safe to use from several threads: they take turns, as the tokenizers of transformers want it.
    """

    def __init__(self, options: SentenceTransformersOptions, models: ModelStore) -> None:
        self._options = options
        self._models = models
        self._folder = Path(options.folder).expanduser() if options.folder else None
        self._model = Once(self._load)
        self._turn = threading.Lock()
        if self._folder is not None and not (self._folder / "modules.json").is_file():
            raise ConfigError(
                f"no modules.json in the model folder {self._folder}",
                "Point the option `folder` to what `SentenceTransformer.save_pretrained` wrote.",
            )

    @cached_property
    def identity(self) -> str:
        """What is known without a hub: hashes of a folder's files, or the name of a model; length and prefixes."""
        given = self._options
        what = _folder_hash(self._folder) if self._folder else f"{given.model.casefold()}@{given.revision}"
        prefixes = known_prefixes(given.model).or_given(given.query_prefix, given.document_prefix)
        return f"sentence-transformers:{what}:{self.max_tokens}{prefixes.identity}"

    @property
    def dimensions(self) -> int:
        """Length of a vector; the model is loaded for it."""
        return int(self._model().get_embedding_dimension())

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of a text, prefix and special tokens included."""
        return self._options.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count tokens of a document as the model sees it, nothing cut; the model is loaded for it."""
        tokenizer = self._model().tokenizer
        with self._turn:
            return len(tokenizer(self._prefixes.document + text, truncation=False, verbose=False)["input_ids"])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. Raises EmbedderError."""
        return self._embed(texts, self._model().encode_document, self._prefixes.document)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with. Raises EmbedderError."""
        return self._embed(texts, self._model().encode_query, self._prefixes.query)

    def _embed(self, texts: Sequence[str], encode: Any, prompt: str) -> Vectors:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        size = self._options.batch_size
        try:
            with self._turn:
                rows = encode(list(texts), prompt=prompt, batch_size=size, show_progress_bar=False)
        except Exception as error:  # PyTorch's own errors have no common root
            raise EmbedderError(
                f"the embedding model {self._named} failed on {len(texts)} texts",
                "Lower batch_size when memory is short; try another `device`.",
            ) from error
        return unit_rows(rows, self._named)

    @property
    def _named(self) -> str:
        return f"in {self._folder}" if self._folder else self._options.model

    @cached_property
    def _prefixes(self) -> Prefixes:
        """Take what is given, else the prompts that the model brings, else what is known of its name."""
        prompts = {name: text for name, text in self._model().prompts.items() if text}
        document = next((prompts[name] for name in _DOCUMENT_PROMPTS if name in prompts), "")
        own = Prefixes(prompts.get("query", ""), document) if prompts else known_prefixes(self._options.model)
        return own.or_given(self._options.query_prefix, self._options.document_prefix)

    def _fetch(self) -> Path:
        (wanted,) = sentence_transformers_weights(self._options)
        return self._models.find(wanted) or self._models.pull(wanted)

    def _load(self) -> Any:
        from sentence_transformers import SentenceTransformer

        folder = self._folder or self._fetch()
        try:
            model = SentenceTransformer(str(folder), device=self._options.device or None, local_files_only=True)
        except Exception as error:  # transformers, PyTorch and safetensors have no common root
            raise EmbedderError(
                f"the model {self._named} cannot be loaded by sentence-transformers: {error}",
                "Fetch or save it again, with weights in safetensors.",
            ) from error
        reads = model.max_seq_length
        if reads is not None and reads < self.max_tokens:
            raise EmbedderError(
                f"the model {self._named} reads {reads} tokens, not {self.max_tokens}: the rest would be invisible",
                f"Set `max_tokens: {reads}` for this embedder.",
            )
        return model


def _folder_hash(folder: Path) -> str:
    """Hash all files that a model is loaded from, names included."""
    digest = sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and any(file.match(pattern) for pattern in _FILES):
            digest.update(f"{file.relative_to(folder).as_posix()}:{file_sha256(file)}\n".encode())
    return digest.hexdigest()[:32]


def build_sentence_transformers(
    options: SentenceTransformersOptions, services: Services
) -> SentenceTransformersEmbedder:
    """Build the embedder. Raises PluginError where the library is not installed, ConfigError for a wrong folder."""
    require_extra("sentence_transformers", "sentence_transformers", "sentence-transformers")
    return SentenceTransformersEmbedder(options, services.models)


def sentence_transformers_weights(options: SentenceTransformersOptions) -> list[HubModel]:
    """List the model that is fetched from a hub, if one is: nothing of it that may run code."""
    return [] if options.folder else [HubModel(options.model, options.revision, _NEEDED, _FILES)]
