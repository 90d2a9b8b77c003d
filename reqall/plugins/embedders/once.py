"""A value that is made at first use, by one thread, and then shared by all."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Once(Generic[T]):
    """Calls `make` at first use; what it raises is raised again, and the next use tries anew. Thread-safe.

    `is_made` tells whether the value is there.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.is_made = False
        self._value: T | None = None

    def __call__(self) -> T:
        """Return the value."""
        if not self.is_made:
            with self._lock:
                if not self.is_made:
                    self._value = self._make()
                    self.is_made = True
        return cast("T", self._value)
