"""One small component of each kind, with the options that tests of the configuration need."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, model_validator

from reqall import PluginOptions, Reference, Registration, Stored, hookimpl


class FolderOptions(PluginOptions):
    path: str = Field(default="${TINY_PATH}", description="Where the documents are.")
    token: SecretStr = Field(default=SecretStr("${TINY_TOKEN:-}"), description="What opens the door.")
    proxy_password: SecretStr | None = Field(default=None, description="What opens the other door.")
    page_size: int = Field(default="${TINY_PAGE_SIZE:-50}", validate_default=True, description="Rows per page.")
    headers: dict[str, str] = Field(default_factory=dict, description="Sent with every request.")
    tags: list[str] = Field(default_factory=list, description="Only these.")


class PiecesOptions(PluginOptions):
    size: Annotated[int, Stored()] = Field(default=100, ge=1, description="Tokens per piece.")
    overlap: Annotated[int, Stored()] = Field(default=0, ge=0, description="Tokens shared by neighbours.")

    @model_validator(mode="after")
    def _fits(self):
        if self.overlap >= self.size:
            raise ValueError("overlap must be smaller than size")
        return self


class ToyOptions(PluginOptions):
    dimensions: Annotated[int, Stored()] = Field(default=8, ge=1, description="Length of a vector.")
    prefixes: Annotated[frozenset[str], Stored()] = Field(default=frozenset(), description="Read before a text.")
    batch_size: int = Field(default=32, ge=1, description="Texts at once.")
    key: SecretStr = Field(default=SecretStr("none"), description="What opens the door.")


class VectorsOptions(PluginOptions):
    embedder: Annotated[str, Reference("embedder")] = Field(description="An embedder of the file.")
    metric: Annotated[Literal["cosine", "dot"], Stored()] = Field(default="cosine", description="How near is near.")


class RrfOptions(PluginOptions):
    k: float = Field(default=60, gt=0, description="Smooths the ranks.")


class BrittleOptions(PluginOptions):
    level: int = Field(default=0, description="Anything but 0 meets a defect.")

    @model_validator(mode="after")
    def _breaks(self):
        return {0: self}[self.level]


def _build(options, services):
    return options, services


def _offer(name, options=PluginOptions, traits=()):
    return Registration(name, f"{name} for tests", _build, options, traits=frozenset(traits))


@hookimpl
def register_sources():
    return [_offer("folder", FolderOptions)]


@hookimpl
def register_chunkers():
    return [_offer("whole", traits=["unbounded"]), _offer("pieces", PiecesOptions)]


@hookimpl
def register_embedders():
    return [_offer("toy", ToyOptions)]


@hookimpl
def register_expanders():
    return [_offer("twice")]


@hookimpl
def register_recallers():
    return [_offer("words"), _offer("vectors", VectorsOptions)]


@hookimpl
def register_fusers():
    return [_offer("rrf", RrfOptions)]


@hookimpl
def register_rerankers():
    return [_offer("none", traits=["identity"]), _offer("brittle", BrittleOptions)]
