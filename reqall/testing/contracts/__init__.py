"""Contracts that plugins inherit: classes of pytest tests, one per kind of component and per ability.

    class TestMine(FuserContract):
        @pytest.fixture
        def fuser(self):
            return MyFuser()

A contract needs pytest and hypothesis (`pip install "reqall[testing]"`), nothing of it a model or a
network. A law that fails says what is wrong with the component.
"""

from collections.abc import Mapping

from reqall import InputError
from reqall.testing.contracts.abilities import ABILITIES, abilities_of
from reqall.testing.contracts.chunker import ChunkerContract
from reqall.testing.contracts.embedder import EmbedderContract
from reqall.testing.contracts.expander import ExpanderContract
from reqall.testing.contracts.expander_abilities import DisclosureContract, FeedbackContract
from reqall.testing.contracts.fuser import FuserContract
from reqall.testing.contracts.link_changes import LinkChangesContract
from reqall.testing.contracts.neighbours import LikenessContract, NeighboursContract
from reqall.testing.contracts.recaller import RecallerContract
from reqall.testing.contracts.recaller_abilities import DropContract, InspectionContract
from reqall.testing.contracts.reranker import RerankerContract
from reqall.testing.contracts.reranker_abilities import DeadlineContract, ScoresContract
from reqall.testing.contracts.shelf import Shelf
from reqall.testing.contracts.source import SourceContract
from reqall.testing.contracts.source_abilities import (
    CountContract,
    DeletionsContract,
    PresenceContract,
    ValidationContract,
    WaitingContract,
)

CONTRACTS: Mapping[str, type] = {
    "source": SourceContract,
    "chunker": ChunkerContract,
    "embedder": EmbedderContract,
    "expander": ExpanderContract,
    "recaller": RecallerContract,
    "fuser": FuserContract,
    "reranker": RerankerContract,
}
"""The contract of each kind."""

FIXTURES: Mapping[str, str] = {kind: kind for kind in CONTRACTS} | {"recaller": "make_recaller"}
"""The fixture that a test class overrides, by kind; for a recaller it returns what builds one from `Services`."""


def contract_for(kind: str) -> type:
    """Return the contract of a kind of components. Raises InputError for what is none."""
    if kind not in CONTRACTS:
        raise InputError(f"no kind of components is named {kind!r}", f"kinds: {', '.join(CONTRACTS)}")
    return CONTRACTS[kind]


__all__ = [
    "ABILITIES",
    "CONTRACTS",
    "FIXTURES",
    "ChunkerContract",
    "CountContract",
    "DeadlineContract",
    "DeletionsContract",
    "DisclosureContract",
    "DropContract",
    "EmbedderContract",
    "ExpanderContract",
    "FeedbackContract",
    "FuserContract",
    "InspectionContract",
    "LikenessContract",
    "LinkChangesContract",
    "NeighboursContract",
    "PresenceContract",
    "RecallerContract",
    "RerankerContract",
    "ScoresContract",
    "Shelf",
    "SourceContract",
    "ValidationContract",
    "WaitingContract",
    "abilities_of",
    "contract_for",
]
