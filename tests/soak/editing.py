"""Random edits of the tiny project between two syncs. No text ever comes back, so none need be embedded twice."""

import itertools
from datetime import UTC, datetime

from tests.soak.truth import OTHER, PROJECT

CONTAINERS = (100, 101, 102)
STATUSES = (293, 300, 301, None)
LARGEST_REMOVAL = 4
"""Items that one edit takes away at most: a sweep that finds a fifth of a project gone refuses to believe it.

Before a sync is through, several edits may have been made.
"""


class Editor:
    """Makes edits that a seeded generator draws; with `stop_clock`, dates are as sharp as Jama's seconds allow."""

    def __init__(self, world, random, *, stop_clock=True):
        self.world, self.random = world, random
        self._fresh = itertools.count(1)
        if stop_clock:
            world.clock.set(datetime(2024, 6, 1, tzinfo=UTC))

    def incremental(self):
        """Edit, add, move, relate, comment: what an incremental sync sees by its dates."""
        for _ in range(self.random.randint(4, 16)):
            self._pass_time()
            self.random.choice((self.edit, self.edit, self.add, self.move, self.relate, self.comment))()

    def deletion(self):
        """Delete some items, and now and then let one vanish."""
        for _ in range(self.random.randint(1, 3)):
            self._pass_time()
            self.remove(self.world.vanish if self.random.random() < 0.3 else self.world.delete)

    def edit(self):
        number = next(self._fresh)
        changes = self.random.choice(
            (
                {"name": f"Renamed {number}"},
                {"description": f"<p>Edited text {number} of the <b>level</b></p>"},
                {"status": self.random.choice(STATUSES)},
            )
        )
        self.world.edit(self._one(), **changes)

    def add(self):
        number = next(self._fresh)
        fields = {"name": f"Added {number}", "description": f"<p>Added text {number}</p>", "status": STATUSES[0]}
        parent = self.random.choice((*CONTAINERS, self._one()))
        self.world.add({"itemType": 24, "parent": {"item": parent}, "fields": fields})

    def move(self):
        chosen = self._one()
        targets = [each for each in (*CONTAINERS, self._one()) if each not in self.world.with_descendants(chosen)]
        self.world.move(chosen, self.random.choice(targets))

    def leave(self):
        """Move an item with all below it to the other project."""
        self.remove(lambda chosen: self.world.move(chosen, {"project": OTHER}))

    def relate(self):
        self.world.relate(self._one(), self._one())

    def comment(self):
        self.world.comment(self._one(), "Why?")

    def remove(self, how):
        chosen = self._one()
        if len(self.world.with_descendants(chosen)) <= LARGEST_REMOVAL:
            how(chosen)

    def _one(self):
        """Draw a requirement of the project."""
        items = self.world.items.values()
        return self.random.choice([i["id"] for i in items if i["project"] == PROJECT and i["itemType"] == 24])

    def _pass_time(self):
        # An hour is more than what a sync reads again in any case.
        self.world.clock.advance(self.random.choice((0, 0, 1, 60, 3600)))
