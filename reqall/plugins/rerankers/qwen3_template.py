"""The prompt of Qwen3-Reranker, as tokens: what the model was trained on, to the letter.

Source: https://huggingface.co/Qwen/Qwen3-Reranker-0.6B, "Transformers usage". The text between prefix and suffix is
cut when it is too long; the suffix never is, since the answer is read at its last token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reqall import RerankerError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PREFIX = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct"
    ' provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"

WEB_INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
"""The model's own default instruction."""

REQUIREMENTS_INSTRUCTION = (
    "Given a question about a technical system, or one of its requirements, retrieve the requirements, test cases and"
    " other engineering items that answer the question, or that specify, refine, implement or verify the same thing"
)
"""The default here."""

_MARKS = ("<|im_start|>", "<|im_end|>")
_REMEDY = "Take a Qwen3-Reranker with the tokenizer that belongs to it, such as Qwen/Qwen3-Reranker-0.6B."


def body(instruction: str, query: str, passage: str) -> str:
    """Write what stands between prefix and suffix."""
    return f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {passage}"


@dataclass(frozen=True, slots=True)
class Template:
    """Prefix and suffix as ids, the ids of `yes` and `no`, and the longest prompt in tokens."""

    tokenizer: "Tokenizer"
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    yes: int
    no: int
    max_tokens: int

    @classmethod
    def of(cls, tokenizer: "Tokenizer", max_tokens: int) -> "Template":
        """Tokenise the fixed parts once. Raises RerankerError when the vocabulary is not one of Qwen3."""
        prefix, suffix = _ids(tokenizer, PREFIX), _ids(tokenizer, SUFFIX)
        for mark in (*_MARKS, "yes", "no"):
            if len(_ids(tokenizer, mark)) != 1:
                raise RerankerError(f"the model is no Qwen3-Reranker: its tokenizer has no token {mark!r}", _REMEDY)
        for text, ids in ((PREFIX, prefix), (SUFFIX, suffix)):
            if tokenizer.decode(ids, skip_special_tokens=False) != text:
                raise RerankerError(
                    "the model is no Qwen3-Reranker: its tokenizer does not give the template back", _REMEDY
                )
        (yes,), (no,) = _ids(tokenizer, "yes"), _ids(tokenizer, "no")
        return cls(tokenizer, tuple(prefix), tuple(suffix), yes, no, max_tokens)

    def prompts(self, instruction: str, query: str, passages: Sequence[str]) -> list[list[int]]:
        """Return the ids of a prompt per passage, none longer than `max_tokens`."""
        room = self.max_tokens - len(self.prefix) - len(self.suffix)
        texts = [body(instruction, query, passage) for passage in passages]
        encoded = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [[*self.prefix, *each.ids[:room], *self.suffix] for each in encoded]


def _ids(tokenizer: "Tokenizer", text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False).ids
