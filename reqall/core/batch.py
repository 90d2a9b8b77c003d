"""One batch of documents on its way into the catalog: what it will do, and what it did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reqall.core.protocols import SqlConnection
from reqall.core.types import Chunk, Document, IndexEntry


@dataclass(frozen=True, slots=True)
class Committed:
    """What a batch did, in documents; `embedded` counts texts."""

    written: int = 0
    unchanged: int = 0
    deleted: int = 0
    embedded: int = 0


Within: TypeAlias = Callable[[SqlConnection, Committed], None]
"""Runs inside a batch's transaction: checks the lease, and writes what the batch did as progress."""


@dataclass
class Plan:
    """A batch before its transaction: what changed, cut and prepared for the indexes that take part.

    `places` are the documents' sequence numbers when it was made: a plan that was overtaken is made
    anew. `chunks` are those of each chunking, by document; `prepared` what each index was given (by
    its name): the entries of each document, and what its recaller made of them.
    """

    places: dict[str, int]
    changed: Sequence[Document]
    retexted: Sequence[str]
    deleted: Sequence[str]
    chunks: dict[str, dict[str, list[Chunk]]] = field(default_factory=dict)
    prepared: dict[str, tuple[dict[str, list[IndexEntry]], Any]] = field(default_factory=dict)
