"""What the engine keeps of an entry, and how it tells how far it is.

Every chunk is a document of the engine's, and so is the position: it is deleted and added in the
same commit as the batch, so that neither is ever without the other.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from reqall import IndexEntry, Position
from reqall_tantivy.analysis import encodable, normalise

if TYPE_CHECKING:
    import tantivy

ANALYSER = "terms"
"""The name under which the words' analyser is registered with an index."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATE = "position"
_AT_FIRST = 1000


@cache
def schema() -> "tantivy.Schema":
    """Build the schema; a change of it is a change of the registration's `index_version`."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder().add_integer_field("chunk", indexed=True, fast=True)
    builder.add_text_field("document", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("digest", stored=True)
    for words in ("key", "name", "text"):
        builder.add_text_field(words, tokenizer_name=ANALYSER)
    for facet in ("project", "type", "status"):
        builder.add_text_field(facet, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("modified", fast=True)
    builder.add_text_field("state", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("fingerprint", stored=True)
    builder.add_integer_field("seq", stored=True)
    return builder.build()


def microseconds(moment: datetime) -> int:
    """Count microseconds since 1970 (UTC), the finest that a `datetime` knows: bounds stay exact."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def digest(entry: IndexEntry) -> bytes:
    """Identify all that is stored of an entry: 16 bytes."""
    facets = entry.facets
    modified = None if facets.modified is None else microseconds(facets.modified)
    parts = (entry.key, entry.name, entry.chunk.body, facets.project_id, facets.type_id, facets.status, modified)
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=16).digest()


def document(entry: IndexEntry) -> "tantivy.Document":
    """Write an entry as the engine's document; a facet that is None is absent, and meets no filter."""
    from tantivy import Document

    facets = entry.facets
    values: dict[str, str | int | bytes] = {
        "chunk": entry.chunk.id,
        "document": encodable(entry.chunk.document_id),
        "digest": digest(entry),
        "key": normalise(entry.key),
        "name": normalise(entry.name),
        "text": normalise(entry.chunk.body),
        "project": encodable(facets.project_id),
        "type": encodable(facets.type_id),
    }
    if facets.status is not None:
        values["status"] = encodable(facets.status)
    if facets.modified is not None:
        values["modified"] = microseconds(facets.modified)
    return Document(**values)


def write_position(writer: "tantivy.IndexWriter", position: Position) -> None:
    """Replace the position, in the writer's next commit."""
    from tantivy import Document

    writer.delete_documents_by_term("state", _STATE)
    writer.add_document(Document(state=_STATE, fingerprint=position.fingerprint.encode(), seq=position.seq))


def read_position(searcher: "tantivy.Searcher") -> Position | None:
    """Read what the last commit with a position left; None where there was none."""
    from tantivy import Query

    for _, address in searcher.search(Query.term_query(schema(), "state", _STATE), 1).hits:
        found = searcher.doc(address)
        return Position(bytes(found["fingerprint"][0]).decode(), found["seq"][0])
    return None


def held(searcher: "tantivy.Searcher", document_ids: Iterable[str]) -> dict[str, list[tuple[int, bytes]]]:
    """Read (chunk id, digest) of all that is stored of these documents, in order of chunks."""
    from tantivy import Query

    found: dict[str, list[tuple[int, bytes]]] = {}
    wanted = [encodable(document_id) for document_id in document_ids]
    for chunk_id, stored in _all(searcher, Query.term_set_query(schema(), "document", wanted)):
        found.setdefault(stored["document"][0], []).append((chunk_id, bytes(stored["digest"][0])))
    return {document_id: sorted(chunks) for document_id, chunks in found.items()}


def digests(searcher: "tantivy.Searcher", chunk_ids: Iterable[int]) -> dict[int, bytes]:
    """Read the digests of those of the chunks that are stored."""
    from tantivy import Query

    query = Query.term_set_query(schema(), "chunk", list(chunk_ids))
    return {chunk_id: bytes(stored["digest"][0]) for chunk_id, stored in _all(searcher, query)}


def chunk_ids(searcher: "tantivy.Searcher", addresses: "list[tantivy.DocAddress]") -> list[int]:
    """Read the chunk ids at these places."""
    return cast("list[int]", searcher.fast_field_values("chunk", addresses))


def _all(searcher: "tantivy.Searcher", query: "tantivy.Query") -> Iterator[tuple[int, "tantivy.Document"]]:
    """Yield chunk id and stored fields of all that a query finds."""
    limit = _AT_FIRST
    while len(hits := searcher.search(query, limit, count=False).hits) == limit:
        limit *= 4
    addresses = [address for _, address in hits]
    for chunk_id, address in zip(chunk_ids(searcher, addresses), addresses, strict=True):
        yield chunk_id, searcher.doc(address)
