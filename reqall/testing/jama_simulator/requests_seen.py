"""The record of requests: what came in, when, and how busy the busiest second was."""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, Self
from urllib.parse import parse_qs

_SECOND = 1.0


class _Request(NamedTuple):
    method: str
    path: str
    query: str


class SeenRequest(_Request):
    """One request as it came in: method, path and query string, still encoded.

    `at` is when, in seconds of a clock that only goes forward; it takes no part in comparisons.
    """

    at: float

    def __new__(cls, method: str, path: str, query: str, at: float = 0.0) -> Self:
        """Keep the three parts as a tuple, and the moment beside them."""
        seen = super().__new__(cls, method, path, query)
        seen.at = at
        return seen

    @property
    def params(self) -> dict[str, list[str]]:
        """Return the decoded query, each parameter with all its values."""
        return parse_qs(self.query, keep_blank_values=True)


def busiest_second(moments: Iterable[float]) -> int:
    """Return the largest number of moments (in order) within any window of one second, its begin excluded."""
    window: deque[float] = deque()
    most = 0
    for moment in moments:
        while window and window[0] <= moment - _SECOND:
            window.popleft()
        window.append(moment)
        most = max(most, len(window))
    return most
