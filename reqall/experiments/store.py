"""Keeps what pipelines found, so that an interrupted experiment goes on and a repeated one is quick."""

import json
import os
from pathlib import Path

from reqall.core.evaluation import Searched


class Store:
    """A folder with a JSON file for each pair of a collection's content and a pipeline."""

    def __init__(self, folder: Path) -> None:
        """Use a folder; it is made with the first result."""
        self._folder = folder

    def get(self, collection: str, pipeline: str) -> Searched | None:
        """Return what was kept; None for nothing, and for a file that cannot be read."""
        try:
            record = json.loads(self._file(collection, pipeline).read_text(encoding="utf-8"))
            return Searched(record["run"], tuple(record["timings"]), tuple(record["warnings"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, collection: str, pipeline: str, found: Searched) -> None:
        """Keep a result; one with warnings is not: what was left out may be there the next time."""
        if found.warnings:
            return
        file = self._file(collection, pipeline)
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}.tmp")
        record = {"run": found.run, "timings": [dict(each) for each in found.timings], "warnings": []}
        draft.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        draft.replace(file)

    def _file(self, collection: str, pipeline: str) -> Path:
        return self._folder / f"{collection[:16]}-{pipeline[:32]}.json"
