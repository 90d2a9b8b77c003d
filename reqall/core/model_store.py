"""Where the weights of models are: found on this machine, or fetched from a hub, in the background if need be."""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from reqall.core.errors import ConfigError, ModelError
from reqall.core.hub import OFFICIAL, Hub, file_hash
from reqall.core.weights import HubModel, missing_files
from reqall.core.wording import amount

T = TypeVar("T")

RETRY_SECONDS = 60.0
"""How long after a failed download in the background the next may begin."""

_YES = frozenset({"1", "on", "yes", "true"})
_HASHES = frozenset({40, 64})
"""Lengths of the names of the cache's blobs, which are the hashes of their content: git's SHA-1, SHA-256."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file of a model after a check; `problem` is empty where its hash is the one that it was fetched under."""

    name: str
    bytes: int
    problem: str = ""


class Download:
    """One download that goes on in the background."""

    def __init__(self) -> None:
        """Begin with nothing done."""
        self.done = 0
        self.total = 0
        self.error: ModelError | None = None
        self.ended: float | None = None

    def report(self, done: int, total: int) -> None:
        """Take what is done, in bytes."""
        self.done, self.total = done, total

    @property
    def words(self) -> str:
        """How far it is."""
        return f"{amount(self.done)} of {amount(self.total)}" if self.total else "begun"


class ModelStore:
    """The models of this machine; thread-safe. The environment names hub, cache and whether to stay offline."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Ask and read nothing yet; without an environment that of the process holds."""
        self._environment = os.environ if environment is None else environment
        self._lock = threading.Lock()
        self._downloads: dict[HubModel, Download] = {}
        self._made: dict[Hashable, Any] = {}
        self._making: dict[Hashable, threading.Lock] = {}

    @cached_property
    def hub(self) -> Hub:
        """The hub that HF_ENDPOINT names, and the cache where HF_HUB_CACHE or HF_HOME say."""
        cache, home = self._environment.get("HF_HUB_CACHE"), self._environment.get("HF_HOME")
        if cache or home:
            place = Path(cache).expanduser() if cache else Path(str(home)).expanduser() / "hub"
        else:
            from huggingface_hub.constants import HF_HUB_CACHE

            place = Path(HF_HUB_CACHE)
        return Hub(self._environment.get("HF_ENDPOINT") or OFFICIAL, self._environment.get("HF_TOKEN"), place)

    @property
    def is_offline(self) -> bool:
        """Whether HF_HUB_OFFLINE forbids to fetch anything."""
        return self._environment.get("HF_HUB_OFFLINE", "").casefold() in _YES

    def find(self, model: HubModel) -> Path | None:
        """Return the model's folder if all of it is on this machine; nothing is fetched."""
        folder = model.local or self.hub.snapshot(model)
        return folder if folder is not None and not missing_files(folder, model) else None

    def fingerprint(self, model: HubModel) -> str:
        """Tell one state of a model's files from another by their sizes and times; empty while they are not there."""
        if (folder := self.find(model)) is None:
            return ""
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        told = [(path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        return hashlib.sha256(repr((folder.name, told)).encode()).hexdigest()[:16]

    def folder(self, model: HubModel) -> Path:
        """Return the model's folder. Raises ModelError while it is not there, and begins one download of it."""
        if (found := self.find(model)) is not None:
            return found
        self._require_fetchable(model)
        with self._lock:
            current = self._downloads.get(model)
            is_stale = current is None or (current.ended or time.monotonic()) < time.monotonic() - RETRY_SECONDS
            if current is None or is_stale:
                current = self._downloads[model] = Download()
                threading.Thread(
                    target=self._fetch_aside, args=(model, current), name="reqall-download", daemon=True
                ).start()
        if current.error is not None:
            raise current.error
        raise ModelError(
            f"the model {model.name} is being fetched from {self.hub.host} ({current.words});"
            f" `reqall models pull {model.name}` shows how far it is",
            "Search again later.",
        )

    def pull(self, model: HubModel, report: Callable[[int, int], None] = lambda _done, _total: None) -> Path:
        """Fetch what is not there yet, checked; `report` takes bytes done and in all. Raises ModelError."""
        if model.local is not None:
            self._require_fetchable(model)
            return model.local
        if self.is_offline:
            self._require_fetchable(model)
        files = self.hub.files(model)
        total, before = sum(file.size for file in files), 0
        report(0, total)
        for file in files:
            arrived = 0

            def add(count: int, before: int = before) -> None:
                nonlocal arrived
                arrived += count
                report(before + arrived, total)

            self.hub.fetch(model, file, add)
            before += file.size
            report(before, total)
        if (found := self.find(model)) is None:
            lacks = missing_files(self.hub.snapshot(model) or Path(), model)
            raise ModelError(
                f"{self.hub.host} has no {', '.join(lacks)} of the model {model.name}",
                "Name a model that comes in this form; the component's documentation says which.",
            )
        return found

    def verify(self, model: HubModel) -> list[Checked]:
        """Hash every file again and compare with the hash that it was fetched under. Raises ModelError."""
        folder = self.find(model)
        if folder is None:
            raise ModelError(f"the model {model.name} is not on this machine", f"`reqall models pull {model.name}`")
        if model.local is not None:
            raise ModelError(
                f"the folder {folder} has no checksums to compare with", "compare with those of whoever made it"
            )
        listed: dict[str, str] = {}
        checked = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name, expected = path.relative_to(folder).as_posix(), path.resolve().name
            if len(expected) not in _HASHES or not path.is_symlink():
                # On a system without links the cache holds copies, and the hub has to be asked.
                listed = listed or {file.name: file.hash for file in self.hub.files(model)}
                expected = listed.get(name, "")
            is_right = bool(expected) and file_hash(path, expected) == expected
            checked.append(Checked(name, path.stat().st_size, "" if is_right else "its checksum is another one"))
        return checked

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` makes for a key: once for all who ask, however many threads; a failure is not kept."""
        with self._lock:
            own = self._making.setdefault(key, threading.Lock())
        with own:
            if key not in self._made:
                self._made[key] = make()
            found: T = self._made[key]
            return found

    def _require_fetchable(self, model: HubModel) -> None:
        """Say why a model that is not there will not come by itself."""
        if (folder := model.local) is not None:
            if lacks := missing_files(folder, model):
                raise ConfigError(
                    f"the model folder {folder} lacks {', '.join(lacks)}", "name a folder that holds the whole model"
                )
        elif self.is_offline:
            raise ModelError(
                f"the model {model.name} is not in {self.hub.cache}, and HF_HUB_OFFLINE forbids to fetch it",
                f"Fetch it where there is a network (`reqall models pull {model.name}`) and copy that folder,"
                " or take HF_HUB_OFFLINE away.",
            )

    def _fetch_aside(self, model: HubModel, download: Download) -> None:
        try:
            self.pull(model, download.report)
        except ModelError as error:
            download.error = error
        except Exception as error:  # noqa: BLE001 - whatever it is, the next search shall tell it
            download.error = ModelError(f"the model {model.name} could not be fetched ({type(error).__name__})")
        finally:
            download.ended = time.monotonic()
