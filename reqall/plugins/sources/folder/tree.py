"""The files of a folder: found, filtered and read. No link is followed, so nothing outside of it is opened."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reqall import SourceError
from reqall.plugins.sources.folder.entry import StoredFile, clean, unreadable

IGNORED = frozenset({"node_modules", "venv", "__pycache__"})
"""Folders that hold other people's files; those whose names begin with a dot are left out too."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths relative to the folder, in order, and the folders that could not be listed."""

    paths: Sequence[str]
    problems: Sequence[SourceError]


class Tree:
    """A folder, and what of it is wanted."""

    def __init__(self, root: Path, include: Sequence[str], exclude: Sequence[str], max_bytes: int) -> None:
        """Touch no file yet."""
        self.root = root.expanduser()
        self._include = include
        self._exclude = exclude
        self._max_bytes = max_bytes

    def require(self) -> None:
        """Raise SourceError when the folder is not there: an empty one would look like deletion."""
        if not self.root.is_dir():
            raise SourceError(f"{self.root}: no such folder", "Set the option path to a folder that can be read.")

    def listing(self, wanted: Callable[[str], bool]) -> Listing:
        """Find the files whose names are wanted. Raises SourceError when the folder is not there."""
        self.require()
        included, excluded = _matcher(self._include), _matcher(self._exclude)
        paths: list[str] = []
        problems: list[SourceError] = []
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self.root / folder) as found:
                    items = list(found)
            except OSError as error:
                told = clean(f"{folder or '.'}: the folder cannot be listed ({error.strerror})")
                problems.append(SourceError(told, "Check its permissions."))
                continue
            for item in items:
                path = f"{folder}/{item.name}" if folder else item.name
                if item.is_symlink() or _is_junction(item) or excluded(path):
                    continue
                if item.is_dir(follow_symlinks=False):
                    if not item.name.startswith(".") and item.name not in IGNORED:
                        folders.append(path)
                elif item.is_file(follow_symlinks=False) and wanted(item.name):
                    paths.append(path)
        if self._include:
            paths = [path for path in paths if any(map(included, _with_ancestors(path)))]
        return Listing(sorted(paths), problems)

    def read(self, path: str) -> StoredFile:
        """Read one of the listed files. Raises SourceError with its path."""
        try:
            with (self.root / path).open("rb") as stream:
                state = os.fstat(stream.fileno())
                if state.st_size > self._max_bytes:
                    raise unreadable(
                        path,
                        1,
                        f"larger than {self._max_bytes} bytes",
                        "Raise the option max_file_bytes, or add the file to exclude.",
                    )
                return StoredFile(path, stream.read(), _time(state.st_mtime_ns))
        except OSError as error:
            raise unreadable(path, 1, f"cannot be read ({error.strerror})", "Check its permissions.") from error


def _is_junction(item: "os.DirEntry[str]") -> bool:
    """Tell Windows' other kind of link, which Python knows from 3.12 on."""
    return sys.version_info >= (3, 12) and item.is_junction()


def _time(nanoseconds: int) -> datetime:
    start = datetime.fromtimestamp(0, UTC)
    try:
        return start + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return start  # a file system's nonsense date is no reason not to read


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Match globs as git does: one without a slash matches a name at any depth."""
    if not patterns:
        return lambda _: False
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.MATCHBASE | glob.DOTMATCH | glob.BRACE | glob.FORCEUNIX
    compiled = glob.compile([pattern.strip("/") for pattern in patterns], flags=flags)
    return lambda path: bool(compiled.match(path))


def _with_ancestors(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
