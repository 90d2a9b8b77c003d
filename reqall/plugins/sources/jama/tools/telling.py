"""The few lines that people read of a tool's answer; the whole of it is in the structured result."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from reqall.plugins.sources.jama.source import JamaSource

BuildSource = Callable[[], "JamaSource"]

_SHOWN = (
    *("version", "created", "author", "direction", "relationship_type"),
    *("key", "from_key", "to_key", "file_name", "name", "type", "status", "text"),
)
_LONGEST = 160
_MOST_OBJECTS = 20


def told(answer: Any) -> str:
    """Return the count of a list, a line for each row (for twenty of an endpoint's objects), and the note."""
    rows = _rows(answer)
    if rows and isinstance(rows[0], dict):
        rows = rows[:_MOST_OBJECTS]
    count = f"{answer.returned} of {answer.total}" if answer.total >= 0 else f"{answer.returned}, more not counted"
    following = getattr(answer, "cursor", "") or getattr(answer, "next", "")
    more = f" (go on with {following})" if following else ""
    return "\n".join(filter(None, [f"{count}{more}", *map(_line, rows), answer.note]))


def told_item(item: Any) -> str:
    """Return one item in a line."""
    return f"{item.key} {item.name} ({', '.join(filter(None, (item.type, item.status)))}) {item.url}"


def _rows(answer: BaseModel) -> list[Any]:
    return next((value for _, value in answer if isinstance(value, list)), [])


def _line(row: Any) -> str:
    values = row if isinstance(row, dict) else dict(row)
    told_of = [str(values[name]) for name in _SHOWN if values.get(name) not in (None, "")]
    if isinstance(row, dict):
        told_of = [f"{name}={value}" for name, value in row.items()]
    return " | ".join(" ".join(text.split()) for text in told_of)[:_LONGEST]
