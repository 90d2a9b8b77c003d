import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import ConfigError
from reqall.plugins.chunkers.fitting import fitting_pieces, fitting_prefix

TEXT = st.text(alphabet="ab \n", max_size=60)


@given(text=TEXT, seed=st.integers(0, 99))
def test_a_prefix_fits_however_odd_the_measure(text, seed):
    def fits(part):
        return part == "" or zlib.crc32(part.encode(), seed) % 3 > 0

    prefix = fitting_prefix(text, fits)
    assert text.startswith(prefix)
    assert fits(prefix)


@given(text=TEXT, limit=st.integers(1, 20))
def test_pieces_fit_and_hold_all_but_space(text, limit):
    pieces = fitting_pieces(text, lambda part: len(part) <= limit)
    assert all(0 < len(piece) <= limit and piece == piece.strip() for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_pieces_end_at_a_space_where_one_is_near():
    assert fitting_pieces("one two three four", lambda part: len(part) <= 10) == ["one two", "three four"]
    assert fitting_pieces("a bcdefghijkl", lambda part: len(part) <= 6) == ["a bcde", "fghijk", "l"]


def test_no_room_for_a_character_is_a_configuration_error():
    with pytest.raises(ConfigError, match="single character"):
        fitting_pieces("text", lambda _part: False)
