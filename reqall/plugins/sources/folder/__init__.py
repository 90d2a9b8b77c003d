"""The source `folder`: StrictDoc, Markdown, Doorstop and sphinx-needs' needs.json, in a folder tree."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reqall import Registration, Services, Source, SourceTool, hookimpl
from reqall.plugins.sources.folder.options import FolderOptions


def _build(options: FolderOptions, services: Services) -> Source:
    from reqall.plugins.sources.folder.source import FolderSource

    return FolderSource(options, services)


def _tools(name: str, source: Callable[[], Any]) -> Sequence[SourceTool]:
    from reqall.plugins.sources.folder.tools import folder_tools

    return folder_tools(name, source)


@hookimpl
def register_sources() -> Iterable[Registration[Source]]:
    """Offer the source `folder`."""
    return [
        Registration(
            name="folder",
            summary="requirements in files beside code: StrictDoc, Markdown, Doorstop, sphinx-needs' needs.json",
            build=_build,
            options=FolderOptions,
            tools=_tools,
        )
    ]
