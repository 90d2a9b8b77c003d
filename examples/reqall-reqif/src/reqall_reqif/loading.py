"""Keeps what was read as long as the files are as they were."""

import hashlib
import threading
from pathlib import Path

from reqall import SourceError
from reqall_reqif.collection import Collection
from reqall_reqif.options import ReqifOptions
from reqall_reqif.reading.decode import decode
from reqall_reqif.reading.exchange import Exchange
from reqall_reqif.reading.files import digest_of, find_files, read_file, unpack

_MAPPING = 1
"""Grows when documents are made differently of the same files: an incremental sync then walks all of them."""


class Loader:
    """Reads the files; a file whose content is known is not decoded again. Thread-safe."""

    def __init__(self, options: ReqifOptions, name: str) -> None:
        self._options, self._name = options, name
        self._lock = threading.Lock()
        self._decoded: dict[tuple[str, str], list[Exchange]] = {}
        self._collection: Collection | None = None
        self._digest = ""

    def load(self) -> Collection:
        """Return all that the files say now. Raises SourceError."""
        with self._lock:
            decoded: dict[tuple[str, str], list[Exchange]] = {}
            for file in find_files(self._options.path):
                key, exchanges = self._decode(file)
                decoded[key] = exchanges
            told = repr((_MAPPING, sorted(self._options.model_dump(mode="json").items()), list(decoded)))
            digest = hashlib.sha256(told.encode()).hexdigest()
            if self._collection is None or digest != self._digest:
                exchanges = [exchange for each in decoded.values() for exchange in each]
                self._collection = Collection(exchanges, self._options, self._name, digest)
                self._decoded, self._digest = decoded, digest
            return self._collection

    def problems(self) -> list[str]:
        """Read every file and return a line for each that cannot be read, and for files that do not fit together."""
        try:
            files = find_files(self._options.path)
        except SourceError as error:
            return [_line(error)]
        found = []
        for file in files:
            try:
                self._decode(file)
            except SourceError as error:
                found.append(_line(error))
        if not found:
            try:
                self.load()
            except SourceError as error:
                found.append(_line(error))
        return found

    def _decode(self, file: Path) -> tuple[tuple[str, str], list[Exchange]]:
        data = read_file(file, self._options.largest_file)
        key = (str(file), digest_of(data))
        known = self._decoded.get(key)
        if known is None:
            known = [decode(content) for content in unpack(file, data, self._options.largest_file)]
        return key, known


def _line(error: SourceError) -> str:
    return f"{error.message}. {error.remedy}"
