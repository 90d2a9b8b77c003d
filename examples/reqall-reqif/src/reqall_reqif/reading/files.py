"""ReqIF files on disk, plain or packed (`.reqifz`: ReqIF files in a ZIP archive, beside what they refer to)."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reqall import SourceError

SUFFIXES = frozenset({".reqif", ".reqifz"})
_MEGABYTE = 1024 * 1024
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What zipfile raises for damaged archives, unknown methods of compression and encryption."""


@dataclass(frozen=True, slots=True)
class Content:
    """One XML text; `place` names the file, and the member where that is an archive."""

    place: str
    data: bytes


def find_files(path: Path) -> list[Path]:
    """List the files that an option `path` means, in a stable order. Raises SourceError when there is none."""
    path = path.expanduser()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise SourceError(
            f"{path}: no such file or folder", "Set path to a .reqif or .reqifz file, or to their folder."
        )
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    shown = [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not shown:
        raise SourceError(f"{path}: no .reqif or .reqifz file in this folder", "Put an export there, or change path.")
    return shown


def read_file(file: Path, megabytes: int) -> bytes:
    """Read a file. Raises SourceError when it cannot be read or is larger than `megabytes`."""
    try:
        with file.open("rb") as stream:
            data = stream.read(megabytes * _MEGABYTE + 1)
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}", "Check the file and its permissions.") from error
    return _bounded(data, str(file), megabytes)


def digest_of(data: bytes) -> str:
    """Return what tells one content from another."""
    return hashlib.sha256(data).hexdigest()


def unpack(file: Path, data: bytes, megabytes: int) -> Iterator[Content]:
    """Yield the XML texts of a file: its own, or those of the members of an archive. Raises SourceError.

    What the file is, its content says: tools give archives the suffix .reqif, and the other way round.
    """
    if not data.startswith(b"PK"):
        yield Content(str(file), data)
        return
    import io

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = sorted(_members(archive), key=lambda member: member.filename)
            for member in members:
                place = f"{file}!{member.filename}"
                with archive.open(member) as stream:
                    yield Content(place, _bounded(stream.read(megabytes * _MEGABYTE + 1), place, megabytes))
    except _UNREADABLE as error:
        raise SourceError(f"{file}: the archive cannot be read ({error})", "Export it again, unencrypted.") from error
    if not members:
        raise SourceError(f"{file}: no .reqif file in this archive", "Check that this is a ReqIF archive.")


def _members(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    """Yield the ReqIF members; those that Macs put beside them (`__MACOSX/._name`) are none."""
    for member in archive.infolist():
        parts = member.filename.split("/")
        if member.filename.lower().endswith(".reqif") and not any(part.startswith((".", "__MACOSX")) for part in parts):
            yield member


def _bounded(data: bytes, place: str, megabytes: int) -> bytes:
    if len(data) > megabytes * _MEGABYTE:
        raise SourceError(
            f"{place}: larger than {megabytes} MB", "Raise largest_file if the file is what it should be."
        )
    return data
