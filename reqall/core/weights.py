"""The files that a model consists of: what a component asks for, and whether a folder holds it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from reqall.core.errors import ConfigError

WEIGHTS = "model.safetensors"
"""Weights in one file; a folder with an index may hold them in several."""

INDEX = f"{WEIGHTS}.index.json"

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model: a folder, or a repository `owner/name` of a hub at a revision.

    `files` must all be there; `also` are patterns of what is fetched too where the hub has it.
    """

    name: str
    revision: str = "main"
    files: tuple[str, ...] = ("config.json", "tokenizer.json", WEIGHTS)
    also: tuple[str, ...] = ()

    @property
    def local(self) -> Path | None:
        """The folder, if it is one: it begins with `/`, `.`, `~` or a drive. Raises ConfigError for no name at all."""
        if self.name.startswith(("/", ".", "~", "\\")) or _DRIVE.match(self.name):
            return Path(self.name).expanduser()
        if not _REPOSITORY.fullmatch(self.name):
            raise ConfigError(
                f"{self.name!r} is neither a model of a hub nor a folder",
                "write owner/name, or a folder that begins with /, ./, ~ or a drive",
            )
        return None

    @property
    def wanted(self) -> tuple[str, ...]:
        """Patterns of all that is fetched from a hub."""
        shards = (INDEX, "model-*-of-*.safetensors") if WEIGHTS in self.files else ()
        return (*self.files, *shards, *self.also)


def missing_files(folder: Path, model: HubModel) -> list[str]:
    """List what a folder lacks of a model; of weights in several files each that the index names."""
    wanted = [name for name in model.files if name != WEIGHTS or not (folder / INDEX).is_file()]
    if WEIGHTS in model.files and WEIGHTS not in wanted:
        wanted += _shards(folder / INDEX)
    return [name for name in wanted if not (folder / name).is_file()]


def _shards(index: Path) -> list[str]:
    try:
        return sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return [WEIGHTS]  # an index that cannot be read names nothing: the weights are not there
