"""Stands in for the plugin in a process that shall die: it kills itself where `plan.json` beside it says.

`before`, `after` and `within` count calls of `apply` from 0; `within` is [call, seconds after its
begin]. Every call that returned is a line in `applied.jsonl`.
"""

import json
import os
import signal
import threading
import time
from pathlib import Path

from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import TantivyRecaller

from reqall import Registration, hookimpl

HERE = Path(__file__).parent


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(TantivyRecaller):
    """A recaller that dies at a chosen point."""

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self._plan = json.loads((HERE / "plan.json").read_text())
        self._calls = 0

    def apply(self, batch, prepared, tx):
        call, self._calls = self._calls, self._calls + 1
        if self._plan.get("before") == call:
            die()
        fatal_call, seconds = self._plan.get("within", (None, 0))
        if fatal_call == call:
            threading.Thread(target=lambda: (time.sleep(seconds), die()), daemon=True).start()
        super().apply(batch, prepared, tx)
        with (HERE / "applied.jsonl").open("a") as log:
            log.write(json.dumps({"documents": len(batch.documents), "seq": batch.position.seq}) + "\n")
        if self._plan.get("after") == call:
            die()


@hookimpl
def register_recallers():
    return [
        Registration(
            name="tantivy",
            summary="tantivy that dies",
            build=lambda options, services: Mortal(options, services.folder),
            options=TantivyOptions,
        )
    ]
