import numpy as np  # noqa: TID253 - a test may
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reqall import EmbedderError
from reqall.plugins.embedders.unit import unit_rows


@given(arrays(np.float32, st.tuples(st.integers(0, 5), st.just(3)), elements=st.floats(-1e3, 1e3, width=16)))
def test_rows_have_length_1_and_their_direction(rows):
    vectors = unit_rows(rows, "model")
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    has_direction = rows.any(axis=1)
    lengths = np.linalg.norm(rows[has_direction], axis=1, keepdims=True)
    assert vectors[has_direction] * lengths == pytest.approx(rows[has_direction], rel=1e-4, abs=1e-4)
    assert (vectors[~has_direction] == [1, 0, 0]).all()


def test_what_is_not_finite_is_refused():
    with pytest.raises(EmbedderError, match="tiny"):
        unit_rows(np.array([[1.0, float("nan")]]), "tiny")
