"""When a sync asks before it removes: a lost permission and an outage look like mass deletion."""

from dataclasses import dataclass

from reqall.core.errors import SourceError
from reqall.core.types import Project

REMOVED_UNASKED = 20
"""So many documents go without a question, however few there were."""

SHARE_UNASKED = 5
"""Of more than that, one in so many documents of the project."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Documents that the source no longer shows, and that were not removed; `stored` counts the project's."""

    ids: frozenset[str]
    stored: int

    def error(self, project: Project) -> SourceError:
        """Return what the user has to know and to decide."""
        name = project.key or project.id
        return SourceError(
            f"{len(self.ids)} of {self.stored} documents of {name} are no longer shown by {project.source}:"
            " this is what a lost permission or an outage looks like, so none of them was removed",
            f"Check what the user may see in {project.source} and sync again."
            f" If they are really gone: reqall sync {name} --allow-removals",
        )


def withheld(gone: set[str], stored: int) -> Withheld | None:
    """Return what is too much to be removed unasked; None when it is not."""
    is_much = len(gone) > REMOVED_UNASKED and len(gone) * SHARE_UNASKED > stored
    return Withheld(frozenset(gone), stored) if is_much else None
