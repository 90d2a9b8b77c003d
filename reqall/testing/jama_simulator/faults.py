"""The switches that make the simulated Jama fail, lag or behave like an older one."""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reqall.testing.jama_simulator.world import World

BeforePage = Callable[["World", str, int], object]

FAILURE_WORDS = ("reset", "truncated", "short", "html500", "slow")


@dataclass(frozen=True)
class Failure:
    """One failure to come: an HTTP status or a word of `FAILURE_WORDS`, on paths that match."""

    kind: int | str
    path: str = ""


@dataclass
class Faults:
    """Every switch of the simulator; set them before or while it runs.

    `fail_next` is consumed one entry per request. An entry is a status, a word or a `Failure`;
    `fail_path` (a regular expression) narrows entries that name no path of their own. Entries
    without any path leave the token endpoint alone. The words: `reset` the connection;
    `truncated` JSON in a complete answer; `short`: fewer bytes than announced; `html500`: an
    HTML error page; `slow`: answer after `slow_seconds`.

    `before_page(world, path, start)` runs before each page of a list is made (`start` is the
    `startAt` or the `lastId` asked for), on a thread of its own, so that it may wait.
    """

    licence_missing: bool = False
    expires_in: int = 3600
    forbidden_paths: list[str] = field(default_factory=list)
    over_cap: Literal["clamp", "error"] = "clamp"
    legacy_relationships: bool = False
    relationship_total: Literal["all", "remaining", "absent"] = "all"
    affected_items_after_delete: bool = True
    relationship_history_since: str = "2016-11-21T00:00:00.000+0000"
    contains_mode: Literal["literal", "lucene"] = "literal"
    index_lag_seconds: float = 0.0
    rate_limit_per_second: int | None = None
    retry_after: Literal["seconds", "date", "garbage"] | None = None
    retry_after_seconds: int = 1
    rate_limit_html: bool = False
    fail_next: list[int | str | Failure] = field(default_factory=list)
    fail_path: str = ""
    slow_seconds: float = 2.0
    page_delay: float = 0.0
    before_page: BeforePage | None = None
    _recent: deque[float] = field(default_factory=deque, repr=False)
    _token_generation: int = field(default=0, repr=False)

    def fail(self, *kinds: int | str, path: str = "") -> None:
        """Append failures for the next requests whose path matches the regular expression."""
        self.fail_next.extend(Failure(kind, path) for kind in kinds)

    def revoke_tokens(self) -> None:
        """Make every token given out so far invalid."""
        self._token_generation += 1

    @property
    def token_generation(self) -> int:
        """The generation that valid tokens bear."""
        return self._token_generation

    def next_failure(self, path: str, *, is_token: bool) -> int | str | None:
        """Take the first failure due for this path, or None."""
        for index, entry in enumerate(self.fail_next):
            failure = entry if isinstance(entry, Failure) else Failure(entry)
            pattern = failure.path or self.fail_path
            if (pattern and re.search(pattern, path)) or (not pattern and not is_token):
                del self.fail_next[index]
                return _checked(failure.kind)
        return None

    def is_forbidden(self, path: str) -> bool:
        """Tell whether the user lacks the permission for this path."""
        return any(re.search(pattern, path) for pattern in self.forbidden_paths)

    def over_limit(self, now: float) -> bool:
        """Count one call in the sliding second that ends `now` (monotonic seconds); True when it is one too many."""
        if self.rate_limit_per_second is None:
            return False
        while self._recent and self._recent[0] <= now - 1.0:
            self._recent.popleft()
        if len(self._recent) >= self.rate_limit_per_second:
            return True
        self._recent.append(now)
        return False

    def retry_headers(self) -> dict[str, str]:
        """Return the Retry-After header of a 429, if the switch asks for one."""
        if self.retry_after == "seconds":
            return {"Retry-After": str(self.retry_after_seconds)}
        if self.retry_after == "date":
            # HTTP dates have whole seconds: one more, so that the date is never too early.
            later = datetime.now(UTC) + timedelta(seconds=self.retry_after_seconds + 1)
            return {"Retry-After": format_datetime(later, usegmt=True)}
        return {"Retry-After": "soon, please"} if self.retry_after == "garbage" else {}


def _checked(kind: int | str) -> int | str:
    if isinstance(kind, str) and kind not in FAILURE_WORDS:
        raise ValueError(f"no such failure: {kind!r}; known: {', '.join(FAILURE_WORDS)} or a status")
    return kind
