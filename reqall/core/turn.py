"""Whose turn it is to bring an index level: of the processes that share a file one embeds, the others wait.

What a step stores is safe without it (the index's position is checked in the step's transaction); a turn
keeps two processes from embedding the same texts.
"""

import json
import time
import uuid

from reqall.core.database import Database
from reqall.core.owner import is_alive, this_process


class Turn:
    """One index's turn, as one thread asks for it; kept in the file, and void when its holder's process ends."""

    def __init__(self, database: Database, index: str) -> None:
        """Hold nothing yet; `index` is the same text in every process that shares the index."""
        self._database = database
        self._key = f"turn:{index}"
        self._holder = uuid.uuid4().hex

    def take(self) -> bool:
        """Take the turn, or show that it is still held; False while another holder lives."""
        with self._database.writing() as tx:
            row = next(tx.execute("SELECT value FROM meta WHERE key = ?", (self._key,)), None)
            if row is not None:
                held = json.loads(row[0])
                if held["holder"] != self._holder and is_alive(held["owner"], time.time() - held["time"]):
                    return False
            held = {"holder": self._holder, "owner": this_process(), "time": time.time()}
            tx.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (self._key, json.dumps(held)))
        return True

    def end(self) -> None:
        """Let the next one take it; without effect where it is another's."""
        with self._database.writing() as tx:
            mine = "key = ? AND value ->> 'holder' = ?"
            tx.execute(f"DELETE FROM meta WHERE {mine}", (self._key, self._holder))
