"""Reads a folder whole, and anew only what changed since: files are told apart by their bytes.

Neither times nor sizes are trusted to tell a change: an edit in the same tick of the clock has the same.
"""

import threading
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from reqall import Project, SourceError, __version__
from reqall.plugins.sources.folder.corpus import Corpus, assemble
from reqall.plugins.sources.folder.entry import Reading, StoredFile
from reqall.plugins.sources.folder.formats import Unit, doorstop_units, is_wanted, other_units, readers
from reqall.plugins.sources.folder.options import FolderOptions
from reqall.plugins.sources.folder.tree import Tree


class FolderReading:
    """The folder as it is now; thread-safe. What was read is kept, to be used again while its bytes are the same."""

    def __init__(self, options: FolderOptions) -> None:
        """Touch no file yet."""
        self.tree = Tree(options.path, options.include, options.exclude, options.max_file_bytes)
        self._options = options
        self._readers = readers(options)
        self._lock = threading.Lock()
        self._read: dict[str, tuple[str, Reading]] = {}
        self._corpus: tuple[str, Corpus] | None = None

    def corpus(self, project: Project) -> Corpus:
        """Read what changed. Raises SourceError when the folder is not there; of files it tells in `problems`."""
        with self._lock:
            formats = self._options.formats
            listing = self.tree.listing(lambda name: is_wanted(name, formats))
            taken: set[str] = set()
            found = dict(self._units(doorstop_units(listing.paths, formats)))
            for unit, (_, reading) in found.items():
                taken.update(unit.beside if reading.taken is None else reading.taken)
            rest = [path for path in listing.paths if path not in taken]
            found.update(self._units(other_units(rest, formats)))
            self._read = {unit.path: read for unit, read in found.items()}
            ordered = [found[unit] for unit in sorted(found, key=lambda unit: unit.path)]
            told = [problem.message for problem in listing.problems]
            watermark = _digest(__version__, repr(self._options), *(digest for digest, _ in ordered), *told)
            if self._corpus is None or self._corpus[0] != watermark:
                corpus = assemble(
                    (reading for _, reading in ordered),
                    project,
                    url_prefix=self._options.url_prefix,
                    problems=listing.problems,
                    watermark=watermark,
                )
                self._corpus = watermark, corpus
            return self._corpus[1]

    def _units(self, units: Sequence[Unit]) -> Iterator[tuple[Unit, tuple[str, Reading]]]:
        for unit in units:
            yield unit, self._unit(unit)

    def _unit(self, unit: Unit) -> tuple[str, Reading]:
        """Read a unit with all its files, or return what was read of the same bytes."""
        files: list[StoredFile] = []
        problems: list[SourceError] = []
        for path in (unit.path, *unit.beside):
            try:
                files.append(self.tree.read(path))
            except SourceError as error:
                problems.append(error)
        digest = _digest(unit.path, *map(_state, files), *(problem.message for problem in problems))
        known = self._read.get(unit.path)
        if known and known[0] == digest:
            return known
        if not files or files[0].path != unit.path:
            return digest, Reading((), problems=problems)
        try:
            reading = self._readers[unit.format].read(files[0], files[1:])
        except SourceError as error:
            return digest, Reading((), problems=[*problems, error])
        return digest, Reading(reading.entries, reading.placed, reading.taken, [*problems, *reading.problems])


def _state(file: StoredFile) -> str:
    return f"{file.path}\0{file.modified.isoformat()}\0{blake2b(file.content, digest_size=16).hexdigest()}"


def _digest(*parts: str) -> str:
    return blake2b("\0\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
