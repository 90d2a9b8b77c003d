"""One request as the endpoints see it, and what an endpoint is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.query import ApiError, Params
from reqall.testing.jama_simulator.records import Record
from reqall.testing.jama_simulator.world import World


@dataclass(frozen=True)
class Ask:
    """One request, as the resources need it; `ids` are the numbers in its path, in their order."""

    world: World
    faults: Faults
    params: Params
    ids: tuple[int, ...] = ()

    def record(self, collection: str, position: int = 0) -> Record:
        """Return the record that a number of the path names; a 404 when there is none."""
        found = self.world.find(collection, self.ids[position])
        return found if found is not None else missing(collection)

    def project(self) -> int:
        """Return the project that the parameters name; a 400 without, a 404 when there is none."""
        project = self.params.project()
        if self.world.find("projects", project) is None:
            missing("projects")
        return project


def missing(collection: str) -> Any:
    """Answer that there is no such record."""
    raise ApiError(404, f"{collection.removesuffix('s').capitalize()} not found")


class File(NamedTuple):
    """An answer that is no JSON."""

    content: bytes
    mime_type: str


Lister = Callable[[Ask], list[Record]]
NestedLister = Callable[[Ask, Record], list[Record]]


class Endpoint(NamedTuple):
    """A path below the version, with names for its numbers, and what answers it.

    `form` says what `answer` returns: a `list` of records (served by the page), one `record`,
    `plain` data, or a `File`.
    """

    path: str
    form: Literal["list", "record", "plain", "file"]
    answer: Callable[[Ask], Any]


def nested(collection: str, part: str, lister: NestedLister) -> Endpoint:
    """Return the endpoint of a list below one record."""
    return Endpoint(f"/{collection}/{{id}}/{part}", "list", lambda ask: lister(ask, ask.record(collection)))


def single(collection: str) -> Endpoint:
    """Return the endpoint of one record by its id."""
    return Endpoint(f"/{collection}/{{id}}", "record", lambda ask: ask.record(collection))
