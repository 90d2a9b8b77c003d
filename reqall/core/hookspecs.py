"""The hooks: one per kind of component, no arguments, each returns registrations.

The order of plugins means nothing: components are found by name alone. Evolution happens in
`Registration` and in `SupportsX` protocols, not in the hooks' signatures.
"""

from collections.abc import Iterable

import pluggy

from reqall.core.expanding import QueryExpander
from reqall.core.protocols import Chunker, Embedder, Fuser, Recaller, Reranker, Source
from reqall.core.registration import Registration

PROJECT = "reqall"
"""Name of the pluggy project and of the entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_sources() -> Iterable[Registration[Source]]:
    """Offer sources: where documents come from."""
    raise NotImplementedError


@hookspec
def register_chunkers() -> Iterable[Registration[Chunker]]:
    """Offer chunkers: how a document is cut."""
    raise NotImplementedError


@hookspec
def register_embedders() -> Iterable[Registration[Embedder]]:
    """Offer embedders: how a text becomes a vector."""
    raise NotImplementedError


@hookspec
def register_expanders() -> Iterable[Registration[QueryExpander]]:
    """Offer expanders: how one question becomes several."""
    raise NotImplementedError


@hookspec
def register_recallers() -> Iterable[Registration[Recaller]]:
    """Offer recallers: indexes that find chunks."""
    raise NotImplementedError


@hookspec
def register_fusers() -> Iterable[Registration[Fuser]]:
    """Offer fusers: how several rankings become one."""
    raise NotImplementedError


@hookspec
def register_rerankers() -> Iterable[Registration[Reranker]]:
    """Offer rerankers: how the best are ordered anew."""
    raise NotImplementedError
