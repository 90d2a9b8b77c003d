"""A named index of the configuration, as this process has it."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from reqall.core.errors import ConfigError
from reqall.core.protocols import Budget, Chunker, Embedder, Recaller
from reqall.core.types import ChunkDraft, Document


@dataclass(frozen=True, slots=True)
class Index:
    """How documents are cut, and where they are kept.

    `chunking` identifies the cutting; indexes with the same one share chunks. `fingerprint`
    identifies all that decides what is stored. `levelling` is held by the thread that catches up.
    """

    name: str
    recaller: Recaller
    chunker: Chunker
    chunking: str
    fingerprint: str
    embedder: Embedder | None = None
    levelling: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    def cut(self, document: Document) -> Sequence[ChunkDraft]:
        """Cut a document; a piece longer than the embedder reads is refused, not hidden."""
        if self.embedder is None:
            return self.chunker.chunk(document, Budget(None, _words))
        budget = Budget(self.embedder.max_tokens, self.embedder.count_tokens)
        drafts = self.chunker.chunk(document, budget)
        if any(self.embedder.count_tokens(draft.text) > self.embedder.max_tokens for draft in drafts):
            raise ConfigError(
                f"the chunker of index {self.name!r} made a piece longer than its embedder reads"
                f" ({self.embedder.max_tokens} tokens); the rest would be invisible",
                "choose a chunker that keeps to a budget, such as 'sentences'",
            )
        return drafts


def _words(text: str) -> int:
    return len(text.split())
