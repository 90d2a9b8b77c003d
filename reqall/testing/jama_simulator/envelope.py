"""The envelope around every answer: `meta`, `links`, `linked` and `data`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

from reqall.testing.jama_simulator.clock import jama_time
from reqall.testing.jama_simulator.records import Record
from reqall.testing.jama_simulator.shapes import references, served
from reqall.testing.jama_simulator.world import World


@dataclass(frozen=True)
class Envelope:
    """What one request's answer is wrapped with; `api_url` ends in the version, without a slash."""

    world: World
    api_url: str
    include: tuple[str, ...] = ()
    full_dates: bool = False

    def page(self, records: list[Record], start: int, total: int | None) -> dict[str, Any]:
        """Wrap one page of a list; without a total, `totalResults` is left out."""
        info = {"startIndex": start, "resultCount": len(records)}
        if total is not None:
            info["totalResults"] = total
        shown = [self._served(record) for record in records]
        return {"meta": {**_meta(self.world, 200), "pageInfo": info}, **self._links(shown), "data": shown}

    def single(self, record: Record) -> dict[str, Any]:
        """Wrap one record."""
        shown = self._served(record)
        return {"meta": _meta(self.world, 200), **self._links([shown]), "data": shown}

    def plain(self, data: object) -> dict[str, Any]:
        """Wrap what is no record: a location, a lock, the lists of endpoints and versions."""
        return {"meta": _meta(self.world, 200), "links": {}, "linked": {}, "data": data}

    def _served(self, record: Record) -> Record:
        return served(self.world, record, full_dates=self.full_dates)

    def _links(self, shown: Iterable[Record]) -> dict[str, Any]:
        links: dict[str, Any] = {}
        linked: dict[str, dict[str, Record]] = {}
        for record in shown:
            for key, collection, ids in references(self.world, record):
                links[key] = {"type": collection, "href": f"{self.api_url}/{collection}/{{{key}}}"}
                for identifier in ids if key in self.include else ():
                    # A reference may lead to what the user cannot see: then nothing is linked.
                    if (target := self.world.find(collection, identifier)) is not None:
                        linked.setdefault(collection, {})[str(identifier)] = self._served(target)
        return {"links": links, "linked": linked}


def error_answer(
    world: World, status: int, message: str | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error as Jama does: the reason in `meta.status`, the text in `meta.message`."""
    meta = {**_meta(world, status), "message": message or HTTPStatus(status).phrase}
    return JSONResponse({"meta": meta}, status, headers)


def _meta(world: World, status: int) -> dict[str, Any]:
    return {"status": HTTPStatus(status).phrase, "timestamp": jama_time(world.clock.instant())}
