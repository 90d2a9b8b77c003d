"""Which indexes of the file nothing uses any more, and the means to drop them.

Tables alone do not say whose they are: the notes of `usage` do.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from reqall.core.assemble import Assembly
from reqall.core.components import build_options
from reqall.core.config import IndexConfig
from reqall.core.errors import ReqallError
from reqall.core.protocols import Embedder, Recaller, SqlConnection, SupportsDrop
from reqall.core.registration import Services
from reqall.core.usage import Use

KEPT_SECONDS = 14 * 86400.0
"""How long an index of another configuration file stays after its last use."""

_PREFIX = re.compile(r"(ix_[0-9a-f]{12})_")
_MODULE = re.compile(r"create virtual table .*? using\s+(\w+)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an index that the configuration does not name, and why; `bytes` in the catalog's file."""

    prefix: str
    index: str
    is_dropped: bool
    reason: str
    bytes: int = 0


class Indexes:
    """The indexes in the file of one assembly, its own and others'."""

    def __init__(self, assembly: Assembly) -> None:
        """Build the assembly's own indexes and read what is noted of the others."""
        self.assembly = assembly
        self.indexer = assembly.indexer()
        self.problems = assembly.problems()
        self.own = {use.prefix: use for use in assembly.uses()}
        self.notes = assembly.usage.all()
        rows = assembly.database.query("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        self.tables: dict[str, dict[str, str]] = {}
        for name, sql in rows:
            if match := _PREFIX.match(name):
                self.tables.setdefault(match[1], {})[name] = sql

    def verdicts(self) -> list[Verdict]:
        """Judge all that the configuration does not name."""
        external = {note.prefix for note in self.notes if note.storage == "external"}
        others = sorted((set(self.tables) | external) - set(self.own))
        sizes = self._sizes()
        return [self._judge(prefix, sizes.get(prefix, 0)) for prefix in others]

    def of(self, prefix: str) -> list[Use]:
        """List the notes of an index, the newest last."""
        return [note for note in self.notes if note.prefix == prefix]

    def kept_use(self, note: Use) -> str:
        """Say why a noted use protects what it names; empty when it does not."""
        if note.origin == self.assembly.origin and note.index in self.problems:
            return f"index {note.index!r} of this configuration, which cannot be built here"
        age = self.assembly.usage.clock() - note.time
        # The same file without it has changed its mind; an unnamed one may be any.
        is_other = not note.origin or note.origin != self.assembly.origin
        if is_other and age < KEPT_SECONDS:
            return f"used {_told(age)} ago by {note.origin or 'another configuration'}"
        return ""

    def recaller(self, prefix: str) -> Recaller | None:
        """Build the recaller of another configuration's index as its note describes it; None where that fails.

        It is given no working embedder: it can be asked for its position, and dropped.
        """
        for note in reversed(self.of(prefix)):
            try:
                config = IndexConfig.model_validate(note.config)
                registration = self.assembly.host.find("recaller", config.use)
                options = build_options(registration, config, self.assembly.environment, f"index {note.index!r}")
                folder = self.assembly.folder / "indexes" / note.fingerprint
                services = Services(note.index, folder, prefix, self.assembly.database, _no_embedder)
                return cast("Recaller", registration.build(options, services))
            except (ReqallError, ValueError, AttributeError):
                continue
        return None

    def dropper(self, prefix: str) -> Callable[[SqlConnection], None] | None:
        """Return what drops an index within a transaction; None where this machine cannot."""
        recaller = self.recaller(prefix)
        tables = self.tables.get(prefix, {})
        modules = {row[0] for row in self.assembly.database.query("SELECT name FROM pragma_module_list")}
        used = {match[1].lower() for sql in tables.values() if (match := _MODULE.match(sql))}
        can_drop = isinstance(recaller, SupportsDrop)
        if not used <= modules or (not tables and not can_drop):
            return None

        def drop(tx: SqlConnection) -> None:
            if isinstance(recaller, SupportsDrop):
                recaller.drop(tx if recaller.storage == "catalog" else None)
            # Virtual tables first: their shadow tables go with them.
            for name in sorted(tables, key=lambda name: not _MODULE.match(tables[name])):
                tx.execute(f"DROP TABLE IF EXISTS {name}")
            tx.executemany("DELETE FROM meta WHERE key = ?", ((note.key,) for note in self.of(prefix)))

        return drop

    def folders(self, prefix: str) -> Sequence[Path]:
        """Find the folders of an index outside the catalog's file."""
        return list((self.assembly.folder / "indexes").glob(f"{prefix.removeprefix('ix_')}*"))

    def _judge(self, prefix: str, size: int) -> Verdict:
        notes = self.of(prefix)
        name = notes[-1].index if notes else "unknown"
        if not notes:
            return Verdict(prefix, name, False, "its use is not known; kept for 14 days from now", size)
        for note in notes:
            if reason := self.kept_use(note):
                return Verdict(prefix, name, False, reason, size)
        if self.dropper(prefix) is None:
            use = notes[-1].config.get("use", "its component")
            return Verdict(prefix, name, False, f"unused, but {use} cannot be loaded here to drop it", size)
        age = self.assembly.usage.clock() - notes[-1].time
        return Verdict(prefix, name, True, f"no pipeline names it; last used {_told(age)} ago", size)

    def _sizes(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        rows = self.assembly.database.query(
            "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) WHERE aggregate = TRUE"
            " GROUP BY tbl_name"
        )
        for table, size in rows:
            if match := _PREFIX.match(table):
                sizes[match[1]] = sizes.get(match[1], 0) + size
        return sizes


def _no_embedder(_name: str) -> Embedder:
    return cast("Embedder", object())


def _told(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit}"
    return "a minute"
