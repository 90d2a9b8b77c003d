"""Centring: what all items of a project have in common is taken out of a query.

In a space of many dimensions some vectors, hubs, are near to most queries. They are those near to the mean,
so a query from which the mean is subtracted finds fewer of them: q' = q - share * mean. (Suzuki, Hara,
Shimbo, Saerens and Fukumizu: Centering Similarity Measures to Reduce Hubs. EMNLP 2013,
https://aclanthology.org/D13-1058/.) Only the query moves; what is stored stays as it is.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from reqall import Filters, SqlConnection, Vectors
from reqall.plugins.recallers.vec0 import Vec0

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]

SAMPLE = 10_000
"""Vectors that a mean is taken of, at most: their reading takes a fraction of a second, and more change little."""


class Centring:
    """Subtracts a share of the mean of the projects that are searched. Thread-safe."""

    def __init__(self, tables: Vec0, share: float, sample: int = SAMPLE) -> None:
        """With a `share` of 0 nothing is subtracted, and nothing read."""
        self._sample = sample
        self._tables = tables
        self._share = share
        self._known: tuple[str, dict[tuple[str, ...], Floats]] = ("", {})

    def centred(self, reader: SqlConnection, vectors: Vectors, filters: Filters) -> Vectors:
        """Return vectors of length 1, centred in the index, which is not empty."""
        import numpy as np

        if not self._share:
            return vectors
        moved = np.asarray(vectors - self._share * self._mean(reader, filters.project_ids), dtype=np.float32)
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        centred: Vectors = np.where(norms > 0, moved / np.maximum(norms, np.finfo(np.float32).tiny), vectors)
        return centred

    def _mean(self, reader: SqlConnection, projects: Sequence[str]) -> "Floats":
        revision = self._tables.revision(reader)
        known = self._known
        if known[0] != revision:
            known = self._known = (revision, {})
        means = known[1]
        key = tuple(sorted(projects))
        if key not in means:
            means[key] = self._computed(reader, key)
        return means[key]

    def _computed(self, reader: SqlConnection, projects: Sequence[str]) -> "Floats":
        """Average the means of the item types: what many items of one type have in common shall not outweigh."""
        import numpy as np

        groups = self._tables.chunk_ids_by_type(reader, projects)
        most = max(self._sample // max(len(groups), 1), 1)
        means = [
            np.mean(
                [np.frombuffer(v, dtype=np.float32) for v in self._tables.vectors_of(reader, ids)], axis=0, dtype=float
            )
            for ids in (_spread(ids, most) for ids in groups.values())
        ]
        mean: Floats = np.mean(means, axis=0) if means else np.zeros(1)
        return mean


def _spread(ids: Sequence[int], most: int) -> Sequence[int]:
    """Choose at most so many, evenly."""
    return [ids[place * len(ids) // most] for place in range(most)] if len(ids) > most else ids
