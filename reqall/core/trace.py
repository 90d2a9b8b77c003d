"""What happened in one search: milliseconds per stage, and warnings."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Trace:
    """Collects the timings and the warnings of one search, or of one arm of it."""

    timings: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; one that fails has no time."""
        start = time.perf_counter()
        yield
        self.timings[name] = round((time.perf_counter() - start) * 1000, 3)

    def add(self, other: "Trace") -> None:
        """Take over what another trace holds."""
        self.timings.update(other.timings)
        self.warnings += other.warnings
