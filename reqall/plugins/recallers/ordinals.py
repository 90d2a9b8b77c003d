"""Facets as integers, which is what vec0 filters by before it ranks."""

from collections.abc import Sequence

from reqall import Facets, Filters, SqlConnection
from reqall.plugins.recallers.facets import microseconds

BUCKETS = 16
"""Partitions that all projects share: a filter by project reads about a sixteenth of the vectors."""

_NONE = 0
_UNDATED = -(2**62)


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

    def conditions(self, reader: SqlConnection, filters: Filters) -> str | None:
        """Write filters as conditions of a vec0 query; None where nothing can meet them."""
        parts = []
        for kind, values in (
            ("project", filters.project_ids),
            ("type", filters.type_ids),
            ("status", filters.statuses),
        ):
            if not values:
                continue
            known = self._find(reader, kind, values)
            if not known:
                return None
            parts.append(f"{kind} in ({_listed(known)})")
            buckets = {ordinal % BUCKETS for ordinal in known}
            if kind == "project" and len(buckets) < BUCKETS:
                parts.append(f"bucket in ({_listed(sorted(buckets))})")
        if filters.modified_after is not None:
            parts.append(f"modified >= {microseconds(filters.modified_after)}")
        if filters.modified_before is not None:
            parts.append(f"modified > {_UNDATED} and modified <= {microseconds(filters.modified_before)}")
        return "".join(f" and {part}" for part in parts)

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


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)
