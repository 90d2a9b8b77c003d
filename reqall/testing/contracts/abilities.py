"""Optional abilities and their contracts."""

from collections.abc import Mapping
from typing import Any

from reqall import (
    SupportsCount,
    SupportsDeadline,
    SupportsDeletions,
    SupportsDisclosure,
    SupportsDrop,
    SupportsFeedback,
    SupportsInspection,
    SupportsLikeness,
    SupportsLinkChanges,
    SupportsNeighbours,
    SupportsPresence,
    SupportsScores,
    SupportsValidation,
    SupportsWaiting,
)
from reqall.testing.contracts.expander_abilities import DisclosureContract, FeedbackContract
from reqall.testing.contracts.link_changes import LinkChangesContract
from reqall.testing.contracts.neighbours import LikenessContract, NeighboursContract
from reqall.testing.contracts.recaller_abilities import DropContract, InspectionContract
from reqall.testing.contracts.reranker_abilities import DeadlineContract, ScoresContract
from reqall.testing.contracts.source_abilities import (
    CountContract,
    DeletionsContract,
    PresenceContract,
    ValidationContract,
    WaitingContract,
)

ABILITIES: Mapping[type, type] = {
    SupportsCount: CountContract,
    SupportsDeletions: DeletionsContract,
    SupportsPresence: PresenceContract,
    SupportsLinkChanges: LinkChangesContract,
    SupportsValidation: ValidationContract,
    SupportsWaiting: WaitingContract,
    SupportsDrop: DropContract,
    SupportsInspection: InspectionContract,
    SupportsLikeness: LikenessContract,
    SupportsNeighbours: NeighboursContract,
    SupportsFeedback: FeedbackContract,
    SupportsDisclosure: DisclosureContract,
    SupportsDeadline: DeadlineContract,
    SupportsScores: ScoresContract,
}
"""The contract of each optional ability."""


def abilities_of(component: Any) -> list[type]:
    """List the contracts of the optional abilities that a component has."""
    return [contract for ability, contract in ABILITIES.items() if isinstance(component, ability)]


def require_abilities_tried(component: Any, test_class: type) -> None:
    """Check that a test class inherits the contracts of all abilities that the component has."""
    untried = [contract.__name__ for contract in abilities_of(component) if not issubclass(test_class, contract)]
    assert not untried, f"the component has abilities that are not tried: let the test class inherit {untried} too"
