"""Why a file cannot be the catalog, and what to do about it."""

from pathlib import Path

from reqall.core.errors import CatalogError


def unusable_file(path: Path, reason: str) -> CatalogError:
    """Say that a file cannot be opened or made."""
    message = f"the database {path} cannot be opened for writing ({reason})"
    return CatalogError(message, "make its folder writable, or set JAMA_MCP_DB_PATH to a file in one that is")


def foreign_file(path: Path) -> CatalogError:
    """Say that a file is another program's."""
    return CatalogError(f"{path} is not a reqall database", "move it away, or set JAMA_MCP_DB_PATH to another file")


def newer_file(path: Path, version: int, known: int) -> CatalogError:
    """Say that a file needs a newer program."""
    return CatalogError(
        f"{path} was written by a newer reqall (schema {version}, this one knows {known})",
        "upgrade reqall (and restart it), or point JAMA_MCP_DB_PATH to another file",
    )


def closed_file(path: Path) -> CatalogError:
    """Say that this process has closed the file."""
    return CatalogError(f"the database {path} was closed while it was in use", "open it again")
