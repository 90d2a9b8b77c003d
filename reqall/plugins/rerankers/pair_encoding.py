"""Query and passage as the tokens of one input, for models that read both at once."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reqall import RerankerError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Encoding


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Rows of like length; arrays of shape (rows, tokens), padded on the right."""

    rows: list[int]
    inputs: "dict[str, npt.NDArray[np.int64]]"


class PairEncoder:
    """The tokenizer of a folder and what its model calls padding. Thread-safe: nothing is changed after the load."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        """Load `tokenizer.json` and `config.json`. Raises RerankerError."""
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except Exception as error:  # the library raises a plain Exception
            raise RerankerError(
                f"tokenizer.json and config.json in {folder} cannot be read ({type(error).__name__})",
                "Take both from the model's own export; `reqall models verify` checks files of a hub.",
            ) from error
        self._padding = int(config.get("pad_token_id") or 0)
        positions = int(config.get("max_position_embeddings") or max_tokens)
        # Models of RoBERTa's kind count positions from behind their padding token.
        most = positions - self._padding - 1 if "roberta" in str(config.get("model_type")) else positions
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(min(max_tokens, most), strategy="longest_first")

    def batches(self, query: str, passages: Sequence[str], batch_tokens: int) -> Iterator[PairBatch]:
        """Encode pairs, cut where they are too long, and yield them with others of like length."""
        encoded = self._tokenizer.encode_batch([(query, passage) for passage in passages])
        rows: list[int] = []
        for row in sorted(range(len(encoded)), key=lambda each: -len(encoded[each].ids)):
            if rows and (len(rows) + 1) * len(encoded[rows[0]].ids) > batch_tokens:
                yield self._padded(rows, encoded)
                rows = []
            rows.append(row)
        if rows:
            yield self._padded(rows, encoded)

    def _padded(self, rows: list[int], encoded: "Sequence[Encoding]") -> PairBatch:
        import numpy as np

        shape = (len(rows), max(len(encoded[row].ids) for row in rows))
        ids = np.full(shape, self._padding, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for place, row in enumerate(rows):
            count = len(encoded[row].ids)
            ids[place, :count] = encoded[row].ids
            mask[place, :count] = 1
            types[place, :count] = encoded[row].type_ids
        return PairBatch(rows, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types})
