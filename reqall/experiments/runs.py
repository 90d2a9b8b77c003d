"""Runs on disk: those of other systems come in as rows, ours go out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from reqall.core.collection import Collection
from reqall.core.errors import InputError
from reqall.core.evaluation import Searched
from reqall.core.trec import read_run, write_qrels, write_run
from reqall.core.wording import did_you_mean, one_of
from reqall.experiments.plan import OtherRun
from reqall.experiments.report import Report

_LONGEST = 120


def other_runs(
    runs: Iterable[OtherRun], collections: Sequence[Collection], taken: Iterable[str]
) -> dict[str, dict[str, Searched]]:
    """Read run files: collection -> system -> what it found. A system goes by its file's tag.

    A tag that is `taken` by a pipeline is told with the file's name. Raises InputError for a run
    that cannot be of its collection.
    """
    known = {collection.name: collection for collection in collections}
    pipelines = set(taken)
    found: dict[str, dict[str, Searched]] = {name: {} for name in known}
    for other in runs:
        collection = _collection(other, known)
        file = read_run(other.file)
        name = f"{file.tag} ({other.file.name})" if file.tag in pipelines else file.tag
        if name in found[collection.name]:
            raise InputError(f"{other.file}: a second run of {name!r} on {collection.name}", "name each system's once")
        found[collection.name][name] = Searched(_judged(other, file.run, collection))
    return found


def save(report: Report, folder: Path) -> list[Path]:
    """Write `<collection>/qrels.txt` and a run file for each system. Raises InputError."""
    written: list[Path] = []
    for collection in report.collections:
        place = folder / _file_name(collection.name)
        write_qrels(place / "qrels.txt", collection.qrels)
        written.append(place / "qrels.txt")
        for system, outcome in report.outcomes[collection.name].items():
            file = place / f"{_file_name(system)}.run"
            number = 2
            while file in written:
                file = place / f"{_file_name(system)}-{number}.run"
                number += 1
            write_run(file, outcome.searched.run, system)
            written.append(file)
    return written


def _collection(other: OtherRun, known: Mapping[str, Collection]) -> Collection:
    if other.collection in known:
        return known[other.collection]
    if other.collection:
        near = did_you_mean(other.collection, known)
        raise InputError(f"no collection {other.collection!r} here{near}", f"there are: {one_of(known)}")
    if len(known) > 1:
        raise InputError(
            f"{other.file}: of which collection is this run?", f"write COLLECTION=FILE; there are: {one_of(known)}"
        )
    return next(iter(known.values()))


def _judged(other: OtherRun, run: Mapping[str, Sequence[str]], collection: Collection) -> dict[str, list[str]]:
    judged = {query.id: [d for d in run.get(query.id, ()) if d not in query.exclude] for query in collection.queries}
    if not any(judged.values()):
        raise InputError(
            f"{other.file}: none of its queries is one of {collection.name}", "name the run with its own collection"
        )
    return judged


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.,=\[\]-]", "_", name)[:_LONGEST]
