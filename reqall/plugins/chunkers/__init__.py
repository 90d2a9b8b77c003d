"""Built-in chunkers: how a document is cut."""

from collections.abc import Iterable

from reqall import Chunker, Registration, hookimpl
from reqall.plugins.chunkers.sentences import SentencesChunker, SentencesOptions
from reqall.plugins.chunkers.whole import WholeChunker


@hookimpl
def register_chunkers() -> Iterable[Registration[Chunker]]:
    """Offer cutting at sentences, and not cutting at all."""
    return [
        Registration(
            name="sentences",
            summary="cuts each section at sentences into pieces of `size` tokens, its title before each piece",
            build=lambda options, _services: SentencesChunker(options),
            options=SentencesOptions,
            index_version=1,
        ),
        Registration(
            name="whole",
            summary="one piece for the whole document, for indexes without a limit on length",
            build=lambda _options, _services: WholeChunker(),
            traits=frozenset({"unbounded"}),
        ),
    ]
