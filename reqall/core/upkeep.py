"""Takes out of the file what nothing uses any more: indexes, chunks, tombstones, old jobs."""

import json
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime

from reqall.core.assemble import Assembly
from reqall.core.jobs import KEPT_PER_PROJECT
from reqall.core.unused import KEPT_SECONDS, Indexes, Verdict
from reqall.core.usage import Use

CHUNKS_AT_ONCE = 5000

_OLD_CHUNKS = "chunking NOT IN (SELECT value FROM json_each(?))"
_OLD_TOMBSTONES = "deleted AND seq <= ?"
_OLD_JOBS = """
finished IS NOT NULL AND (
    number NOT IN (
        SELECT number FROM (
            SELECT number, row_number() OVER (PARTITION BY project_id ORDER BY number DESC) AS place FROM job)
        WHERE place <= ?)
    OR (finished < ? AND project_id NOT IN (SELECT id FROM project)))"""


@dataclass
class Collected:
    """What was (or, as a trial, would be) removed, and what stays and why.

    `free_bytes` are the file's free pages, which later writes use; `--vacuum` gives them back.
    """

    is_trial: bool
    indexes: list[Verdict] = field(default_factory=list)
    chunks: int = 0
    tombstones: int = 0
    jobs: int = 0
    folder_bytes: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    free_bytes: int = 0
    notes: list[str] = field(default_factory=list)


def collect(assembly: Assembly, *, is_trial: bool = False, vacuum: bool = False) -> Collected:
    """Remove what is unused; as a trial only count it. Raises CatalogError."""
    database = assembly.database
    indexes = Indexes(assembly)
    done = Collected(is_trial, indexes.verdicts(), bytes_before=_size(assembly))
    for verdict in done.indexes:
        if verdict.is_dropped:
            _drop(indexes, verdict, done)
        elif not is_trial and not indexes.of(verdict.prefix):
            assembly.usage.note([Use(verdict.prefix, "", "unknown", "", "", "catalog")])
    _chunks(assembly, indexes, done)
    _tombstones(indexes, done)
    before = datetime.fromtimestamp(assembly.usage.clock() - KEPT_SECONDS, UTC).isoformat(timespec="seconds")
    done.jobs = _remove(assembly, "job", _OLD_JOBS, (KEPT_PER_PROJECT, before), is_trial=is_trial)
    if not is_trial:
        _stale_notes(assembly, indexes)
        if vacuum:
            database.vacuum()
    done.bytes_after = _size(assembly)
    ((done.free_bytes,),) = database.query(
        "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
    )
    return done


def _drop(indexes: Indexes, verdict: Verdict, done: Collected) -> None:
    folders = indexes.folders(verdict.prefix)
    done.folder_bytes += sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    drop = indexes.dropper(verdict.prefix)
    if done.is_trial or drop is None:
        return
    with indexes.assembly.database.writing() as tx:
        drop(tx)
    for folder in folders:
        if folder.is_dir():  # its component may have removed it itself
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)


def _chunks(assembly: Assembly, indexes: Indexes, done: Collected) -> None:
    """Remove chunks of chunkings that no index uses, some thousand at a time: nobody waits long."""
    kept = {verdict.prefix for verdict in done.indexes if not verdict.is_dropped}
    if any(not note.chunking for prefix in kept for note in indexes.of(prefix)) or any(not indexes.of(p) for p in kept):
        done.notes.append("all chunks stay: how an index that is kept cuts documents is not known")
        return
    used = {use.chunking for use in indexes.own.values()}
    used |= {note.chunking for note in indexes.notes if note.prefix in kept or indexes.kept_use(note)}
    done.chunks = _remove(assembly, "chunk", _OLD_CHUNKS, (json.dumps(sorted(used)),), is_trial=done.is_trial)


def _tombstones(indexes: Indexes, done: Collected) -> None:
    """Remove what every index has taken in.

    An index in another process's memory may still hold such documents; a search leaves out what the
    catalog no longer has.
    """
    indexer = indexes.indexer
    floor = indexer.log.seq()
    for index in indexer.indexes:
        applied = indexer.applied(index)
        if index.recaller.storage != "memory" and applied is not None:
            floor = min(floor, applied)
    for verdict in done.indexes:
        if not verdict.is_dropped:
            recaller = indexes.recaller(verdict.prefix)
            if recaller is None:
                done.notes.append(f"all tombstones stay: how far index {verdict.index!r} is cannot be told here")
                return
            position = recaller.position()
            floor = floor if position is None else min(floor, position.seq)
    done.tombstones = _remove(indexes.assembly, "change", _OLD_TOMBSTONES, (floor,), is_trial=done.is_trial)


def _remove(assembly: Assembly, table: str, condition: str, bindings: tuple[object, ...], *, is_trial: bool) -> int:
    count = int(assembly.database.query(f"SELECT count(*) FROM {table} WHERE {condition}", bindings)[0][0])
    key = {"chunk": "id", "change": "document_id", "job": "number"}[table]
    while count and not is_trial:
        with assembly.database.writing() as tx:
            some = f"SELECT {key} FROM {table} WHERE {condition} LIMIT {CHUNKS_AT_ONCE}"
            tx.execute(f"DELETE FROM {table} WHERE {key} IN ({some})", bindings)
            if next(tx.execute("SELECT changes()"))[0] < CHUNKS_AT_ONCE:
                break
    return count


def _stale_notes(assembly: Assembly, indexes: Indexes) -> None:
    """Forget the notes of indexes that are not there."""
    gone = [
        note
        for note in assembly.usage.all()
        if note.prefix not in indexes.own
        and note.prefix not in indexes.tables
        and note.storage != "external"
        and not indexes.kept_use(note)
    ]
    with assembly.database.writing() as tx:
        tx.executemany("DELETE FROM meta WHERE key = ?", ((note.key,) for note in gone))


def _size(assembly: Assembly) -> int:
    path = assembly.database.path
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
