"""Vectors of length 1, as the protocol wants them."""

from typing import TYPE_CHECKING, Any

from reqall import EmbedderError, Vectors

if TYPE_CHECKING:
    import numpy.typing as npt


def unit_rows(rows: "npt.NDArray[Any]", model: str) -> Vectors:
    """Scale each row of (texts, dimensions) to length 1, as float32.

    A text of which the model knows nothing (a blank one) has a row of zeros. It gets the first axis as its
    direction: it is near to others like it, and to little else. Raises EmbedderError for a number that is none.
    """
    import numpy as np

    vectors = np.array(rows, dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise EmbedderError(
            f"the embedding model {model} returned a vector that is not finite",
            "Its files may be damaged, or of a precision that this processor does not compute: try another export.",
        )
    norms = np.linalg.norm(vectors, axis=1)
    vectors[norms == 0, 0] = 1
    norms[norms == 0] = 1
    unit: Vectors = vectors / norms[:, None]
    return unit
