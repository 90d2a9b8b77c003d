"""What every embedder keeps."""

import socket
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import pytest

from reqall import Embedder, Vectors
from reqall.testing.contracts.threads import in_threads
from reqall.testing.strategies import BLANK_TEXTS, ODD_TEXTS

if TYPE_CHECKING:
    import numpy.typing as npt

_LENGTH_TOLERANCE = 5e-4
_TEXTS = (
    "The volume of all speakers shall be the same.",
    "The door closes when the train starts to move.",
    "The user is logged out after ten minutes without input.",
    "登录 timeout",
    "Battery",
)


class EmbedderContract:
    """Laws of an `Embedder`. Override the fixture `embedder`.

    A model that is slow to load stands in a fixture of the module (`scope="module"`), which `embedder` returns.
    """

    tolerance: ClassVar[float] = 1e-3
    """How far a component may be off when the same text is embedded again, alone or with others."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Return the embedder under test."""
        raise NotImplementedError("override the fixture `embedder` in your test class")

    def test_it_says_what_it_is_without_the_network(self, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
        """Identity, dimensions and limit are asked at start, before anything is set up."""
        monkeypatch.setattr(socket.socket, "connect", _refuse)
        assert isinstance(embedder.identity, str), "identity is not a text"
        assert embedder.identity.strip(), "identity is blank: vectors of two models could not be told apart"
        assert embedder.dimensions > 0, f"dimensions is {embedder.dimensions}, not a length"
        assert embedder.max_tokens > 0, f"max_tokens is {embedder.max_tokens}: no text could be read whole"

    def test_what_it_is_does_not_change(self, embedder: Embedder) -> None:
        """A model that is loaded must not change what was said before."""
        before = embedder.identity, embedder.dimensions, embedder.max_tokens
        embedder.embed_query(_TEXTS[:1])
        after = embedder.identity, embedder.dimensions, embedder.max_tokens
        assert after == before, f"(identity, dimensions, max_tokens) was {before}, and {after} after embedding"

    def test_vectors_have_their_shape_and_length_1(self, embedder: Embedder) -> None:
        """Float32, one row per text, each of length 1."""
        _require_vectors(embedder, embedder.embed_documents(_TEXTS), len(_TEXTS))
        _require_vectors(embedder, embedder.embed_query(_TEXTS), len(_TEXTS))

    def test_no_texts_no_vectors(self, embedder: Embedder) -> None:
        """An empty list gives an array of shape (0, dimensions)."""
        _require_vectors(embedder, embedder.embed_documents([]), 0)
        _require_vectors(embedder, embedder.embed_query([]), 0)

    def test_odd_texts_are_no_error(self, embedder: Embedder) -> None:
        """Blank, very long, in other scripts: none of them spoils its batch."""
        texts = [text for text in (*BLANK_TEXTS, *ODD_TEXTS) if "\ud800" not in text]
        _require_vectors(embedder, embedder.embed_documents(texts), len(texts))
        _require_vectors(embedder, embedder.embed_query(texts), len(texts))

    def test_a_batch_gives_what_single_texts_give(self, embedder: Embedder) -> None:
        """In the order of the texts, whatever stands beside them."""
        batch = embedder.embed_documents(_TEXTS)
        for number, text in enumerate(_TEXTS):
            self._require_equal(embedder.embed_documents([text])[0], batch[number], f"{text!r} alone and in a batch")

    def test_the_same_text_gives_the_same_vector(self, embedder: Embedder) -> None:
        """Else nothing could be found again."""
        self._require_equal(embedder.embed_query(_TEXTS), embedder.embed_query(_TEXTS), "the same texts twice")

    def test_questions_and_documents_share_a_space(self, embedder: Embedder) -> None:
        """A text that is searched with is nearest to itself among the documents."""
        products = embedder.embed_query(_TEXTS) @ embedder.embed_documents(_TEXTS).T
        nearest = products.argmax(axis=1).tolist()
        assert nearest == list(range(len(_TEXTS))), (
            f"each of {len(_TEXTS)} texts, searched with, should be nearest to itself; nearest were {nearest}"
        )

    def test_tokens_are_counted(self, embedder: Embedder) -> None:
        """A text with a word has at least one token, a longer one more."""
        for text in _TEXTS:
            assert embedder.count_tokens(text) >= 1, f"{text!r} has no token"
        short, long = embedder.count_tokens("volume level"), embedder.count_tokens("volume level " * 50)
        assert short < long, f"fifty times the words have {long} tokens, the words {short}: chunks could not be cut"
        for text in (text for text in (*BLANK_TEXTS, *ODD_TEXTS) if "\ud800" not in text):
            assert embedder.count_tokens(text) >= 0, f"a negative number of tokens: {text[:20]!r}"

    def test_what_fits_is_read_to_its_end(self, embedder: Embedder) -> None:
        """No word of a text within `max_tokens` is invisible; chunkers rely on it."""
        kept = max(_fitting(embedder, " door") - 1, 1)
        texts = [" ".join(["volume"] * kept + [last]) for last in ("door", "train", "battery")]
        within = [text for text in texts if embedder.count_tokens(text) <= embedder.max_tokens]
        vectors = embedder.embed_documents(within)
        spread = float(abs(vectors - vectors[0]).max()) if len(within) > 1 else 1.0
        assert spread > 0, (
            f"texts of {embedder.max_tokens} tokens or less that differ in their last word have one vector: "
            "the end is not read; count_tokens or max_tokens says too little"
        )

    def test_threads_get_the_same(self, embedder: Embedder) -> None:
        """Searches of one server run in several threads."""
        alone = embedder.embed_query(_TEXTS[:2])
        for got in in_threads(lambda: embedder.embed_query(_TEXTS[:2])):
            self._require_equal(got, alone, "four threads at once and one alone")

    def _require_equal(self, one: "npt.NDArray[Any]", two: "npt.NDArray[Any]", what: str) -> None:
        difference = float(abs(one - two).max())
        assert difference <= self.tolerance, f"vectors differ by {difference:g} in a component: {what}"


def _require_vectors(embedder: Embedder, vectors: Vectors, count: int) -> None:
    import numpy as np

    assert isinstance(vectors, np.ndarray), f"vectors are a numpy array, not {type(vectors).__name__}"
    assert vectors.shape == (count, embedder.dimensions), (
        f"{count} texts in {embedder.dimensions} dimensions gave an array of shape {vectors.shape}"
    )
    assert vectors.dtype == np.float32, f"vectors are float32, not {vectors.dtype}"
    lengths = np.linalg.norm(vectors, axis=1)
    assert bool((abs(lengths - 1) <= _LENGTH_TOLERANCE).all()), (
        f"vectors must have length 1; lengths are {lengths.tolist()}"
    )


def _fitting(embedder: Embedder, last: str) -> int:
    """Find how many words, the last one among them, are within the limit."""
    low, high = 1, embedder.max_tokens + 1
    while high - low > 1:
        middle = (low + high) // 2
        if embedder.count_tokens(" ".join(["volume"] * middle) + last) <= embedder.max_tokens:
            low = middle
        else:
            high = middle
    return low + 1


def _refuse(*_arguments: object, **_named: object) -> NoReturn:
    pytest.fail("the embedder used the network to say what it is: identity and dimensions must be known before")
