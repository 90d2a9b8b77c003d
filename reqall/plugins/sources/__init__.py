"""Built-in sources."""

from collections.abc import Iterable

from reqall import Registration, Source, hookimpl
from reqall.plugins.sources.jsonl import JsonlOptions, JsonlSource


@hookimpl
def register_sources() -> Iterable[Registration[Source]]:
    """Offer `jsonl`; a source with a package of its own registers itself there."""
    return [
        Registration(
            name="jsonl",
            summary="a file with one JSON object per line (_id, title, text, metadata), as in BEIR collections",
            build=JsonlSource,
            options=JsonlOptions,
        )
    ]
