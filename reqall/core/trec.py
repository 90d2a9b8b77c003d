"""Run files and judgements in the form of trec_eval, to exchange results with other systems.

A run holds lines `query Q0 document rank score tag`, judgements lines `query 0 document relevance`
(https://github.com/usnistgov/trec_eval). trec_eval sorts by score and ignores the rank, so the
score that is written falls with the rank: 1 / rank. Scores of a pipeline do not always fall, as
pinned documents and fused ones have scores of different kinds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from reqall.core.errors import InputError, NotFoundError
from reqall.core.metrics import Qrels, Run

COLUMNS = 6
FORM = "query Q0 document rank score tag"


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run of a system and the tag that names it."""

    tag: str
    run: dict[str, list[str]]


def write_run(file: Path, run: Run, tag: str) -> None:
    """Write a run; white space in the tag becomes `_`. Raises InputError for an id with white space in it."""
    name = "_".join(tag.split()) or "run"
    lines = (
        f"{_word(query)} Q0 {_word(document)} {rank} {1 / rank:.9g} {name}"
        for query, ranked in run.items()
        for rank, document in enumerate(ranked, start=1)
    )
    _write(file, lines)


def write_qrels(file: Path, qrels: Qrels) -> None:
    """Write judgements. Raises InputError for an id with white space in it."""
    _write(
        file,
        (
            f"{_word(query)} 0 {_word(document)} {relevance}"
            for query, judged in qrels.items()
            for document, relevance in judged.items()
        ),
    )


def read_run(file: Path) -> RunFile:
    """Read a run, sorted by score; of equal scores the better rank is first.

    Raises NotFoundError for an absent file, InputError for a malformed line or a repeated document.
    """
    found: dict[str, dict[str, tuple[float, int]]] = {}
    tag = ""
    for place, line in _lines(file):
        cells = line.split()
        if len(cells) != COLUMNS:
            raise InputError(f"{place}: {len(cells)} fields instead of {COLUMNS}", f"Write {FORM}.")
        query, _, document, rank, score, tag = cells
        order = found.setdefault(query, {})
        if document in order:
            raise InputError(f"{place}: {document!r} stands twice for {query!r}", "Keep it once, at its best rank.")
        order[document] = (-_number(place, "score", score), int(_number(place, "rank", rank)))
    if not found:
        raise InputError(f"{file}: the run is empty", f"Write lines of {FORM}.")
    return RunFile(tag, {query: sorted(order, key=order.__getitem__) for query, order in found.items()})


def _word(identifier: str) -> str:
    if not identifier or identifier.split() != [identifier]:
        raise InputError(
            f"the id {identifier!r} cannot stand in a run file: its fields are divided by white space",
            "Give queries and documents ids without white space.",
        )
    return identifier


def _number(place: str, name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise InputError(f"{place}: the {name} is not a number", f"Write {FORM}.")
    return number


def _write(file: Path, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror})", "Name a folder of yours.") from error


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise NotFoundError(f"{file}: no such file", "Name a run file.") from error
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})", "Check the file and its permissions.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8", "Save the file as UTF-8.") from error
    return ((f"{file}:{number}", line) for number, line in enumerate(lines, start=1) if line.strip())
