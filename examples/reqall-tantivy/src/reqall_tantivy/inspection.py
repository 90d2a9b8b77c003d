"""What an index holds, compared with what it should hold; and its files, by their checksums.

The engine ends each file with a footer, its length and a magic number, both 4 bytes, little-endian;
the footer is JSON and tells the CRC-32 of what is before it
(https://github.com/quickwit-oss/tantivy/blob/main/src/directory/footer.rs).
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reqall import IndexEntry
from reqall_tantivy.schema import chunk_ids, digest, digests, schema

if TYPE_CHECKING:
    import tantivy

PAGE = 5000
BLOCK = 1 << 20

_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_TAIL = 8


def inventory(searcher: "tantivy.Searcher", page: int = PAGE) -> Iterator[tuple[int, str]]:
    """Yield chunk id and document id of every entry, in order of chunks; one that is held twice comes twice."""
    from tantivy import FieldType, Order, Query

    first, size = 0, page
    while True:
        rest = Query.range_query(schema(), "chunk", FieldType.Integer, lower_bound=first)
        hits = searcher.search(rest, size, count=False, order_by_field="chunk", order=Order.Asc).hits
        addresses = [address for _, address in hits]
        pairs = [
            (number, searcher.doc(address)["document"][0])
            for number, address in zip(chunk_ids(searcher, addresses), addresses, strict=True)
        ]
        if len(pairs) < size:
            yield from pairs
            return
        # The last one may have a twin on the next page: it is read again.
        last = pairs[-1][0]
        yield from (pair for pair in pairs if pair[0] != last)
        first, size = last, size if pairs[0][0] != last else size * 2


def faults(searcher: "tantivy.Searcher", entries: Sequence[IndexEntry]) -> Iterator[tuple[int, str]]:
    """Yield the entries (of those that are held) that are stored otherwise."""
    stored = digests(searcher, [entry.chunk.id for entry in entries])
    for entry in entries:
        if stored.get(entry.chunk.id, b"") not in (b"", digest(entry)):
            yield entry.chunk.id, "its words or facets differ"


def damage(folder: Path) -> list[str]:
    """Compare the files of the last commit with their checksums; a line for each that is broken."""
    while True:
        listed = (folder / "meta.json").read_bytes()
        lines = [line for name in _files(json.loads(listed)) for line in _broken(folder / name)]
        if not lines or (folder / "meta.json").read_bytes() == listed:  # else a merge took files away
            return lines


def _files(meta: dict[str, list[dict[str, object]]]) -> Iterable[str]:
    for segment in meta["segments"]:
        name = str(segment["segment_id"]).replace("-", "")
        yield from (f"{name}.{part}" for part in _PARTS)
        if isinstance(deletes := segment["deletes"], dict):
            yield f"{name}.{deletes['opstamp']}.del"


def _broken(file: Path) -> Iterator[str]:
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            stream.seek(max(size - _TAIL, 0))
            footer_length = int.from_bytes(stream.read(_TAIL)[:4], "little")
            length = size - _TAIL - footer_length
            stream.seek(max(length, 0))
            wanted = json.loads(stream.read(footer_length))["crc"]
            stream.seek(0)
            found = 0
            while length > 0:
                block = stream.read(min(BLOCK, length))
                length -= len(block)
                found = zlib.crc32(block, found)
    except FileNotFoundError:
        yield f"the file {file.name} is gone"
    except (ValueError, KeyError, TypeError):
        yield f"the file {file.name} has no checksum"
    else:
        if found != wanted:
            yield f"the file {file.name} is not as it was written (CRC-32)"
