"""Which configuration last used which index of the file, and when: what `gc` must know before it drops one.

A line of `meta` for each index and configuration file. It is written at most once an hour, and only
when no one else is writing, so that a search never waits for it.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from reqall.core.database import Database
from reqall.core.errors import CatalogError

EVERY_SECONDS = 3600.0
_KEY = "used:"


@dataclass(frozen=True, slots=True)
class Use:
    """One index as a configuration uses it.

    `origin` names the configuration file (empty: unknown), `config` is the index's part of it as
    written there: variables are not expanded, so it holds no secret. `time` is in seconds since 1970.
    """

    prefix: str
    origin: str
    index: str
    fingerprint: str
    chunking: str
    storage: str
    config: dict[str, Any] = field(default_factory=dict)
    time: float = 0.0

    @property
    def key(self) -> str:
        """Key of its line in `meta`."""
        return f"{_KEY}{self.prefix}:{hashlib.sha256(self.origin.encode()).hexdigest()[:12]}"


class Usage:
    """The uses that are noted in one file."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        """Work on an opened database; `clock` tells seconds since 1970."""
        self.database = database
        self.clock = clock
        self._noted: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, uses: Iterable[Use]) -> None:
        """Note that these are in use now, if the last note is older than an hour. Never waits, never fails."""
        now = self.clock()
        with self._lock:
            due = [use for use in uses if self._is_due(use, now)]
            if not due:
                return
            try:
                # Another process, or an earlier one, may have noted them.
                self._noted.update((use.key, use.time) for use in self.all())
                due = [use for use in due if self._is_due(use, now)]
                if not due:
                    return
                with self.database.writing_if_idle() as tx:
                    if tx is None:
                        return
                    rows = [(use.key, json.dumps(asdict(replace(use, time=now)))) for use in due]
                    tx.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            except CatalogError:
                # A full disk or a lock is for the next sync to report: a search goes on.
                return
            self._noted.update((use.key, now) for use in due)

    def _is_due(self, use: Use, now: float) -> bool:
        return now - self._noted.get(use.key, -EVERY_SECONDS) >= EVERY_SECONDS

    def all(self) -> list[Use]:
        """Read all notes, the newest last."""
        rows = self.database.query("SELECT value FROM meta WHERE key >= ? AND key < ?", (_KEY, _KEY[:-1] + ";"))
        return sorted((Use(**json.loads(value)) for (value,) in rows), key=lambda use: use.time)
