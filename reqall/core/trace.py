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
        self._add(name, (time.perf_counter() - start) * 1000)

    def add(self, other: "Trace") -> None:
        """Take over what another trace holds."""
        for name, milliseconds in other.timings.items():
            self._add(name, milliseconds)
        self.warnings += other.warnings

    def _add(self, name: str, milliseconds: float) -> None:
        """A stage may run twice in one search: its times add up."""
        self.timings[name] = round(self.timings.get(name, 0.0) + milliseconds, 3)
