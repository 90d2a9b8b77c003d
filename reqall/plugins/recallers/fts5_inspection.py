"""What an FTS5 index holds, compared with what it should hold.

A contentless table cannot give a text back: the terms stand beside it, its facets are found again by
asking for them, and FTS5's own check (https://sqlite.org/fts5.html, "integrity-check") reads the inverted index.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from reqall import SqlConnection


class Expected(NamedTuple):
    """What is held of a chunk: its facet tokens, its time in microseconds and the terms of its fields."""

    tokens: str
    modified: int | None
    terms: str


def inventory(tx: SqlConnection, prefix: str) -> Iterator[tuple[int, str]]:
    """Yield chunk id and document id of every entry that has words."""
    yield from tx.execute(
        f"select id, document_id from {prefix}_entry where id in (select rowid from {prefix}_words) order by id"
    )


def damage(tx: SqlConnection, prefix: str) -> list[str]:
    """Let SQLite check the inverted index, and count words that no entry names."""
    found = [text for (text,) in tx.execute(f"pragma integrity_check('{prefix}_words')") if text != "ok"]
    if not found:
        ((count,),) = tx.execute(
            f"select count(*) from {prefix}_words where rowid not in (select id from {prefix}_entry)"
        )
        found += [f"{count} rows of words without an entry"] if count else []
    return found


def faults(tx: SqlConnection, prefix: str, expected: Mapping[int, Expected]) -> Iterator[tuple[int, str]]:
    """Yield the chunks (of those that are held) whose facets, time or terms are stored otherwise."""
    if not expected:
        return
    span = (min(expected), max(expected))
    rows = tx.execute(f"select id, modified, terms from {prefix}_entry where id between ? and ?", span)
    stored = {chunk_id: (modified, terms) for chunk_id, modified, terms in rows}
    groups: dict[str, set[int]] = {}
    for chunk_id, wanted in expected.items():
        groups.setdefault(wanted.tokens, set()).add(chunk_id)
    for tokens, chunk_ids in groups.items():
        right = _with_facets(tx, prefix, tokens.split(), span)
        for chunk_id in sorted(chunk_ids):
            if chunk_id not in right:
                yield chunk_id, "its facets differ"
            elif stored[chunk_id][0] != expected[chunk_id].modified:
                yield chunk_id, "its time of change differs"
            elif stored[chunk_id][1] != expected[chunk_id].terms:
                yield chunk_id, "its words differ"


def _with_facets(tx: SqlConnection, prefix: str, tokens: list[str], span: tuple[int, int]) -> set[int]:
    """Find the chunks of these facets and no others: a kind without a token must have none."""
    kinds = {token[0] for token in tokens}
    present = " AND ".join(f'"{token}"' for token in tokens)
    absent = "".join(f' NOT facet : "{kind}" *' for kind in "pts" if kind not in kinds)
    rows = tx.execute(
        f"select rowid from {prefix}_words where {prefix}_words match ? and rowid between ? and ?",
        (f"facet : ({present}){absent}", *span),
    )
    return {rowid for (rowid,) in rows}
