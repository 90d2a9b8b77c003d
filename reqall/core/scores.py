"""Remembers what a model scored, in a file beside the catalog: for the next search, process and experiment.

Neither queries nor texts are kept, only a hash of them. Like any cache it may be deleted at any time, and
a search goes on without it where the file cannot be used.
"""

import hashlib
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reqall.core.database import Database
from reqall.core.errors import CatalogError

LIMIT = 500_000
"""Most scores kept, some 40 MB: 5,000 searches of a hundred candidates. The oldest go first."""

BUSY_TIMEOUT_MS = 500
"""A score that cannot be kept within this time is not worth the wait."""

FILE = "scores.db"

_SCHEMA = """
CREATE TABLE score(
    number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, score REAL NOT NULL, milliseconds REAL NOT NULL);
"""

_log = logging.getLogger("reqall.scores")


@dataclass(frozen=True, slots=True)
class Score:
    """What a passage scored, and what that cost."""

    value: float
    milliseconds: float


def score_key(identity: str, query: str, text: str) -> bytes:
    """Identify a score by the scorer, the query and the passage's text."""
    digest = hashlib.sha256()
    for part in (identity, query, text):
        # Hashed one by one, so that no two divisions of one text are alike; lone surrogates are no UTF-8.
        digest.update(hashlib.sha256(part.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()[:16]


class ScoreCache:
    """Scores on disk, at most `limit`. Opened when it is first needed; thread-safe, across processes too."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        """Keep the file in `folder`."""
        self.path = folder / FILE
        self._limit = limit
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._is_unusable = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Score]:
        """Return the scores that are known."""
        found: dict[bytes, Score] = {}
        with self._forgiving():
            if database := self._opened():
                statement = "SELECT score, milliseconds FROM score WHERE key = ?"
                with database.reading() as connection:
                    for key in keys:
                        found.update((key, Score(*row)) for row in connection.execute(statement, (key,)))
        return found

    def put(self, scores: Mapping[bytes, Score]) -> None:
        """Keep scores, as the newest; those above the limit go."""
        rows = [(key, score.value, score.milliseconds) for key, score in scores.items()]
        with self._forgiving():
            if database := self._opened():
                with database.writing() as tx:
                    tx.executemany("INSERT OR REPLACE INTO score(key, score, milliseconds) VALUES (?, ?, ?)", rows)
                    tx.execute("DELETE FROM score WHERE number <= (SELECT max(number) FROM score) - ?", (self._limit,))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _opened(self) -> Database | None:
        with self._lock:
            if self._database is None and not self._is_unusable:
                self._is_unusable = True
                self._database = Database(self.path, BUSY_TIMEOUT_MS, steps=(_SCHEMA,))
                self._is_unusable = False
            return self._database

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """Go on without the file: scores can be had again."""
        try:
            yield
        except CatalogError as error:
            _log.warning("scores of rerankers are not kept: %s", error.message)
