"""One piece for the whole document: what a lexical index wants."""

from collections.abc import Sequence

from reqall import Budget, ChunkDraft, ConfigError, Document


class WholeChunker:
    """Never cuts: the name as context, all sections in order as body."""

    def chunk(self, document: Document, budget: Budget) -> Sequence[ChunkDraft]:
        """Return one piece. Raises ConfigError when the budget has a limit that it does not keep."""
        texts = (text.strip() for text in document.sections.values())
        title = document.name.strip() or document.key
        draft = ChunkDraft("", title, "\n\n".join(text for text in texts if text))
        # To cut here would hide the end of the text from the index without a word.
        if budget.max_tokens is not None and budget.count_tokens(draft.text) > budget.max_tokens:
            raise ConfigError(
                f"{document.id} is longer than the {budget.max_tokens} tokens that the index reads, "
                "and the chunker 'whole' does not cut",
                "Give this index the chunker 'sentences'.",
            )
        return [draft]
