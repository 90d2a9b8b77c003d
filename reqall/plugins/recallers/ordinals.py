"""Facets as integers, which is what vectors are filtered by before they are ranked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from reqall import Facets, Filters, SqlConnection
from reqall.plugins.recallers.facets import microseconds

BUCKETS = 16
"""Partitions that all projects share: a filter by project reads about a sixteenth of the vectors."""

_NONE = 0
_UNDATED = -(2**62)
_LATEST = 2**62


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters as integers: values of each kind, and inclusive bounds of `modified`; None does not filter."""

    project: tuple[int, ...] | None = None
    type: tuple[int, ...] | None = None
    status: tuple[int, ...] | None = None
    modified: tuple[int, int] | None = None

    @classmethod
    def of(cls, filters: Filters, find: Callable[[str, Sequence[str]], Iterable[int]]) -> "Wanted | None":
        """Translate filters, `find(kind, values)` returns the numbers of those that are known.

        None where nothing can meet them.
        """
        numbers: dict[str, tuple[int, ...]] = {}
        for kind, values in (
            ("project", filters.project_ids),
            ("type", filters.type_ids),
            ("status", filters.statuses),
        ):
            if values:
                numbers[kind] = tuple(sorted(set(find(kind, values))))
                if not numbers[kind]:
                    return None
        return cls(**numbers, modified=_bounds(filters.modified_after, filters.modified_before))

    def conditions(self) -> str:
        """Write them as conditions of a vec0 query."""
        parts = []
        for kind, numbers in (("project", self.project), ("type", self.type), ("status", self.status)):
            if numbers is not None:
                parts.append(f"{kind} in ({_listed(numbers)})")
        buckets = {number % BUCKETS for number in self.project or ()}
        if 0 < len(buckets) < BUCKETS:
            parts.append(f"bucket in ({_listed(sorted(buckets))})")
        if self.modified is not None:
            parts.append("modified >= {} and modified <= {}".format(*self.modified))
        return "".join(f" and {part}" for part in parts)


class Ordinals:
    """Numbers the values of each kind of facet from 1, in one table; vec0 refuses NULL, so 0 is none."""

    def __init__(self, prefix: str) -> None:
        """Keep the numbers in `<prefix>_facet`."""
        self.table = f"{prefix}_facet"

    def create(self, tx: SqlConnection) -> None:
        """Create the table where it is absent."""
        tx.execute(
            f"create table if not exists {self.table}"
            "(kind text, value text, ordinal integer not null, primary key (kind, value)) without rowid"
        )

    def columns(self, tx: SqlConnection, facets: Facets) -> tuple[int, int, int, int, int]:
        """Return bucket, project, type, status and modified; new values get their number."""
        project = self._assign(tx, "project", facets.project_id)
        type_ = self._assign(tx, "type", facets.type_id)
        status = _NONE if facets.status is None else self._assign(tx, "status", facets.status)
        modified = _UNDATED if facets.modified is None else microseconds(facets.modified)
        return project % BUCKETS, project, type_, status, modified

    def stored(self, reader: SqlConnection, facets: Facets) -> tuple[int, int, int, int, int] | None:
        """Return the same as `columns`, and write nothing; None where a value has no number yet."""
        kinds = (("project", facets.project_id), ("type", facets.type_id), ("status", facets.status))
        if all(value is None or self._find(reader, kind, (value,)) for kind, value in kinds):
            return self.columns(reader, facets)
        return None

    def wanted(self, reader: SqlConnection, filters: Filters) -> Wanted | None:
        """Translate filters; None where nothing can meet them."""
        return Wanted.of(filters, lambda kind, values: self._find(reader, kind, values))

    def known(self, reader: SqlConnection) -> dict[tuple[str, str], int]:
        """Read all numbers, by kind and value."""
        return {(kind, value): ordinal for kind, value, ordinal in reader.execute(f"select * from {self.table}")}

    def _assign(self, tx: SqlConnection, kind: str, value: str) -> int:
        known = self._find(tx, kind, (value,))
        if known:
            return known[0]
        tx.execute(
            f"insert into {self.table} select ?1, ?2, coalesce(max(ordinal), 0) + 1 from {self.table} where kind = ?1",
            (kind, value),
        )
        return self._find(tx, kind, (value,))[0]

    def _find(self, connection: SqlConnection, kind: str, values: Sequence[str]) -> list[int]:
        statement = f"select ordinal from {self.table} where kind = ? and value = ?"
        return [ordinal for value in values for (ordinal,) in connection.execute(statement, (kind, value))]


def _bounds(after: datetime | None, before: datetime | None) -> tuple[int, int] | None:
    """Return the first and the last moment; what is undated lies before every bound."""
    if after is None and before is None:
        return None
    return (
        _UNDATED + 1 if after is None else microseconds(after),
        _LATEST if before is None else microseconds(before),
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)
