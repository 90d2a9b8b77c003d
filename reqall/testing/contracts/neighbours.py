"""What is alike: a recaller that knows it, and a fuser that looks at it."""

from collections.abc import Sequence
from functools import partial

import pytest

from reqall import DocumentRanking, Fuser, SupportsLikeness, SupportsNeighbours, Vectors
from reqall.testing.contracts.recaller_setting import RecallerSetting
from reqall.testing.contracts.shelf import Shelf
from reqall.testing.contracts.wellformed import require_document_ranking

TOLERANCE = 1e-3


class LikenessContract(RecallerSetting):
    """Laws of `SupportsLikeness`. Override the fixture `make_recaller`."""

    def test_likeness_is_a_table_of_cosines(self, shelf: Shelf) -> None:
        """Each document is like itself, two are alike in either order, a document that is not held is like none."""
        import numpy as np

        assert isinstance(shelf.recaller, SupportsLikeness), "the recaller has no method likeness(document_ids)"
        shelf.put("d1", "volume alarm")
        shelf.put("d2", "volume alarm")
        shelf.put("d3", "battery door")
        found = np.asarray(shelf.recaller.likeness(["d1", "gone", "d2", "d3"]), dtype=float)
        assert found.shape == (4, 4), f"four documents gave a table of shape {found.shape}"
        assert np.abs(found - found.T).max() <= TOLERANCE, "two documents are not alike in either order"
        assert np.abs(found[[0, 2, 3], [0, 2, 3]] - 1).max() <= TOLERANCE, "a document is not like itself"
        assert abs(found[0, 2] - 1) <= TOLERANCE, "two documents of one text are not alike"
        assert found[0, 3] < found[0, 2], "documents that share no word are as alike as those of one text"
        assert not found[1].any(), "a document that the index does not hold is like another"


class NeighboursContract:
    """Laws of `SupportsNeighbours`. Override the fixture `fuser`."""

    @pytest.fixture
    def fuser(self) -> Fuser:
        """Return the fuser under test."""
        raise NotImplementedError("override the fixture `fuser` in your test class")

    def test_it_invents_and_repeats_nothing_whatever_is_alike(self, fuser: Fuser) -> None:
        """What comes out is a ranking of all documents that went in."""
        assert isinstance(fuser, SupportsNeighbours), "the fuser has no method fuse_alike"
        first, second = DocumentRanking.of([("a", 3), ("b", 2), ("c", 1)]), DocumentRanking.of([("c", 5), ("d", 4)])
        for cosine in (0, 1):
            likeness = partial(_equal, cosine)
            fused = fuser.fuse_alike([first, second], [1.0, 0.5], likeness)
            assert set(require_document_ranking(fused)) == set("abcd"), "other documents came out than went in"

    def test_no_rankings_have_no_neighbours(self, fuser: Fuser) -> None:
        """No rankings give an empty ranking."""
        assert isinstance(fuser, SupportsNeighbours), "the fuser has no method fuse_alike"
        fused = fuser.fuse_alike([], [], partial(_equal, 0))
        assert require_document_ranking(fused) == [], "no rankings gave documents"


def _equal(cosine: float, document_ids: Sequence[str]) -> Vectors:
    import numpy as np

    return np.full((len(document_ids), len(document_ids)), cosine, dtype=np.float32)
