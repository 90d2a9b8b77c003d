"""What a request asks for: its parameters, date ranges, sort orders and page."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from reqall.testing.jama_simulator.clock import parse_jama_time
from reqall.testing.jama_simulator.records import Record

DEFAULT_PAGE = 20
LARGEST_PAGE = 50
_DISTANT_FUTURE = datetime.max.replace(tzinfo=UTC)


class ApiError(Exception):
    """An answer other than 200; the message goes into `meta.message`."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the HTTP status and the message."""
        super().__init__(message)
        self.status = status
        self.message = message


class Moments(NamedTuple):
    """A range of time, both ends within it."""

    first: datetime
    last: datetime

    def has(self, text: str | None) -> bool:
        """Tell whether a date as Jama writes it lies in the range."""
        return text is not None and self.first <= parse_jama_time(text) <= self.last


@dataclass(frozen=True)
class Params:
    """The decoded query string; a parameter that nobody asks for is ignored, as Jama does."""

    pairs: tuple[tuple[str, str], ...]

    def many(self, name: str) -> list[str]:
        """Return all values of a repeatable parameter."""
        return [value for key, value in self.pairs if key == name]

    def one(self, name: str) -> str | None:
        """Return the first value of a parameter."""
        return next(iter(self.many(name)), None)

    def integers(self, name: str) -> list[int]:
        """Return all values as numbers; a 400 when one is none."""
        try:
            return [int(value) for value in self.many(name)]
        except ValueError:
            raise ApiError(400, f"Invalid value for parameter {name}: {self.many(name)}") from None

    def integer(self, name: str, default: int) -> int:
        """Return the first value as a number."""
        return next(iter(self.integers(name)), default)

    def flag(self, name: str) -> bool:
        """Tell whether a boolean parameter is set to true."""
        return (self.one(name) or "").lower() == "true"

    def project(self) -> int:
        """Return the project that an endpoint cannot do without."""
        if not (projects := self.integers("project")):
            raise ApiError(400, "The project parameter is required.")
        return projects[0]

    def moments(self, name: str) -> Moments | None:
        """Return the range that one or two dates span; a 400 for any other form.

        A literal `+` in the query is a space by the rules of forms, hence no date.
        """
        values = self.many(name)
        if not values:
            return None
        try:
            moments = [parse_jama_time(value) for value in values]
            return Moments(*moments) if len(moments) > 1 else Moments(moments[0], _DISTANT_FUTURE)
        except (TypeError, ValueError):
            raise ApiError(400, f"Invalid value for parameter {name}: {values}") from None


class Page(NamedTuple):
    """The window of a list that is asked for."""

    start: int
    size: int

    def of(self, records: Sequence[Record]) -> list[Record]:
        """Return the records in the window."""
        return list(records[self.start : self.start + self.size])


def page_of(params: Params, over_cap: str) -> Page:
    """Read `startAt` and `maxResults`; more than 50 is cut or refused, as `over_cap` says."""
    start = params.integer("startAt", 0)
    size = params.integer("maxResults", DEFAULT_PAGE)
    if start < 0 or size < 1:
        raise ApiError(400, "startAt must not be negative, maxResults must be at least 1.")
    if size > LARGEST_PAGE and over_cap == "error":
        raise ApiError(400, f"maxResults cannot be larger than {LARGEST_PAGE}.")
    return Page(start, min(size, LARGEST_PAGE))


def sort_records(
    records: Iterable[Record], orders: Sequence[str], key_of: Callable[[Record, str], object]
) -> list[Record]:
    """Sort by `name.asc` or `name.desc`, the first one counting most; what lacks it comes last."""
    result = list(records)
    for order in reversed(orders):
        name, _, direction = order.rpartition(".")
        if not name or direction not in ("asc", "desc"):
            raise ApiError(400, f"Invalid value for parameter sortBy: {order}")
        keyed = [(key_of(record, name), record) for record in result]
        present = [pair for pair in keyed if pair[0] is not None]
        present.sort(key=lambda pair: _comparable(pair[0]), reverse=direction == "desc")
        result = [record for _, record in present]
        result += [record for key, record in keyed if key is None]
    return result


def _comparable(key: object) -> tuple[int, tuple[int, ...], str]:
    if isinstance(key, bool | int):
        return (0, (key,), "")
    if isinstance(key, tuple):
        return (0, key, "")
    return (1, (), str(key))
