"""A source of documents for reqall: ReqIF, the exchange format of requirements tools (OMG ReqIF 1.2)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reqall import Registration, Services, Source, SourceTool, hookimpl
from reqall_reqif.options import ReqifOptions


def _build(options: ReqifOptions, services: Services) -> Source:
    from reqall_reqif.source import ReqifSource

    return ReqifSource(options, services.name or "reqif")


def _tools(name: str, source: Callable[[], Any]) -> Sequence[SourceTool]:
    from reqall_reqif.tools.offered import browse_tools

    return browse_tools(name, source)


@hookimpl
def register_sources() -> Iterable[Registration[Source]]:
    """Offer the source `reqif`."""
    return [
        Registration(
            name="reqif",
            summary="ReqIF files (.reqif, .reqifz), as DOORS, Polarion, Jama, StrictDoc ... export them",
            build=_build,
            options=ReqifOptions,
            tools=_tools,
        )
    ]
