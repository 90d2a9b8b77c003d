"""Edits that wait for a page: the world changes just before that page is made."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reqall.testing.jama_simulator.edits import Edit, Outcome
from reqall.testing.jama_simulator.world import World


@dataclass
class Waiting:
    """Edits for the next page whose path matches and which starts there (None: wherever)."""

    id: int
    path: str
    start: int | None
    edits: Sequence[Edit]
    state: str = "waiting"
    outcomes: list[Outcome] = field(default_factory=list)
    error: str = ""

    def shown(self) -> dict[str, Any]:
        """Return the entry as JSON data."""
        edits = [edit.model_dump(exclude_none=True) for edit in self.edits]
        before = {"path": self.path, "start": self.start}
        result = {"outcomes": self.outcomes, "error": self.error}
        return {"id": self.id, "state": self.state, "before": before, "edits": edits, **result}


class Plan:
    """Everything that waits or has happened, in the order of its arrival."""

    def __init__(self, world: World) -> None:
        """Wait for pages of this world."""
        self._world = world
        self.entries: list[Waiting] = []
        self._count = 0

    def add(self, path: str, start: int | None, edits: Sequence[Edit]) -> Waiting:
        """Let edits wait for a page; `path` is a regular expression, searched in the request's path."""
        self._count += 1
        entry = Waiting(self._count, path, start, edits)
        self.entries.append(entry)
        return entry

    def run_before(self, path: str, start: int) -> None:
        """Make the edits that wait for this page; what fails is told in the entry, not to the reader."""
        for entry in self.entries:
            if entry.state != "waiting" or entry.start not in (None, start) or not re.search(entry.path, path):
                continue
            entry.state = "done"
            try:
                entry.outcomes.extend(edit.apply(self._world) for edit in entry.edits)
            except ValueError as error:
                entry.state, entry.error = "failed", str(error)
