"""The question as FTS5 takes it (https://sqlite.org/fts5.html#full_text_query_syntax)."""

from collections.abc import Iterable, Sequence

from reqall import Filters
from reqall.plugins.recallers.bm25 import stubs_of
from reqall.plugins.recallers.facets import microseconds
from reqall.plugins.recallers.fts5_tables import facet_token


def expression(terms: Sequence[str], columns: str, filters: Filters, *, stubs: bool) -> str:
    """Ask for any of the terms, or words of the same beginnings, in chunks that meet the filters by facets."""
    words = [f'"{term}"' for term in dict.fromkeys(terms)]
    beginnings = [f'"{stub}" *' for stub in dict.fromkeys(stubs_of(terms))] if stubs else []
    return f"{_facet_conditions(filters)}{{{columns}}} : ({' OR '.join(words + beginnings)})"


def time_conditions(filters: Filters) -> tuple[str, list[int]]:
    """Return conditions on the time of change, and their bindings."""
    bounds = ((">=", filters.modified_after), ("<=", filters.modified_before))
    used = [(operator, microseconds(moment)) for operator, moment in bounds if moment is not None]
    return "".join(f" and entry.modified {operator} ?" for operator, _ in used), [moment for _, moment in used]


def most_telling(terms: Sequence[str], limit: int) -> list[str]:
    """Keep so many different terms at most, the longest: FTS5 walks the occurrences of each."""
    different = dict.fromkeys(terms)
    if len(different) <= limit:
        return list(terms)
    kept = set(sorted(different, key=lambda term: -len(term))[:limit])
    return [term for term in terms if term in kept]


def _facet_conditions(filters: Filters) -> str:
    wanted = (("p", filters.project_ids), ("t", filters.type_ids), ("s", filters.statuses))
    alternatives: Iterable[str] = (
        " OR ".join(f'"{facet_token(kind, value)}"' for value in values) for kind, values in wanted
    )
    return "".join(f"facet : ({tokens}) AND " for tokens in alternatives if tokens)
