"""The engine's failures in words: what cannot be used here, and what is broken and can be built anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reqall import CatalogError

_REASON_LENGTH = 200
_REBUILD = "`reqall check --deep PROJECT --repair` builds it anew from the catalog"


class DamagedIndexError(CatalogError):
    """The files can be read, and are no index that this engine understands."""


def locked(folder: Path, seconds: float) -> CatalogError:
    """Say that another process writes to an index."""
    return CatalogError(
        f"the tantivy index in {folder} is written to by another process ({seconds:g} s waited)",
        "wait until its sync has finished, then try again; or raise the option lock_seconds",
    )


@contextmanager
def explained(folder: Path, *, is_written: bool = False) -> Iterator[None]:
    """Turn what the engine raises into errors that name the folder and what to do. Raises CatalogError.

    The engine has one exception for everything, ValueError; a defect of its own is a panic, which
    is no Exception. What fails to be read is damaged, if that is not for the system's reasons.
    """
    try:
        yield
    except OSError as error:
        raise _unusable(folder, error) from error
    except ValueError as error:
        raise (_unwritten if is_written else _unread)(folder, str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise (_unwritten if is_written else _unread)(folder, f"the engine panicked: {error}") from error


def _unread(folder: Path, reason: str) -> CatalogError:
    try:
        for file in folder.iterdir():
            with file.open("rb") as stream:
                stream.read(1)
    except FileNotFoundError:
        pass  # a merge takes files away at any time
    except OSError as error:
        return _unusable(folder, error)
    return DamagedIndexError(
        f"the tantivy index in {folder} is damaged or of another version ({_line(reason)})", _REBUILD
    )


def _unwritten(folder: Path, reason: str) -> CatalogError:
    return CatalogError(
        f"the tantivy index in {folder} could not be written ({_line(reason)})",
        f"check the disk and its free space, nothing that was committed is lost; if they are sound, {_REBUILD}",
    )


def _unusable(folder: Path, error: OSError) -> CatalogError:
    return CatalogError(
        f"the tantivy index in {folder} cannot be read or written ({error.strerror or type(error).__name__})",
        "check the disk, its free space and the folder's permissions; nothing that was committed is lost",
    )


def _line(reason: str) -> str:
    return " ".join(reason.split())[:_REASON_LENGTH]
