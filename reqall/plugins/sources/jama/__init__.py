"""The Jama Connect source: read-only, over Jama's REST API v1."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reqall import Registration, Services, Source, SourceTool, hookimpl
from reqall.plugins.sources.jama.options import JamaOptions


def _build(options: JamaOptions, services: Services) -> Source:
    from reqall.plugins.sources.jama.source import JamaSource

    return JamaSource(options, name=services.name or "jama")


def _tools(name: str, source: Callable[[], Any]) -> Sequence[SourceTool]:
    from reqall.plugins.sources.jama.tools.native import native_tools

    return native_tools(name, source)


@hookimpl
def register_sources() -> Iterable[Registration[Source]]:
    """Offer the source `jama`."""
    return [
        Registration(
            name="jama",
            summary="Jama Connect, over its REST API (read-only)",
            build=_build,
            options=JamaOptions,
            tools=_tools,
        )
    ]
