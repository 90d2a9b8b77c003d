"""Static word vectors on this machine: much quicker than a transformer, and weaker.

A text's vector is the mean of its tokens' vectors, as https://github.com/dleemiller/WordLlama trained
them; nothing is computed but that mean, so order and context count for nothing. The extra `wordllama`
installs the package for its files. Its code is left alone: `WordLlama.load()` looks for the tokenizer in
a folder that the package does not have and then asks a hub, and its import sets up logging for the process.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from reqall import PluginOptions, Services, Vectors
from reqall.plugins.embedders.extras import require_extra
from reqall.plugins.embedders.model_files import ModelFile
from reqall.plugins.embedders.once import Once
from reqall.plugins.embedders.unit import unit_rows

if TYPE_CHECKING:
    import numpy.typing as npt
    from tokenizers import Tokenizer

DIMENSIONS = 256
"""Length of a vector."""

WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
"""Of `weights/l2_supercat_256.safetensors` in the package wordllama 0.4 (16,384,104 bytes)."""

TOKENIZER_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
"""Of `tokenizers/l2_supercat_tokenizer_config.json` in the package wordllama 0.4."""

_BATCH = 64


class WordLlamaOptions(PluginOptions):
    """Options of the embedder `wordllama`."""

    max_tokens: int = Field(
        default=512, ge=8, description="Tokens that are read of a text; the mean of many says little."
    )


class WordLlamaEmbedder:
    """Averages static vectors; they are loaded at first use. Safe to use from several threads."""

    def __init__(self, options: WordLlamaOptions, folder: Path) -> None:
        self._options = options
        self._weights = ModelFile(folder / "weights" / "l2_supercat_256.safetensors", WEIGHTS_SHA256)
        self._words = ModelFile(folder / "tokenizers" / "l2_supercat_tokenizer_config.json", TOKENIZER_SHA256)
        self._tokenizer = Once(self._load_tokenizer)
        self._table = Once(self._load_table)

    @property
    def identity(self) -> str:
        """Hashes of vectors and tokenizer, and the longest text."""
        return f"wordllama:{WEIGHTS_SHA256[:16]}:{TOKENIZER_SHA256[:16]}:mean:{self.max_tokens}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return DIMENSIONS

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of a text; there are no special ones."""
        return self._options.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count tokens, nothing cut."""
        return len(self._tokenizer().encode(text, add_special_tokens=False).ids)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. Raises EmbedderError."""
        import numpy as np

        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            encoded = self._tokenizer().encode_batch_fast(batch, add_special_tokens=False)
            ids = [encoding.ids[: self.max_tokens] for encoding in encoded]
            rows = [start + number for number, each in enumerate(ids) if each]
            if rows:
                vectors[rows] = self._sums([each for each in ids if each])
        return unit_rows(vectors, "wordllama")

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with: there are no prefixes. Raises EmbedderError."""
        return self.embed_documents(texts)

    def _sums(self, ids: list[list[int]]) -> "npt.NDArray[Any]":
        """Add up the vectors of each text's tokens; a sum has the direction of the mean."""
        import numpy as np

        starts = np.cumsum([0, *map(len, ids[:-1])])
        return np.add.reduceat(self._table()[list(chain.from_iterable(ids))], starts, axis=0)

    def _load_tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self._words.verified()))

    def _load_table(self) -> "npt.NDArray[Any]":
        import numpy as np
        from safetensors.numpy import load_file

        table: npt.NDArray[Any] = load_file(self._weights.verified())["embedding.weight"].astype(np.float32)
        return table


def build_wordllama(options: WordLlamaOptions, _services: Services) -> WordLlamaEmbedder:
    """Build the embedder. Raises PluginError where wordllama is not installed."""
    require_extra("wordllama", "wordllama", "wordllama")
    spec = find_spec("wordllama")
    (location, *_) = (spec and spec.submodule_search_locations) or ("",)
    return WordLlamaEmbedder(options, Path(location))
