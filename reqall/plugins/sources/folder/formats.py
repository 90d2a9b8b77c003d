"""Decides which reader takes which file."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reqall.plugins.sources.folder import doorstop, needs_json
from reqall.plugins.sources.folder.attributes import LinkRoles
from reqall.plugins.sources.folder.doorstop import DoorstopReader
from reqall.plugins.sources.folder.entry import Reader
from reqall.plugins.sources.folder.markdown import MarkdownReader
from reqall.plugins.sources.folder.needs_json import NeedsJsonReader
from reqall.plugins.sources.folder.options import FolderOptions, Format
from reqall.plugins.sources.folder.sdoc import SdocReader

_MARKDOWN = (".md", ".markdown")
_ITEMS = (".yml", ".yaml", ".md")


@dataclass(frozen=True, slots=True)
class Unit:
    """A file, the format it is in, and the files beside it that may belong to it."""

    format: Format
    path: str
    beside: tuple[str, ...] = ()


def readers(options: FolderOptions) -> Mapping[Format, Reader]:
    """Return a reader for each format that the options name."""
    roles = LinkRoles.of(options.upstream, options.downstream)
    known: Mapping[Format, Reader] = {
        "doorstop": DoorstopReader(),
        "sdoc": SdocReader(),
        "markdown": MarkdownReader(options.heading_ids, roles),
        "needs_json": NeedsJsonReader(roles),
    }
    return {name: reader for name, reader in known.items() if name in options.formats}


def is_wanted(name: str, formats: Collection[Format]) -> bool:
    """Tell by a file's name whether a reader may want it."""
    return bool(_format(name, formats)) or (
        "doorstop" in formats and (name.startswith(doorstop.SKIP) or name.lower().endswith(_ITEMS))
    )


def doorstop_units(paths: Sequence[str], formats: Collection[Format]) -> list[Unit]:
    """Return Doorstop's documents: they are read first, as their items may look like files of other formats.

    An item belongs to the nearest document above it; a document that Doorstop skips is left out.
    """
    if "doorstop" not in formats:
        return []
    held = set(paths)
    beside: dict[str, list[str]] = {_folder(path): [] for path in paths if path.rpartition("/")[2] == doorstop.CONFIG}
    for path in paths:
        nearest = next((folder for folder in _folders(path) if folder in beside), None)
        if nearest is not None and path.lower().endswith(_ITEMS) and path != _joined(nearest, doorstop.CONFIG):
            beside[nearest].append(path)
    return [
        Unit("doorstop", _joined(folder, doorstop.CONFIG), tuple(found))
        for folder, found in beside.items()
        if _joined(folder, doorstop.SKIP) not in held
        and not any(_joined(above, doorstop.SKIP_ALL) in held for above in [folder, *_folders(folder)])
    ]


def other_units(paths: Sequence[str], formats: Collection[Format]) -> list[Unit]:
    """Return the files that are documents by themselves."""
    found = ((_format(path.rpartition("/")[2], formats), path) for path in paths)
    return [Unit(name, path) for name, path in found if name and name != "doorstop"]


def _format(name: str, formats: Collection[Format]) -> Format | None:
    lowered = name.lower()
    found: Format | None = None
    if name == doorstop.CONFIG:
        found = "doorstop"
    elif lowered.endswith(".sdoc"):
        found = "sdoc"
    elif lowered.endswith(_MARKDOWN):
        found = "markdown"
    elif name == needs_json.NAME:
        found = "needs_json"
    return found if found in formats else None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _folders(path: str) -> list[str]:
    """List the folders that hold a path, nearest first, the root ("") last."""
    found = []
    while path:
        path = _folder(path)
        found.append(path)
    return found


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
