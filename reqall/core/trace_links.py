"""Trace links in the catalog: those of an item, and what a project's links say about its types."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reqall.core.database import Database
from reqall.core.types import Link

_LINK = "from_id, to_id, type, suspect FROM link"


def links_of(database: Database, document_id: str) -> list[Link]:
    """List the links of one document, whichever project they were read with; each once."""
    # Naming the projects lets SQLite look from_id up instead of reading all links.
    rows = database.query(
        f"SELECT {_LINK} WHERE project_id IN (SELECT id FROM project) AND from_id = ?1"
        f" UNION SELECT {_LINK} WHERE to_id = ?1",
        (document_id,),
    )
    return [Link(row[0], row[1], row[2], bool(row[3])) for row in rows]


def links_among(database: Database, document_ids: Iterable[str]) -> list[Link]:
    """List the links between two of these documents, whichever project they were read with; each once."""
    rows = database.query(
        "WITH ids(id) AS (SELECT value FROM json_each(?))"
        f" SELECT DISTINCT {_LINK} WHERE from_id IN ids AND to_id IN ids",
        (json.dumps(list(document_ids)),),
    )
    return [Link(row[0], row[1], row[2], bool(row[3])) for row in rows]


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How many links lead from one type to another: (type upstream, type downstream, type of link) -> count."""

    counts: Mapping[tuple[str, str, str], int]

    @classmethod
    def of(cls, database: Database, project_ids: Sequence[str]) -> "LinkRules":
        """Count the links that lead from an item of these projects to another in the catalog."""
        rows = database.query(
            "SELECT above.type_id, below.type_id, link.type, count(*) FROM link"
            " JOIN document AS above ON above.id = link.from_id JOIN document AS below ON below.id = link.to_id"
            " WHERE link.project_id IN (SELECT value FROM json_each(?)) AND above.id <> below.id GROUP BY 1, 2, 3",
            (json.dumps(list(project_ids)),),
        )
        return cls({row[:3]: int(row[3]) for row in rows})

    def partners(self, type_id: str, direction: str = "") -> list[str]:
        """List the types that items of a type are linked with; `direction` seen from it, empty for both."""
        found: list[str] = []
        for above, below, _ in sorted(self.counts, key=lambda rule: (-self.counts[rule], rule)):
            found += [below] if above == type_id and direction != "upstream" else []
            found += [above] if below == type_id and direction != "downstream" else []
        return list(dict.fromkeys(found))

    def expected(self, type_id: str, partner: str) -> tuple[str, str]:
        """Return (direction seen from the first type, type of link) of most links between two types; empty for none."""
        seen: Counter[tuple[str, str]] = Counter()
        for (above, below, kind), count in self.counts.items():
            if (above, below) == (type_id, partner):
                seen["downstream", kind] += count
            elif (above, below) == (partner, type_id):
                seen["upstream", kind] += count
        return max(seen, key=lambda way: (seen[way], way), default=("", ""))
