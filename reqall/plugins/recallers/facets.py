"""Facets as the recallers compare them."""

from datetime import UTC, datetime, timedelta

from reqall import Facets, Filters

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """Count microseconds since 1970 (UTC), the finest that a `datetime` knows: bounds stay exact."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def matches(facets: Facets, filters: Filters) -> bool:
    """Tell whether facets meet all conditions; an unknown status or date meets none that names one."""
    return (
        (not filters.project_ids or facets.project_id in filters.project_ids)
        and (not filters.type_ids or facets.type_id in filters.type_ids)
        and (not filters.statuses or facets.status in filters.statuses)
        and _within(facets.modified, filters.modified_after, filters.modified_before)
    )


def _within(moment: datetime | None, after: datetime | None, before: datetime | None) -> bool:
    if moment is None:
        return after is None and before is None
    return (after is None or moment >= after) and (before is None or moment <= before)
