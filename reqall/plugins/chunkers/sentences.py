"""Cuts each section at sentences, with LlamaIndex's SentenceSplitter where a section does not fit whole.

https://docs.llamaindex.ai/en/stable/api_reference/node_parsers/sentence_splitter/
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from reqall import Budget, ChunkDraft, Document, PluginOptions, Stored
from reqall.plugins.chunkers.fitting import fitting_pieces, fitting_prefix

_MAIN_SECTION = "description"
_TITLE_SHARE = 4
_BOUNDARY = re.compile(
    r"""(?<=[.!?])["')\]]*\s+"""  # Western: a space has to follow, so that 3.5 stays whole
    r"|(?<=[\u3002\uff01\uff1f])[\u300d\u300f\u201d\u2019\uff09]*\s*"  # Chinese and Japanese, closing quotes included
    r"|\n+"
)


class SentencesOptions(PluginOptions):
    """Options of the chunker `sentences`."""

    size: Annotated[int, Stored()] = Field(
        default=512, ge=16, description="Longest piece in tokens, context included; an embedder's limit goes first."
    )
    overlap: Annotated[int, Stored()] = Field(
        default=80, ge=0, description="Tokens of whole sentences that a piece repeats of the one before, at most."
    )

    @model_validator(mode="after")
    def _overlap_below_half(self) -> Self:
        if self.overlap * 2 > self.size:
            raise ValueError(f"overlap ({self.overlap}) must not be above half of size ({self.size})")
        return self


class SentencesChunker:
    """Cuts section by section; the name, and the section's label, stand before each piece."""

    def __init__(self, options: SentencesOptions) -> None:
        self._options = options

    def chunk(self, document: Document, budget: Budget) -> Sequence[ChunkDraft]:
        """Return at least one piece, each within the budget. Raises ConfigError if not one character fits."""
        size = min(self._options.size, budget.max_tokens or self._options.size)
        cutter = _Cutter(budget, size, self._options.overlap * size // self._options.size)
        title = document.name.strip() or document.key
        sections = [(name, text.strip()) for name, text in document.sections.items()]
        drafts = [draft for name, text in sections if text for draft in cutter.cut(title, name, text)]
        return drafts or [ChunkDraft("", cutter.shorten(title), "")]


class _Cutter:
    """Cuts to one size, with one way of counting."""

    def __init__(self, budget: Budget, size: int, overlap: int) -> None:
        self._count = budget.count_tokens
        self._size = size
        self._overlap = overlap
        # Marks that the model puts around every text are there once in a piece, not once per sentence.
        self._marks = self._count("")

    def cut(self, title: str, section: str, text: str) -> Iterator[ChunkDraft]:
        context = self._context(title, section)
        whole = ChunkDraft(section, context, text)
        if self._count(whole.text) <= self._size:
            yield whole
            return

        def fits(body: str) -> bool:
            return self._count(ChunkDraft(section, context, body).text) <= self._size

        for piece in self._sentences(text, self._size - self._count(f"{context}\n")):
            # Counts of parts need not add up to the count of the whole: so each piece is counted.
            for body in fitting_pieces(piece, fits):
                yield ChunkDraft(section, context, body)

    def shorten(self, title: str, share: int = 1) -> str:
        """Cut a title that would take more than its share of a piece."""
        limit = max(self._size // share, self._marks)
        return fitting_prefix(title, lambda text: self._count(text) <= limit).strip()

    def _context(self, title: str, section: str) -> str:
        label = "" if section == _MAIN_SECTION else section.replace("_", " ").strip().capitalize()
        return " | ".join(
            part for part in (self.shorten(title, _TITLE_SHARE), self.shorten(label, _TITLE_SHARE)) if part
        )

    def _sentences(self, text: str, size: int) -> list[str]:
        if size < 1:
            return [text]
        # The import costs seconds; most items of a project fit whole and never need it.
        from llama_index.core.node_parser import SentenceSplitter

        # Both functions are given: LlamaIndex's own would load tiktoken and nltk, and look for their files online.
        splitter = SentenceSplitter(
            chunk_size=size,
            chunk_overlap=min(self._overlap, size // 2),
            tokenizer=lambda part: range(max(self._count(part) - self._marks, 0)),
            chunking_tokenizer_fn=split_sentences,
        )
        try:
            pieces: list[str] = splitter.split_text(text)
        except ValueError:
            return [text]  # a single character is longer than the size: `fitting_pieces` decides
        return pieces


def split_sentences(text: str) -> list[str]:
    """Split at the ends of sentences and lines, Chinese and Japanese ones too; the parts add up to the text."""
    ends = [match.end() for match in _BOUNDARY.finditer(text)]
    starts = [0, *ends]
    parts = [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
    return [part for part in parts if part]
