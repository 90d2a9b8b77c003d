"""What a caller may ask of a search, and the checks that turn it into a query with filters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from reqall.core.catalog import Catalog
from reqall.core.errors import InputError
from reqall.core.types import Filters
from reqall.core.wording import did_you_mean, one_of

MAX_QUERY_CHARACTERS = 8000
MAX_QUERIES = 5
DIRECTIONS = ("upstream", "downstream")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as a person or a language model states it; empty fields are not given.

    `modified_after` and `modified_before` are inclusive ISO 8601 texts; without an offset they are
    UTC, and a bare date as upper bound means its whole day.
    """

    projects: tuple[str, ...]
    query: str
    sub_queries: tuple[str, ...] = ()
    item_types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    modified_after: str = ""
    modified_before: str = ""
    top_k: int | None = None
    candidate_k: int | None = None
    pipeline: str = ""
    source: str = ""

    def checked_query(self) -> str:
        """Return the query, if it can be searched with."""
        return _checked("query", self.query)

    def checked_sub_queries(self) -> tuple[str, ...]:
        """Return the client's rewrites, if there are not too many; blank ones and the query itself do not count."""
        texts = [text for text in self.sub_queries if text.strip() and text.split() != self.query.split()]
        if len(texts) >= MAX_QUERIES:
            raise InputError(
                f"{len(texts)} sub_queries and the query are {len(texts) + 1} texts; at most {MAX_QUERIES} are used",
                f"send up to {MAX_QUERIES - 1} rewrites",
            )
        return tuple(_checked(f"sub_query {number}", text) for number, text in enumerate(texts, start=1))

    def depth(self, top_k: int, candidate_k: int, most: int, most_candidates: int) -> tuple[int, int]:
        """Return (top_k, candidate_k): those asked for, else the pipeline's; checked against each other."""
        hits = top_k if self.top_k is None else self.top_k
        pool = max(candidate_k, hits) if self.candidate_k is None else self.candidate_k
        if not (1 <= hits <= most and 1 <= pool <= most_candidates and hits <= pool):
            raise InputError(
                f"top_k is {hits} and candidate_k is {pool}",
                f"top_k goes from 1 to {most}, candidate_k from 1 to {most_candidates}, and top_k <= candidate_k",
            )
        return hits, pool


@dataclass(frozen=True, slots=True)
class ItemRequest:
    """What is like an item, or should be linked to it; `item` is a document key or id, empty fields are not given.

    `direction` is `upstream` or `downstream`, seen from the item, `least` the lowest score shown, 0 to 1.
    """

    projects: tuple[str, ...]
    item: str
    item_types: tuple[str, ...] = ()
    direction: str = ""
    least: float | None = None
    top_k: int | None = None
    candidate_k: int | None = None
    pipeline: str = ""
    source: str = ""

    def asked(self) -> SearchRequest:
        """Return the search that has the same filters and depth."""
        return SearchRequest(
            self.projects,
            self.item,
            item_types=self.item_types,
            top_k=self.top_k,
            candidate_k=self.candidate_k,
            pipeline=self.pipeline,
            source=self.source,
        )

    def checked_least(self, default: float) -> float:
        """Return the lowest score shown, if it is one."""
        least = default if self.least is None else self.least
        if not 0 <= least <= 1:
            raise InputError(f"the threshold is {least:g}", "scores go from 0 to 1; 0 shows everything")
        return least

    def checked_direction(self) -> str:
        """Return the direction, if it is one."""
        if self.direction not in ("", *DIRECTIONS):
            near = did_you_mean(self.direction, DIRECTIONS)
            raise InputError(f"no direction {self.direction!r}{near}", f"there are: {one_of(DIRECTIONS)}, or neither")
        return self.direction


def filters_for(request: SearchRequest, project_ids: Sequence[str], catalog: Catalog) -> Filters:
    """Resolve names of types and statuses to what the catalog holds. Raises InputError."""
    types = catalog.item_types(project_ids) if request.item_types else []
    statuses = catalog.statuses(project_ids) if request.statuses else []
    after = _moment("modified_after", request.modified_after)
    before = _moment("modified_before", request.modified_before, end_of_day=True)
    if after and before and after > before:
        raise InputError(
            f"modified_after ({request.modified_after}) is later than modified_before ({request.modified_before})",
            "exchange them, or leave one out",
        )
    names = [(text, item.id) for item in types for text in (item.name, item.id)]
    return Filters(
        tuple(project_ids),
        _resolved("item type", request.item_types, names, [item.name for item in types]),
        _resolved("status", request.statuses, [(status, status) for status in statuses], statuses),
        after,
        before,
    )


def _checked(name: str, text: str) -> str:
    if not text.strip():
        raise InputError(f"{name} is empty", "ask in a sentence, or name words, an identifier or a document key")
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InputError(
            f"{name} has {len(text)} characters; at most {MAX_QUERY_CHARACTERS} are searched with",
            "send the sentences that matter",
        )
    if not any(character.isalnum() for character in text):
        raise InputError(f"{name} has no word in it", "use at least one letter or digit")
    return text


def _resolved(
    kind: str, texts: Iterable[str], known: Iterable[tuple[str, str]], names: Sequence[str]
) -> tuple[str, ...]:
    """Return all ids that go by these texts, in any case: two projects may have types of one name."""
    ids: dict[str, list[str]] = {}
    for name, identifier in known:
        ids.setdefault(name.casefold(), []).append(identifier)
    found: list[str] = []
    for text in texts:
        if text.strip().casefold() not in ids:
            shown = one_of(dict.fromkeys(names))
            raise InputError(f"no {kind} {text!r} here{did_you_mean(text, names)}", f"the projects have: {shown}")
        found += ids[text.strip().casefold()]
    return tuple(dict.fromkeys(found))


def _moment(name: str, text: str, *, end_of_day: bool = False) -> datetime | None:
    text = text.strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if end_of_day and _is_date(text):
            moment = datetime.combine(moment, time.max)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{name} is not a date: {text!r}", "write ISO 8601, such as 2026-03-01 or 2026-03-01T08:30Z"
        ) from error


def _is_date(text: str) -> bool:
    """Tell a bare date, in any of the forms of ISO 8601, from one with a time."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
