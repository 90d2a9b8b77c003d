"""Components of another company that break while they are built, each in its own way."""

from typing import Annotated

from pydantic import Field

from reqall import PluginError, PluginOptions, Reference, Registration, hookimpl
from reqall.testing.fakes import HashingEmbedder, MemoryRecaller


class VectorsOptions(PluginOptions):
    embedder: Annotated[str, Reference("embedder")] = Field(description="An embedder of the file.")


class Nameless(HashingEmbedder):
    """Does not know what it is."""

    @property
    def identity(self):
        raise KeyError("text of an item")

    @identity.setter
    def identity(self, value):
        pass


class Heavy(HashingEmbedder):
    """Would load a model to say its dimensions."""

    @property
    def dimensions(self):
        raise AssertionError("not to be asked before it is needed")

    @dimensions.setter
    def dimensions(self, value):
        pass


class Half:
    """Has a part of what a recaller has."""

    storage = "memory"

    def recall(self, texts, limit, filters):
        return []


class Proxy:
    """Hands everything on."""

    def __init__(self, target):
        self._target = target

    def __getattr__(self, name):
        return getattr(self._target, name)


def _raises(options, services):
    raise ValueError("text of an item")


def _exits(options, services):
    raise SystemExit("text of an item")


def _refuses(options, services):
    raise PluginError("no licence", "buy one")


BUILDS = {
    "raises": _raises,
    "exits": _exits,
    "refuses": _refuses,
    "nothing": lambda options, services: None,
    "half": lambda options, services: Half(),
}


def _offers():
    return [Registration(name, f"{name} for tests", build) for name, build in BUILDS.items()]


@hookimpl
def register_recallers():
    return [
        *_offers(),
        Registration("vectors", "needs an embedder", lambda options, services: MemoryRecaller(), VectorsOptions),
        Registration("proxy", "hands on", lambda options, services: Proxy(MemoryRecaller())),
    ]


@hookimpl
def register_embedders():
    return [
        *_offers(),
        Registration("nameless", "for tests", lambda options, services: Nameless()),
        Registration("heavy", "for tests", lambda options, services: Heavy()),
    ]


@hookimpl
def register_expanders():
    return _offers()


@hookimpl
def register_fusers():
    return _offers()


@hookimpl
def register_rerankers():
    return _offers()
