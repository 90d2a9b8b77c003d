"""Limits how many requests leave for one Jama in any one second, over all threads and clients of this process.

Jama's limit is the environment's, shared by all its users: 10 a second (support.jamasoftware.com, article
37036412486285).
"""

import math
import threading
import time
from collections import deque
from dataclasses import dataclass
from weakref import WeakValueDictionary

_DELIVERY = 0.25
"""Seconds after which a request that was sent is taken to have arrived, though no answer has begun."""

_MARGIN = 0.02
_RECENT = 32


@dataclass(slots=True, eq=False)
class Place:
    """One of the places of a window: when its request left, and when it is free again."""

    sent: float = math.inf
    free: float = math.inf


class RateLimit:
    """At most `rate` requests in any `window` of seconds, as the server sees them; thread-safe.

    A request takes a place before it leaves. The place is free again one window after the request
    arrived, so that those which come late are not caught up with by those which follow. When it
    arrived nobody says; the server surely needed as long for its answer as for the quickest of late.
    """

    def __init__(self, rate: int, window: float = 1.0) -> None:
        self.rate = rate
        self._window = window
        self._changed = threading.Condition()
        self._places: list[Place] = []
        self._latencies: deque[float] = deque(maxlen=_RECENT)

    def take(self) -> Place:
        """Wait for a place and take it; `sent` must follow."""
        place = Place()
        with self._changed:
            while (wait := self._until_room(time.perf_counter())) > 0:
                self._changed.wait(min(wait, self._window))
            self._places.append(place)
        return place

    def sent(self, place: Place) -> None:
        """Note that the request has left."""
        with self._changed:
            place.sent = time.perf_counter()
            self._free(place, place.sent + _DELIVERY)

    def answered(self, place: Place) -> None:
        """Note that the answer has begun."""
        with self._changed:
            now = time.perf_counter()
            self._latencies.append(now - place.sent)
            self._free(place, now - min(self._latencies) + _MARGIN)

    def _until_room(self, now: float) -> float:
        self._places = [place for place in self._places if place.free > now]
        return 0.0 if len(self._places) < self.rate else min(place.free for place in self._places) - now

    def _free(self, place: Place, arrived: float) -> None:
        place.free = min(place.free, arrived + self._window)
        self._changed.notify_all()


_limits: WeakValueDictionary[str, RateLimit] = WeakValueDictionary()
_limits_lock = threading.Lock()


def shared_limit(base: str, rate: int) -> RateLimit:
    """Return the limit that all clients of this address share; the lowest rate that one of them asks for holds."""
    with _limits_lock:
        limit = _limits.get(base)
        if limit is None:
            _limits[base] = limit = RateLimit(rate)
        limit.rate = min(limit.rate, rate)
        return limit
