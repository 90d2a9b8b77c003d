"""Long queries: cut without a loss, averaged, and found whole."""

import numpy as np  # noqa: TID253 - a test may
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.plugins.recallers.queries import MOST_PIECES, pieces, query_vectors
from reqall.testing.fakes import HashingEmbedder


def words_up_to(limit):
    return lambda text: len(text.split()) <= limit


@given(text=st.text(alphabet="ab. \n\u3002x", max_size=120).filter(str.strip), limit=st.integers(1, 9))
def test_pieces_fit_and_lose_only_space(text, limit):
    found = pieces(text, lambda part: len(part) <= limit)
    assert all(0 < len(piece) <= limit for piece in found)
    squeezed, kept = "".join(text.split()), "".join("".join(found).split())
    assert kept == squeezed if len(found) < MOST_PIECES else squeezed.startswith(kept)


def test_a_text_is_cut_at_the_end_of_a_sentence_near_its_middle():
    text = "The door closes when the train starts. The user is logged out after ten minutes."
    assert pieces(text, words_up_to(9)) == text.replace(". ", ".\n").splitlines()


def test_a_text_without_sentences_is_cut_between_words_and_one_without_spaces_anywhere():
    assert pieces("one two three four", words_up_to(2)) == ["one two", "three four"]
    assert pieces("abcdefgh", lambda part: len(part) <= 2) == ["ab", "cd", "ef", "gh"]


def test_a_character_that_does_not_fit_is_a_piece_all_the_same():
    assert pieces("ab", lambda _part: False) == ["a", "b"]


def test_the_end_of_a_long_query_is_searched_for():
    embedder = HashingEmbedder(dimensions=512, max_tokens=8)
    long = "volume " * 12 + "battery " * 12
    cut, whole = query_vectors(embedder, [long])[0], embedder.embed_query([long])[0]
    battery = embedder.embed_documents(["battery"])[0]
    assert whole @ battery == pytest.approx(0)
    assert cut @ battery > 0.5


def test_a_mean_counts_pieces_by_their_length():
    embedder = HashingEmbedder(dimensions=512)
    long, short = "aaaa bbbb cc.", "d e f g h"
    (vector,) = query_vectors(embedder, [f"{long} {short}"], 5)
    first, second = (embedder.embed_query([piece])[0] for piece in (long, short))
    assert (vector @ first) / (vector @ second) == pytest.approx(len(long) / len(short))


@given(st.lists(st.text(alphabet="abc .", min_size=1, max_size=60).filter(str.strip), min_size=1, max_size=5))
def test_each_text_has_its_own_vector_of_length_1_whatever_stands_beside_it(texts):
    embedder = HashingEmbedder(max_tokens=6)
    together = query_vectors(embedder, texts, 4)
    assert together.shape == (len(texts), embedder.dimensions)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert vector == pytest.approx(query_vectors(embedder, [text], 4)[0], abs=1e-5)


def test_short_queries_are_embedded_as_they_are():
    embedder = HashingEmbedder()
    texts = ["volume level", "door"]
    assert (query_vectors(embedder, texts) == embedder.embed_query(texts)).all()
    assert embedder.queries == texts * 2


@pytest.mark.parametrize("tokens", [3, 50])
def test_pieces_are_as_long_as_told_and_never_longer_than_is_read(tokens):
    embedder = HashingEmbedder(max_tokens=8)
    query_vectors(embedder, ["one two three four five six seven eight nine ten"], tokens)
    longest = max(embedder.count_tokens(piece) for piece in embedder.queries)
    assert longest == min(tokens, 5)


def test_the_recaller_searches_for_all_of_a_query(make_shelf):
    shelf = make_shelf("sqlite_vec", HashingEmbedder(dimensions=512, max_tokens=8))
    shelf.put("loud", "volume")
    shelf.put("both", "volume battery")
    assert shelf.find("volume " * 12 + "battery " * 12) == ["both", "loud"]


def test_the_recaller_cuts_into_pieces_as_long_as_told(make_shelf):
    embedder = HashingEmbedder(dimensions=512)
    shelf = make_shelf("sqlite_vec", embedder, query_tokens=2)
    shelf.put("loud", "volume")
    shelf.find("volume level door train")
    assert embedder.queries == ["volume level", "door train"]
