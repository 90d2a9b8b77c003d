"""What the entry point names."""

from collections.abc import Iterable

from reqall import Recaller, Registration, hookimpl
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy


@hookimpl
def register_recallers() -> Iterable[Registration[Recaller]]:
    """Offer words by tantivy."""
    return [
        Registration(
            name="tantivy",
            summary="words by BM25 (tantivy), in a folder outside the catalog's file",
            build=build_tantivy,
            options=TantivyOptions,
        )
    ]
