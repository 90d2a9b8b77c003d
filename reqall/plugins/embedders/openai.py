"""Embeddings over HTTP: OpenAI, Azure OpenAI and servers that speak the same API.

API: https://platform.openai.com/docs/api-reference/embeddings and, with an `api_version`,
https://learn.microsoft.com/azure/ai-services/openai/reference#embeddings.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from reqall import EmbedderError, Vectors
from reqall.plugins.embedders.endpoint_errors import Redactor, explain, no_embeddings
from reqall.plugins.embedders.openai_options import (
    NATIVE_DIMENSIONS,
    OpenAIOptions,
    endpoint_key,
    endpoint_url,
    vector_length,
)
from reqall.plugins.embedders.prefixes import Prefixes

if TYPE_CHECKING:
    from openai import Omit, OpenAI

TOKENS_PER_REQUEST = 300_000
"""OpenAI's limit on the sum over all texts of a request."""

# Marks of begin and end, and a space before the text: other models than OpenAI's add them.
_MARKS = 3
_BYTES_PER_TOKEN = 3


def _byte_length(text: str) -> int:
    return len(text.encode(errors="replace"))


class OpenAIEmbedder:
    """Embeds over HTTP; the client is built at first use. Safe to use from several threads."""

    def __init__(self, options: OpenAIOptions) -> None:
        self._options = options
        self._key = endpoint_key(options)
        self._native = NATIVE_DIMENSIONS.get(options.model)
        self._dimensions = vector_length(options)
        self._asks_dimensions = options.dimensions is not None
        self._url = endpoint_url(options)
        self._redactor = Redactor(self._url, self._key)
        self._prefixes = Prefixes(options.query_prefix, options.document_prefix)
        self._lock = threading.Lock()
        self._built: OpenAI | None = None

    @property
    def identity(self) -> str:
        """Model, dimensions and prefixes; where it is served is left out, since a mirror serves the same model."""
        return f"openai:{self._options.model}:{self._dimensions}{self._prefixes.identity}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Longest text that is read whole; a longer one is refused by the endpoint."""
        return self._options.max_tokens

    def count_tokens(self, text: str) -> int:
        """Estimate tokens without the model's vocabulary; within `max_tokens` it is safe.

        A token holds at least one byte (byte-level BPE, WordPiece). So a text of no more bytes
        than `max_tokens` is read whole for certain, and is counted at 3 bytes a token: prose has
        4 to 5, also in Chinese or Russian. A longer text counts its bytes, which is too many: it
        is cut, since only the vocabulary could tell whether it would be read whole.
        """
        most = _byte_length(self._prefixes.document + text) + _MARKS
        return most if most > self.max_tokens else -(-(most - _MARKS) // _BYTES_PER_TOKEN) + _MARKS

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. Raises EmbedderError."""
        return self._embed([self._prefixes.document + text for text in texts])

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with. Raises EmbedderError."""
        return self._embed([self._prefixes.query + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        parts = [self._request(batch) for batch in self._batches(texts)]
        return np.concatenate([np.zeros((0, self._dimensions), dtype=np.float32), *parts])

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        tokens = 0
        for text in texts:
            count = _byte_length(text) + _MARKS
            if batch and (len(batch) == self._options.batch_size or tokens + count > TOKENS_PER_REQUEST):
                yield batch
                batch, tokens = [], 0
            # The API refuses a whole request for one empty text.
            batch.append(text or " ")
            tokens += count
        if batch:
            yield batch

    def _request(self, texts: list[str]) -> Vectors:
        import openai

        try:
            response = self._create(texts)
            items = sorted((item.index, item.embedding) for item in response.data)
        except openai.OpenAIError as error:
            # The cause may quote texts or the key, so `explain` alone decides what is said of it.
            raise explain(error, self._options.model, self._redactor) from None
        except (ValueError, TypeError, AttributeError) as error:
            # What the client lets through when an answer is not JSON, or another JSON.
            raise no_embeddings(error, self._redactor) from error
        if [index for index, _ in items] != list(range(len(texts))):
            raise self._unusable(f"{len(items)} vectors for {len(texts)} texts, or not one for each")
        return self._unit([vector for _, vector in items])

    def _create(self, texts: list[str]) -> Any:
        import openai

        create = partial(
            self._client().embeddings.create, input=texts, model=self._options.model, extra_headers=self._headers()
        )
        if self._asks_dimensions:
            try:
                return create(dimensions=self._dimensions)
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                # Servers of models with one length refuse the parameter, even when it says that length.
                if self._native is not None and self._native != self._dimensions:
                    raise
        response = create()
        if all(len(item.embedding) == self._dimensions for item in response.data):
            self._asks_dimensions = False
        return response

    def _unit(self, rows: list[list[float]]) -> Vectors:
        import numpy as np

        lengths = {len(row) for row in rows}
        if lengths != {self._dimensions}:
            found = ", ".join(map(str, sorted(lengths)))
            raise self._unusable(f"vectors of {found} dimensions, {self._dimensions} expected")
        vectors = np.asarray(rows, dtype=np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and norms.all()):
            raise self._unusable("a vector without a direction")
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit

    def _unusable(self, what: str) -> EmbedderError:
        return EmbedderError(
            f"the embedding endpoint {self._redactor.host} returned {what} (model {self._options.model})",
            "Check EMBEDDING_MODEL; set EMBEDDING_DIMENSIONS to the length that the model gives.",
        )

    def _headers(self) -> dict[str, "str | Omit"]:
        import openai

        header = self._options.key_header or ("api-key" if self._options.api_version else "")
        return {"Authorization": openai.Omit(), header: self._key} if header else {}

    def _client(self) -> "OpenAI":
        with self._lock:
            if self._built is None:
                import openai

                version = self._options.api_version
                self._built = openai.OpenAI(
                    api_key=self._key,
                    base_url=self._url,
                    default_query={"api-version": version} if version else None,
                    timeout=self._options.timeout,
                    max_retries=self._options.max_retries,
                )
            return self._built
