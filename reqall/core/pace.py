"""How fast a job goes and how long its phase still takes: the one place that says so."""

import math
from collections import deque
from dataclasses import dataclass, field

WINDOW_SECONDS = 30.0
"""What the rate is taken over: long enough for batches of seconds, short enough to follow a change."""


@dataclass
class Pace:
    """The last moments of a phase: when (seconds) how much was done."""

    phase: str = ""
    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def observe(self, phase: str, done: int, at: float) -> None:
        """Note how much of a phase is done; a new phase, a count or a clock that goes back begin anew."""
        if phase != self.phase or (self.seen and (done < self.seen[-1][1] or at < self.seen[-1][0])):
            self.phase = phase
            self.seen.clear()
        self.seen.append((at, done))
        # The two newest stay however old: after a long wait they are all that is known.
        while len(self.seen) > 2 and at - self.seen[0][0] > WINDOW_SECONDS:  # noqa: PLR2004
            self.seen.popleft()

    @property
    def rate(self) -> float:
        """Documents per second over the window; 0 when unknown."""
        (first, before), (last, done) = self.seen[0], self.seen[-1]
        return (done - before) / (last - first) if last > first else 0.0

    def eta_seconds(self, total: int) -> int:
        """Seconds until this phase has done `total`; 0 when unknown, or when nothing is left."""
        left = total - self.seen[-1][1]
        return math.ceil(left / self.rate) if self.rate > 0 and left > 0 else 0
