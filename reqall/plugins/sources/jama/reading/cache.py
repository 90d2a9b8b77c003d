"""A small cache with an expiry; a value that several threads want at once is loaded once.

Unless they are of another `lane`: who may wait long for an answer does not keep those waiting who may not.
"""

import math
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Slot:
    """A value with the moment when it expires, and a lock per lane."""

    kept: tuple[float, Any] = (-math.inf, None)
    locks: dict[Hashable, threading.Lock] = field(default_factory=dict)


class ExpiringCache:
    """Keeps what `load` returned for `lifetime` seconds of `clock`; an error is not kept.

    `lane` says of the calling thread with which others it shares its patience.
    """

    def __init__(
        self,
        lifetime: float,
        clock: Callable[[], float] = time.monotonic,
        lane: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._lane = lane
        self._slots: dict[Hashable, _Slot] = {}

    def get(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return the kept value, or load it."""
        # setdefault is atomic: of two threads' slots (or locks) one stays, and both use that.
        slot = self._slots.setdefault(key, _Slot())
        with slot.locks.setdefault(self._lane(), threading.Lock()):
            expires, value = slot.kept
            if self._clock() >= expires:
                value = load()
                slot.kept = self._clock() + self._lifetime, value
            found: T = value
            return found

    def drop(self, key: Hashable) -> None:
        """Forget a value."""
        self._slots.pop(key, None)
