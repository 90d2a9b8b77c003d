"""What the recallers that live in the catalog's file share: their place in it, and their position."""

from reqall import Database, PluginError, Position, Services, SqlConnection


def require_database(services: Services, component: str) -> Database:
    """Return the catalog's database. Raises PluginError where there is none."""
    if services.database is None or not services.prefix:
        raise PluginError(
            f"{component} lives in the catalog's database, and was built without one",
            "build it through the host, or give Services a database and a prefix",
        )
    return services.database


def has_table(connection: SqlConnection, name: str) -> bool:
    """Tell whether a table exists."""
    return bool(list(connection.execute("select 1 from sqlite_master where type = 'table' and name = ?", (name,))))


def read_position(connection: SqlConnection, prefix: str) -> Position | None:
    """Return the position that the last `write_position` left; None where nothing was written."""
    if not has_table(connection, f"{prefix}_position"):
        return None
    rows = list(connection.execute(f"select fingerprint, seq from {prefix}_position"))
    return Position(*rows[0]) if rows else None


def write_position(tx: SqlConnection, prefix: str, position: Position) -> None:
    """Keep the position in a table of one row."""
    tx.execute(
        f"create table if not exists {prefix}_position"
        "(id integer primary key check (id = 1), fingerprint text not null, seq integer not null)"
    )
    tx.execute(
        f"insert or replace into {prefix}_position values (1, ?, ?)",
        (position.fingerprint, position.seq),
    )
