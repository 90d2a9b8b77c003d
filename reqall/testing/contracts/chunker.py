"""What every chunker keeps."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Budget, ChunkDraft, Chunker, Document
from reqall.testing.contracts.examples import examples
from reqall.testing.strategies import documents

_LIMIT = 64
_UNKNOWN = 40
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_DOCUMENT = Document("list:1", "list", "list:1", "P-REQ-1", "req", "Requirement", "Volume sync")


def _words(text: str) -> int:
    return len(text.split())


def _characters_and_marks(text: str) -> int:
    return len(text) + 2


def _syllables(text: str) -> int:
    """Count a long word as one unknown token: counts need not grow with the text."""
    return 2 + sum(1 if len(word) > _UNKNOWN else -(-len(word) // 6) for word in text.split())


_COUNTERS: tuple[Callable[[str], int], ...] = (_words, _characters_and_marks, _syllables)
_BUDGETS = st.builds(Budget, st.none() | st.integers(_LIMIT, 4 * _LIMIT), st.sampled_from(_COUNTERS))


class ChunkerContract:
    """Laws of a `Chunker`. Override the fixture `chunker`."""

    unbounded: ClassVar[bool] = False
    """True for a chunker that never cuts (its registration has the trait "unbounded"): it keeps to no budget."""

    @pytest.fixture
    def chunker(self) -> Chunker:
        """Return the chunker under test."""
        raise NotImplementedError("override the fixture `chunker` in your test class")

    @examples(60)
    @given(document=documents(), budget=_BUDGETS)
    def test_every_piece_is_within_the_budget(self, chunker: Chunker, document: Document, budget: Budget) -> None:
        """Context included, by whatever way of counting: what is beyond is invisible to the embedder."""
        self._cut(chunker, document, budget)

    @examples(40)
    @given(document=documents())
    def test_every_word_is_in_some_piece(self, chunker: Chunker, document: Document) -> None:
        """Nothing of a section is lost."""
        for budget in (Budget(None, _words), Budget(_LIMIT, _words)):
            held = _words_of(" ".join(draft.text for draft in self._cut(chunker, document, budget)))
            for section, text in document.sections.items():
                lost = _words_of(text) - held
                assert not lost, f"words of the section {section!r} are in no piece: {sorted(lost)[:5]}"

    @examples(20)
    @given(document=documents(), budget=_BUDGETS)
    def test_the_same_document_is_cut_the_same_way(self, chunker: Chunker, document: Document, budget: Budget) -> None:
        """Else every sync would embed it anew."""
        first, second = self._cut(chunker, document, budget), self._cut(chunker, document, budget)
        assert first == second, "the same document was cut in two ways"

    @pytest.mark.parametrize(
        "sections", [{}, {"description": ""}, {"description": " \n"}], ids=["none", "empty", "blank"]
    )
    @pytest.mark.parametrize(
        ("name", "key"), [("Volume sync", "P-1"), ("", "P-1"), (" ", "")], ids=["name", "key", "bare"]
    )
    def test_a_document_without_text_has_a_piece(
        self, chunker: Chunker, name: str, key: str, sections: dict[str, str]
    ) -> None:
        """A folder is found by its name, or by its key."""
        drafts = self._cut(chunker, replace(_DOCUMENT, name=name, key=key, sections=sections), Budget(_LIMIT, _words))
        wanted = name.strip() or key
        assert any(wanted in draft.text for draft in drafts), f"no piece holds {wanted!r}, which is all that there is"

    def test_a_huge_word_is_not_lost(self, chunker: Chunker) -> None:
        """A path, a hash, a sentence without spaces: longer than any piece may be."""
        huge = "".join(f"{number:04}" for number in range(600))
        document = replace(_DOCUMENT, sections={"description": f"before {huge} after"})
        drafts = self._cut(chunker, document, Budget(_LIMIT, _characters_and_marks))
        covered = [False] * len(huge)
        for piece in (part for draft in drafts for part in re.findall(r"\d{5,}", draft.body)):
            start = huge.find(piece)
            covered[start : start + len(piece)] = [True] * len(piece)
        assert sum(covered) >= len(huge) - 4 * len(drafts), (
            f"a word of {len(huge)} characters was cut, and {covered.count(False)} of them are in no piece"
        )

    @pytest.mark.parametrize(
        "text", ["系统应在五秒内同步音量设置。" * 40, "Громкость. " * 90, "🎉" * 300, "a\u0301" * 300]
    )
    def test_other_scripts_are_cut_too(self, chunker: Chunker, text: str) -> None:
        """Where no spaces are, and where a character is more than one code point."""
        document = replace(_DOCUMENT, sections={"description": text})
        drafts = self._cut(chunker, document, Budget(_LIMIT, _characters_and_marks))
        held = "".join("".join(draft.body for draft in drafts).split())
        wanted = "".join(text.split())
        assert len(held) >= len(wanted), f"{len(wanted) - len(held)} characters of {len(wanted)} are in no piece"

    def test_a_huge_name_leaves_room_for_the_text(self, chunker: Chunker) -> None:
        """A name longer than a piece must not push the text out."""
        document = replace(
            _DOCUMENT, name="a very long name " * 60, sections={"description": "The volume is the same."}
        )
        drafts = self._cut(chunker, document, Budget(_LIMIT, _words))
        held = " ".join(draft.text for draft in drafts)
        assert {"volume", "same."} <= set(held.split()), "the text of a document with a huge name is in no piece"

    def _cut(self, chunker: Chunker, document: Document, budget: Budget) -> Sequence[ChunkDraft]:
        limit = None if self.unbounded else budget.max_tokens
        drafts = list(chunker.chunk(document, Budget(limit, budget.count_tokens)))
        assert drafts, "no piece at all: a document without one could not be found"
        for draft in drafts:
            assert isinstance(draft, ChunkDraft), f"a piece is a ChunkDraft, not {type(draft).__name__}"
            assert draft.section in {"", *document.sections}, f"the document has no section {draft.section!r}"
            count = budget.count_tokens(draft.text)
            assert limit is None or count <= limit, (
                f"a piece has {count} tokens, context included; {limit} were allowed"
            )
        return drafts


def _words_of(text: str) -> set[str]:
    """Find runs of letters and digits; where no spaces are, a chunker may cut between any two characters."""
    return set(_WORD.findall(text))
