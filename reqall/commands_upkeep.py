"""The commands that look after the database: clean it, forget a project, show where things are."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from reqall.app import App
from reqall.core.environment import data_folder
from reqall.core.upkeep import Collected
from reqall.core.wording import amount
from reqall.invocation import AsJson, Project, opened, print_json


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    for command in (gc, forget, paths):
        cli.command()(command)


def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed")] = False,
    vacuum: Annotated[
        bool, typer.Option("--vacuum", help="Also rewrite the file without its free pages; needs its size again")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove indexes that no pipeline names any more, and what only they needed.

    An index of another configuration file stays for 14 days after its last use.
    """
    from reqall.core.upkeep import collect

    with opened() as app:
        done = collect(app.assembly, is_trial=dry_run, vacuum=vacuum)
    if as_json:
        print_json(asdict(done))
    else:
        _print_lines(_collected(done))


def forget(
    project: Project,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a project from the database: documents, index entries, links and jobs. The source is untouched."""
    from reqall.core.forget import forget as remove

    with opened() as app:
        found = app.synced_project(project)
        count = app.assembly.catalog.count(found.id)
        if not yes:
            typer.confirm(f"Forget {found.name} ({found.id}) with its {count} documents?", abort=True, err=True)
        done = remove(app.assembly, app.jobs, found.id)
    if as_json:
        print_json(asdict(done))
        return
    typer.echo(f"{found.name}: {done.documents} documents and {done.links} links forgotten")
    for name in done.behind:
        typer.echo(f"index {name} could not be reached: the next sync takes them out of it", err=True)


def paths(as_json: AsJson = False) -> None:
    """Show where configuration, settings and databases are, and how large they are."""
    with opened() as app:
        rows = places(app)
    if as_json:
        print_json(rows)
    else:
        _print_lines(f"{row['what']:14} {_column(row['bytes'])}  {row['path']}  ({row['origin']})" for row in rows)


def places(app: App) -> list[dict[str, Any]]:
    """List the files and folders; `bytes` is None for what is not there. Nothing is opened."""
    database = Path(app.database_file.value).expanduser().absolute()
    config = Path(app.config_file.value).expanduser().absolute()
    rows = [
        _place("configuration", config, app.config_file.origin),
        _place("settings", app.environment.file, ".env"),
        _place("database", database, app.database_file.origin, database.with_name(f"{database.name}-wal")),
    ]
    copies = sorted(database.parent.glob(f"{database.name}.before-*"))
    rows += [_place("copy", copy, "made before a migration; may be deleted") for copy in copies]
    rows.append(_place("indexes", database.parent / "indexes", "indexes outside the database"))
    collections = sorted((data_folder() / "eval").glob("*.db"))
    rows += [_place("eval database", file, "`reqall eval`; may be deleted") for file in collections]
    logs = {"what": "logs", "path": "stderr", "origin": "REQALL_LOG_LEVEL sets how much; no file", "bytes": None}
    return [*rows, logs]


def _collected(done: Collected) -> Iterable[str]:
    verb = "would be removed" if done.is_trial else "removed"
    for each in done.indexes:
        fate = verb if each.is_dropped else "kept"
        yield f"index {each.index} {each.prefix}: {fate}, {amount(each.bytes)}, {each.reason}"
    yield f"{verb}: {done.chunks} chunks, {done.tombstones} marks of deleted documents, {done.jobs} old jobs"
    if done.folder_bytes:
        yield f"{verb}: {amount(done.folder_bytes)} outside the database"
    yield from done.notes
    before, now, free = (amount(size) for size in (done.bytes_before, done.bytes_after, done.free_bytes))
    yield f"database: {before} before, {now} now, {free} of it free"


def _place(what: str, path: Path, origin: str, *also: Path) -> dict[str, Any]:
    return {"what": what, "path": str(path), "origin": origin, "bytes": _bytes((path, *also))}


def _bytes(paths: Iterable[Path]) -> int | None:
    existing = [path for path in paths if path.exists()]
    files = [file for path in existing for file in (path.rglob("*") if path.is_dir() else (path,)) if file.is_file()]
    return sum(file.stat().st_size for file in files) if existing else None


def _column(count: int | None) -> str:
    return f"{'-' if count is None else amount(count):>10}"


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)
