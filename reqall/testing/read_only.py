"""A Jama on loopback that notices whoever writes to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reqall.testing.jama_simulator import JamaSimulator


@contextmanager
def read_only_jama(**options: Any) -> Iterator[JamaSimulator]:
    """Serve a `JamaSimulator` with these options; an AssertionError at the end tells a request that writes."""
    with JamaSimulator(**options) as simulator:
        yield simulator
        assert simulator.writes == [], f"only reading requests may reach Jama: {simulator.writes[:3]}"
