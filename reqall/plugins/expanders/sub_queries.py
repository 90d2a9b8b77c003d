"""Expansion by the client: a language model writes better rewrites than a rule."""

from collections.abc import Sequence

from pydantic import Field

from reqall import PluginOptions, Query
from reqall.plugins.expanders.distinct import LIMIT, distinct


class SubQueriesOptions(PluginOptions):
    """Options of `sub_queries`."""

    limit: int = Field(default=LIMIT, ge=1, description="Most texts of one search, the user's own included.")


class SubQueries:
    """Searches with the user's text and the client's sub-queries."""

    def __init__(self, options: SubQueriesOptions) -> None:
        """Take the limit from the options."""
        self._limit = options.limit

    def expand(self, query: Query) -> Sequence[str]:
        """Return the user's text, then the sub-queries, without repetition."""
        return distinct([query.text, *query.sub_queries], self._limit)
