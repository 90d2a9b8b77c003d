"""A small cache with an expiry; a value that several threads want at once is loaded once."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    value: Any = None
    expires: float = float("-inf")


class ExpiringCache:
    """Keeps what `load` returned for `lifetime` seconds of `clock`; an error is not kept."""

    def __init__(self, lifetime: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._slots: dict[Hashable, _Slot] = {}

    def get(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return the kept value, or load it."""
        # setdefault is atomic: of two threads' slots one stays, and both use that.
        slot = self._slots.setdefault(key, _Slot())
        with slot.lock:
            if self._clock() >= slot.expires:
                slot.value = load()
                slot.expires = self._clock() + self._lifetime
            value: T = slot.value
            return value

    def drop(self, key: Hashable) -> None:
        """Forget a value."""
        self._slots.pop(key, None)
