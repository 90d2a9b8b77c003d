"""Any ONNX model of fastembed's catalogue, or of a folder: https://qdrant.github.io/fastembed/.

The extra `fastembed` installs the library; a model of the catalogue is fetched from a hub at first use.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from reqall import EmbedderError, HubModel, ModelStore, PluginOptions, Services, Vectors
from reqall.plugins.embedders.extras import require_extra
from reqall.plugins.embedders.fastembed_models import described, hub_model, loaded, pooling_in, registered
from reqall.plugins.embedders.model_files import file_sha256, hidden_size, model_in, tokenizer_in
from reqall.plugins.embedders.once import Once
from reqall.plugins.embedders.prefixes import known_prefixes
from reqall.plugins.embedders.unit import unit_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL = "BAAI/bge-small-en-v1.5"
"""English, 384 dimensions, 512 tokens, 67 MB, MIT."""


class FastembedOptions(PluginOptions):
    """Options of the embedder `fastembed`."""

    model: str = Field(
        default=MODEL,
        min_length=1,
        description="Name in fastembed's catalogue, such as intfloat/multilingual-e5-large. With a `folder`, the name "
        "tells only which prefixes the model wants.",
    )
    folder: str = Field(
        default="",
        description="Folder of the model: model.onnx (or onnx/model.onnx), tokenizer.json, tokenizer_config.json and "
        "config.json. Empty: the files are fetched from the hub, once.",
    )
    pooling: Literal["", "mean", "cls", "last_token"] = Field(
        default="",
        description="How token vectors become one, for a model in a folder. Empty: as its 1_Pooling/config.json says, "
        "else mean.",
    )
    max_tokens: int = Field(
        default=512, ge=8, description="Tokens that are read of a text; not more than the model can read."
    )
    query_prefix: str | None = Field(
        default=None, description="Put before a text that is searched with. Left out: what the model is known to want."
    )
    document_prefix: str | None = Field(
        default=None, description="Put before a text to be found. Left out: what the model is known to want."
    )
    batch_size: int = Field(default=8, ge=1, le=1024, description="Texts per run of the model; more need more memory.")
    threads: int = Field(default=0, ge=0, description="Threads of the model; 0 is one per processor.")
    revision: str = Field(default="main", min_length=1, description="Branch, tag or commit of the hub's repository.")


class FastembedEmbedder:
    """Embeds with fastembed; the model is fetched and loaded at first use. Safe to use from several threads."""

    def __init__(self, options: FastembedOptions, models: ModelStore) -> None:
        self._options = options
        self._models = models
        self._folder = Path(options.folder).expanduser() if options.folder else None
        self._prefixes = known_prefixes(options.model).or_given(options.query_prefix, options.document_prefix)
        self._files = Once(self._fetch)
        self._counter = Once(lambda: _whole_tokenizer(tokenizer_in(self._files())))
        self._model = Once(self._load)
        if self._folder is not None:
            # A wrong folder is a mistake in the configuration: say so before any job starts.
            model_in(self._folder)
            tokenizer_in(self._folder)

    @cached_property
    def identity(self) -> str:
        """What is known without a hub: hashes of a folder's files, or the name of a model of the catalogue."""
        if self._folder is None:
            what = f"{self._options.model.casefold()}@{self._options.revision}"
        else:
            model, tokenizer = (file_sha256(find(self._folder))[:16] for find in (model_in, tokenizer_in))
            what = f"{model}:{tokenizer}:{self._pooling}"
        return f"fastembed:{what}:{self.max_tokens}{self._prefixes.identity}"

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, as the catalogue or the folder's config.json says, or else the model itself."""
        if self._folder is None:
            return int(described(self._options.model)["dim"])
        return hidden_size(self._folder) or len(next(iter(self._model().embed([""]))))

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of a text, prefix and special tokens included."""
        return self._options.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count tokens of a document as the model sees it, nothing cut; the model's files are fetched for it."""
        return len(self._counter().encode(self._prefixes.document + text).ids)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. Raises EmbedderError."""
        return self._embed(self._prefixes.document, texts, lambda model: model.passage_embed)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with. Raises EmbedderError."""
        return self._embed(self._prefixes.query, texts, lambda model: model.query_embed)

    def _embed(self, prefix: str, texts: Sequence[str], way: Callable[[Any], Any]) -> Vectors:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        # Texts of like length share a batch: fewer padding tokens to compute.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        embed = way(self._model())
        try:
            found = np.stack(list(embed([prefix + texts[row] for row in order], batch_size=self._options.batch_size)))
        except Exception as error:  # ONNX Runtime's own errors have no common root
            raise EmbedderError(
                f"the embedding model {self._named} failed on {len(texts)} texts",
                "Lower batch_size when memory is short.",
            ) from error
        if found.shape != vectors.shape:
            raise EmbedderError(
                f"the embedding model {self._named} gives {found.shape[1]} dimensions, not {self.dimensions}",
                "Take model.onnx and config.json from the same export.",
            )
        vectors[order] = found
        return unit_rows(vectors, self._named)

    @property
    def _named(self) -> str:
        return f"in {self._folder}" if self._folder else self._options.model

    @cached_property
    def _pooling(self) -> str:
        return self._options.pooling or (pooling_in(self._folder) if self._folder else "")

    def _fetch(self) -> Path:
        if self._folder is not None:
            return self._folder
        wanted = hub_model(self._options.model, self._options.revision)
        return self._models.find(wanted) or self._models.pull(wanted)

    def _load(self) -> Any:
        folder = self._files()
        name = self._options.model if self._folder is None else registered(self._folder, self._pooling)
        return loaded(name, folder, self._options.threads, self.max_tokens)


def _whole_tokenizer(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def build_fastembed(options: FastembedOptions, services: Services) -> FastembedEmbedder:
    """Build the embedder. Raises PluginError where fastembed is not installed, ConfigError for a wrong folder."""
    require_extra("fastembed", "fastembed", "fastembed")
    return FastembedEmbedder(options, services.models)


def fastembed_weights(options: FastembedOptions) -> list[HubModel]:
    """List the model that is fetched from a hub, if one is, and if the library that knows it is there."""
    if options.folder or find_spec("fastembed") is None:
        return []
    return [hub_model(options.model, options.revision)]
