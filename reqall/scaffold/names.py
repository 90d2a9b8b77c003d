"""The names of a new plugin: one word that a user chooses, and all that is made of it."""

import re
from dataclasses import dataclass
from importlib.util import find_spec

from reqall.app import BUILT_INS
from reqall.core.errors import InputError
from reqall.core.host import PluginHost
from reqall.core.version import __version__

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_PREFIX = "reqall_"


@dataclass(frozen=True, slots=True)
class Names:
    """What is made of a component's `name`, such as `volume_sync`."""

    name: str

    @classmethod
    def of(cls, text: str) -> "Names":
        """Check what a user wrote, with `-` or `_`, with or without `reqall-` before it. Raises InputError."""
        name = text.replace("-", "_").removeprefix(_PREFIX)
        if not _NAME.fullmatch(name):
            raise InputError(f"{text!r} cannot be the name of a plugin", _remedy(text))
        names = cls(name)
        for offer in PluginHost(BUILT_INS, installed=False).offers():
            if offer.registration.name == name:
                told = f"{name!r} is the name of reqall's own {offer.kind}"
                raise InputError(told, "choose another: `reqall plugins` lists those that are taken")
        if find_spec(names.package):
            told = f"a module {names.package!r} is installed already"
            raise InputError(told, f"choose another name, or uninstall what {names.package!r} belongs to")
        return names

    @property
    def package(self) -> str:
        """The package that is imported, such as `reqall_volume_sync`."""
        return f"{_PREFIX}{self.name}"

    @property
    def distribution(self) -> str:
        """What pip installs, such as `reqall-volume-sync`."""
        return self.package.replace("_", "-")

    @property
    def in_classes(self) -> str:
        """How names of classes begin, such as `VolumeSync`."""
        return "".join(part.capitalize() for part in self.name.split("_"))


def requirement(version: str = __version__) -> str:
    """Require this minor version of reqall or the next: what is removed is announced one minor before."""
    major, minor = version.split(".")[:2]
    return f"reqall>={major}.{minor},<{major}.{int(minor) + 2}"


def _remedy(text: str) -> str:
    near = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-").lstrip("0123456789-").removeprefix("reqall-")
    return f"write lower-case letters, digits, and `-` between words, such as {near or 'volume-sync'}"
