"""Each law of chunkers and embedders is broken once by a component that is wrong in that way alone."""

import itertools
import socket

import numpy as np  # noqa: TID253 - a test may
import pytest

from reqall import ChunkDraft
from reqall.testing.contracts import ChunkerContract, EmbedderContract
from reqall.testing.fakes import HashingEmbedder


class Cutting:
    """A plain chunker, right in all but what `wrong` does to its pieces."""

    def __init__(self, wrong=lambda drafts: drafts, *, title=True):
        self._wrong, self._title = wrong, title

    def chunk(self, document, budget):
        limit = budget.max_tokens or 10**9
        title = (document.name.strip() or document.key)[: limit // 5]
        drafts = [
            ChunkDraft(section, title, body)
            for section, text in document.sections.items()
            for body in self._pieces(text, lambda body: budget.count_tokens(f"{title}\n{body}") <= limit)
        ]
        return self._wrong(drafts or [ChunkDraft("", title if self._title else "", "")])

    def _pieces(self, text, fits):
        held = ""
        for part in text.split():
            for word in [part] if fits(part) else part:  # a word too long is cut into characters
                separator = " " if word is part else ""
                if held and not fits(f"{held}{separator}{word}"):
                    yield held
                    held = ""
                held = f"{held}{separator}{word}" if held else word
        if held:
            yield held


def longer(drafts):
    return [ChunkDraft(draft.section, draft.context, f"{draft.body} {'more ' * 300}") for draft in drafts]


def flickering():
    turn = itertools.count()
    return lambda drafts: drafts if next(turn) % 2 else [*drafts, *drafts]


def named_only(drafts):
    return [ChunkDraft("", drafts[0].context, "")]


CHUNKERS = {
    "test_every_piece_is_within_the_budget": (Cutting(longer), "were allowed", {}),
    "test_every_word_is_in_some_piece": (Cutting(named_only), "are in no piece", {}),
    "test_the_same_document_is_cut_the_same_way": (Cutting(flickering()), "cut in two ways", {}),
    "test_a_document_without_text_has_a_piece": (
        Cutting(title=False),
        "no piece holds 'P-1'",
        {"name": "", "key": "P-1", "sections": {}},
    ),
    "test_a_huge_word_is_not_lost": (Cutting(lambda drafts: drafts[:2]), "a word of 2400 characters was cut", {}),
    "test_other_scripts_are_cut_too": (Cutting(lambda drafts: drafts[:1]), "are in no piece", {"text": "字" * 300}),
    "test_a_huge_name_leaves_room_for_the_text": (Cutting(named_only), "with a huge name", {}),
}


@pytest.mark.parametrize("law", CHUNKERS)
def test_the_contract_of_chunkers_notices(notices, law):
    chunker, words, given = CHUNKERS[law]
    notices(ChunkerContract, law, words, chunker=chunker, **given)


def test_no_law_of_chunkers_is_untried(laws_of):
    assert laws_of(ChunkerContract) == set(CHUNKERS)


class TestPlainChunker(ChunkerContract):
    """What is made wrong above is right without it."""

    @pytest.fixture
    def chunker(self):
        return Cutting()


@pytest.mark.parametrize(
    ("drafts", "words"),
    [
        ([], "no piece at all"),
        (["text"], "a piece is a ChunkDraft, not str"),
        ([ChunkDraft("elsewhere", "", "x")], "no section 'elsewhere'"),
    ],
)
def test_pieces_that_are_none_are_noticed(notices, drafts, words):
    chunker = Cutting(lambda _drafts: drafts)
    notices(ChunkerContract, "test_a_huge_name_leaves_room_for_the_text", words, chunker=chunker)


class Networked(HashingEmbedder):
    @property
    def identity(self):
        with socket.socket() as asked:
            asked.connect(("127.0.0.1", 9))
        return "asked"

    @identity.setter
    def identity(self, value):
        """Take what the base class sets."""


class Blank(HashingEmbedder):
    """Says nothing of itself."""

    def __init__(self):
        super().__init__()
        self.identity = " "


class Learning(HashingEmbedder):
    def embed_query(self, texts):
        self.identity += "!"
        return super().embed_query(texts)


def altered(alter):
    """An embedder whose vectors are altered."""

    class Altered(HashingEmbedder):
        def _embed(self, texts):
            return alter(super()._embed(texts), texts)

    return Altered()


class Elsewhere(HashingEmbedder):
    """Questions lie in another space."""

    def embed_query(self, texts):
        return np.roll(super().embed_query(texts), 7, axis=1)


class Uncounting(HashingEmbedder):
    def count_tokens(self, text):
        return len(text) // 1000


class ShortSighted(HashingEmbedder):
    """Says that it reads 256 words, and reads 8."""

    def _embed(self, texts):
        return super()._embed([" ".join(text.split()[:8]) for text in texts])


def trembling():
    """Vectors that depend on how often was asked."""
    turn = itertools.count()
    return altered(lambda vectors, _texts: np.roll(vectors, next(turn), axis=1))


def refuse_blank(vectors, texts):
    if any(not text.strip() for text in texts):
        raise ValueError("a blank text")
    return vectors


EMBEDDERS = {
    "test_it_says_what_it_is_without_the_network": (Networked(), "used the network to say what it is"),
    "test_what_it_is_does_not_change": (Learning(), "after embedding"),
    "test_vectors_have_their_shape_and_length_1": (altered(lambda v, _t: v * 2), "must have length 1"),
    "test_no_texts_no_vectors": (altered(lambda v, t: v if t else v[:, :1]), "gave an array of shape"),
    "test_odd_texts_are_no_error": (altered(refuse_blank), "a blank text"),
    "test_a_batch_gives_what_single_texts_give": (altered(lambda v, _t: np.roll(v, len(v), axis=1)), "alone and in a"),
    "test_the_same_text_gives_the_same_vector": (trembling(), "the same texts twice"),
    "test_questions_and_documents_share_a_space": (Elsewhere(), "should be nearest to itself"),
    "test_tokens_are_counted": (Uncounting(), "has no token"),
    "test_what_fits_is_read_to_its_end": (ShortSighted(), "the end is not read"),
    "test_threads_get_the_same": (trembling(), "four threads at once"),
}


@pytest.mark.parametrize("law", EMBEDDERS)
def test_the_contract_of_embedders_notices(notices, law, monkeypatch):
    embedder, words = EMBEDDERS[law]
    given = {"monkeypatch": monkeypatch} if law == "test_it_says_what_it_is_without_the_network" else {}
    notices(EmbedderContract, law, words, embedder=embedder, **given)


def test_no_law_of_embedders_is_untried(laws_of):
    assert laws_of(EmbedderContract) == set(EMBEDDERS)


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (lambda vectors, _texts: vectors.tolist(), "a numpy array, not list"),
        (lambda vectors, _texts: vectors[:, :-1], "gave an array of shape"),
        (lambda vectors, _texts: vectors.astype("float64"), "float32, not float64"),
        (lambda vectors, _texts: vectors * np.nan, "must have length 1"),
    ],
)
def test_vectors_that_are_none_are_noticed(notices, alter, words):
    notices(EmbedderContract, "test_vectors_have_their_shape_and_length_1", words, embedder=altered(alter))


def test_what_says_nothing_of_itself_is_noticed(notices, monkeypatch):
    law = "test_it_says_what_it_is_without_the_network"
    notices(EmbedderContract, law, "identity is blank", embedder=Blank(), monkeypatch=monkeypatch)
