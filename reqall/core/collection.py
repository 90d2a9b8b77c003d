"""A judged collection on disk: queries and relevance judgements in the form of BEIR.

The folder holds `queries.jsonl` (`_id`, `text`, `metadata`) and `qrels.tsv` (a header line, then
query id, document id and relevance, divided by tabs), beside the `corpus.jsonl` that the `jsonl`
source reads. Layout: https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reqall.core.errors import InputError, NotFoundError
from reqall.core.metrics import Qrels

QUERIES = "queries.jsonl"
QRELS = "qrels.tsv"
COLUMNS = 3


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query with at least one relevant document; `exclude` are documents to drop from its results."""

    id: str
    text: str
    exclude: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Collection:
    """Judged queries in the order of the file, and the judgements of exactly these queries.

    Document ids are those of the corpus, without the name of a source before them.
    """

    name: str
    queries: tuple[JudgedQuery, ...]
    qrels: Qrels

    @classmethod
    def read(cls, folder: Path) -> "Collection":
        """Read a folder; queries without any relevant document are left out.

        Raises NotFoundError for a missing folder or file, InputError for a malformed line.
        """
        if not folder.is_dir():
            raise NotFoundError(f"{folder}: no such folder", f"Name a folder that holds {QUERIES} and {QRELS}.")
        asked = _read_queries(folder / QUERIES)
        judged = _read_qrels(folder / QRELS, asked)
        queries = tuple(query for query in asked.values() if any(score > 0 for score in judged[query.id].values()))
        if not queries:
            raise InputError(f"{folder}: no query has a relevant document", f"Check the ids and scores in {QRELS}.")
        return cls(folder.resolve().name, queries, {query.id: judged[query.id] for query in queries})


def _read_queries(file: Path) -> dict[str, JudgedQuery]:
    queries: dict[str, JudgedQuery] = {}
    for place, line in _lines(file):
        query = _query(place, line)
        if query.id in queries:
            raise InputError(f"{place}: the query id {query.id!r} is used twice", "Give each query its own _id.")
        queries[query.id] = query
    return queries


def _query(place: str, line: str) -> JudgedQuery:
    """Read one line; `metadata.self` is an id or a list of ids: the query's own document in the corpus."""
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{place}: not JSON ({getattr(error, 'msg', error)})", "Write one JSON object per line."
        ) from error
    if not isinstance(record, dict):
        raise InputError(f"{place}: not a JSON object", 'Write one object per line: {"_id": ..., "text": ...}.')
    identifier, text, metadata = record.get("_id"), record.get("text"), record.get("metadata") or {}
    if not isinstance(identifier, str) or not identifier:
        raise InputError(f"{place}: no _id", "Give each query an _id, as text.")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}: the query has no text", "Give each query a text.")
    own = metadata.get("self", []) if isinstance(metadata, dict) else None
    own = [own] if isinstance(own, str) else own
    if not isinstance(own, list) or not all(isinstance(document, str) for document in own):
        raise InputError(f"{place}: metadata.self is not a document id", "Write an id or a list of ids, as text.")
    return JudgedQuery(identifier, text, frozenset(own))


def _read_qrels(file: Path, asked: dict[str, JudgedQuery]) -> dict[str, dict[str, int]]:
    """Read the judgements of every query asked; a document that its query excludes is not judged."""
    judged: dict[str, dict[str, int]] = {query: {} for query in asked}
    lines = _lines(file)
    place, header = next(lines, (f"{file}:1", ""))
    if len(header.split("\t")) != COLUMNS or _integer(header.split("\t")[2]) is not None:
        raise InputError(f"{place}: no header line", "Begin with query-id, corpus-id and score, divided by tabs.")
    for place, line in lines:
        cells = line.split("\t")
        score = _integer(cells[2]) if len(cells) == COLUMNS else None
        if score is None:
            raise InputError(
                f"{place}: not a judgement",
                "Write query id, document id and a whole number, divided by tabs.",
            )
        query, document = cells[0], cells[1]
        if query not in judged:
            raise InputError(f"{place}: the query {query!r} is not in {QUERIES}", "Add the query, or remove the line.")
        if document in judged[query]:
            raise InputError(f"{place}: {document!r} is judged twice for {query!r}", "Keep one of the judgements.")
        judged[query][document] = score
    return {
        query: {document: score for document, score in documents.items() if document not in asked[query].exclude}
        for query, documents in judged.items()
    }


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """Walk the lines that are not blank, each with its place; a byte order mark is skipped."""
    number = 0
    try:
        with file.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if line.strip():
                    yield f"{file}:{number}", line
    except FileNotFoundError as error:
        raise NotFoundError(f"{file}: no such file", f"A collection holds {QUERIES} and {QRELS}.") from error
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})", "Check the file and its permissions.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}:{number}: not UTF-8", "Save the file as UTF-8.") from error
