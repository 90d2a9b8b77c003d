"""The Jama Connect source: read-only, over Jama's REST API v1."""

from collections.abc import Iterable

from reqall import Registration, Services, Source, hookimpl
from reqall.plugins.sources.jama.options import JamaOptions


def _build(options: JamaOptions, services: Services) -> Source:
    from reqall.plugins.sources.jama.source import JamaSource

    return JamaSource(options, name=services.name or "jama")


@hookimpl
def register_sources() -> Iterable[Registration[Source]]:
    """Offer the source `jama`."""
    return [Registration("jama", "Jama Connect, over its REST API (read-only)", _build, JamaOptions)]
