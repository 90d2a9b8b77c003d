"""Reads any endpoint of the allow-list: for what no other tool covers, under a strict guard.

A path is matched as a whole against the templates of Jama's specification. What passes is made of
the template's own words and of ASCII digits, so nothing in it can lead to another host or out of
the API; redirects are not followed by the transport.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from reqall import InputError, SourceError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.tools.endpoint_table import ALLOWED, Endpoint, endpoint_of
from reqall.plugins.sources.jama.tools.excerpts import excerpt
from reqall.plugins.sources.jama.tools.flatten import flattened
from reqall.plugins.sources.jama.tools.lookup import did_you_mean, find_item_type, find_project
from reqall.plugins.sources.jama.tools.paging import UNKNOWN, rows_of, total_of
from reqall.plugins.sources.jama.tools.results_lists import EndpointResult

MOST_PAGES = 10
MOST_CHARACTERS = 40_000
"""Of all rows of one answer."""

_PAGE = 20
_LARGEST = 50
_LITERAL = ("contains", "username", "email", "firstName", "lastName")
_SUSPICIOUS = (
    (re.compile(r"[^\x21-\x7e]"), "a space or a character that is no ASCII"),
    (re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:"), "a scheme"),
    (re.compile(r"//"), "a doubled slash"),
    (re.compile(r"\.\."), "two dots"),
    (re.compile(r"\\"), "a backslash"),
    (re.compile(r"%"), "an encoded character"),
    (re.compile(r"[?#]"), "a query or a fragment"),
    (re.compile(r"@"), "a user"),
)


def read_endpoint(
    source: JamaSource, path: str, params: Mapping[str, str] | None = None, *, all_pages: bool = False
) -> EndpointResult:
    """Read an endpoint of the allow-list. Raises InputError, NotFoundError, SourceError."""
    endpoint = allowed(path)
    query = _query(source, endpoint, params or {})
    if not endpoint.is_list:
        data = source.client.get(path, query).get("data")
        flat, cut = _flat_rows([data if isinstance(data, dict) else {"value": data}])
        return _answer(flat, 1, "", cut=cut)
    return _pages(source, path, endpoint, query, most=MOST_PAGES if all_pages else 1)


def allowed(path: str) -> Endpoint:
    """Return the endpoint that a path belongs to. Raises InputError for any other path."""
    for pattern, what in _SUSPICIOUS:
        if pattern.search(path):
            raise InputError(
                f"the path has {what} in it",
                "Pass a path below /rest/v1 such as /items/9608/children, and the rest as params.",
            )
    endpoint = endpoint_of(path)
    if endpoint is None:
        shape = re.sub(r"[0-9]+", "{id}", path)
        known = sorted(re.sub(r"\{\w+\}", "{id}", template) for template in ALLOWED)
        first = sorted({template.split("/")[1] for template in ALLOWED})
        hint = did_you_mean(shape, known) or f"A path begins with one of: {', '.join(first)}. "
        raise InputError(f"{excerpt(path, 100)!r} is no endpoint that may be read", f"{hint}Ids are numbers.")
    return endpoint


def _query(source: JamaSource, endpoint: Endpoint, params: Mapping[str, str]) -> dict[str, Any]:
    """Check parameters by name, and find projects and item types by what they are called."""
    query: dict[str, Any] = {}
    for name, value in params.items():
        if name not in endpoint.params:
            known = ", ".join(endpoint.params) or "none"
            hint = did_you_mean(name, endpoint.params)
            raise InputError(f"{endpoint.template} has no parameter {excerpt(name, 50)!r}", f"{hint}It takes: {known}.")
        values = [value] if name in _LITERAL else [part.strip() for part in value.split(",") if part.strip()]
        if name == "project":
            values = [str(find_project(source, each)["id"]) for each in values]
        elif name == "itemType":
            values = [str(find_item_type(source, each).id) for each in values]
        query[name] = values
    for name in ("startAt", "maxResults", "lastId"):
        if name in query:
            query[name] = _whole(name, query[name])
    if "lastId" in endpoint.params:
        query.setdefault("lastId", 0)
    return query


def _whole(name: str, values: list[str]) -> int:
    text = values[0] if len(values) == 1 else ""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - the digits of a 64-bit number
        raise InputError(f"{name} is no whole number", f"Pass {name} as a number from 0 on.")
    return int(text)


def _pages(source: JamaSource, path: str, endpoint: Endpoint, query: dict[str, Any], *, most: int) -> EndpointResult:
    """Read pages until the end, the cap or the budget; `next` names the first row that is missing."""
    by_id = "lastId" in endpoint.params and "startAt" not in query
    start, last = query.pop("startAt", 0), query.get("lastId", 0)
    # What Jama counts behind a `lastId` is not known: all, or the rest.
    counted = last == 0
    size = min(query.pop("maxResults", _LARGEST if most > 1 else _PAGE), _LARGEST) or 1
    flat: list[dict[str, str]] = []
    total, cut, finished, room = UNKNOWN, False, False, MOST_CHARACTERS
    for _ in range(most):
        place = {"lastId": last} if by_id else {"startAt": start}
        envelope = source.client.get(path, {**query, **place, "maxResults": size})
        rows = rows_of(envelope)
        if by_id and last and rows and rows[0]["id"] <= last:
            raise SourceError("this Jama does not know lastId", "Pass startAt instead of lastId.")
        total = total_of(envelope) if counted and (total == UNKNOWN or not by_id) else total
        made, was_cut = _flat_rows(rows, room, first=not flat)
        flat, cut, room = flat + made, cut or was_cut, room - _size(made)
        start += len(made)
        last = rows[len(made) - 1]["id"] if by_id and made else last
        finished = len(made) == len(rows) and (not rows or 0 <= total <= start)
        if finished or len(made) < len(rows):
            break
    following = "" if finished else f"lastId={last}" if by_id else f"startAt={start}"
    return _answer(flat, total, following, cut=cut)


def _flat_rows(
    rows: list[Row], room: int = MOST_CHARACTERS, *, first: bool = True
) -> tuple[list[dict[str, str]], bool]:
    """Return as many rows as fit, at least one for `first`, and whether a text in them is cut."""
    flat: list[dict[str, str]] = []
    cut = False
    for row in rows:
        made, was_cut = flattened(row)
        room -= _size([made])
        if room < 0 and (flat or not first):
            break
        flat.append(made)
        cut = cut or was_cut
    return flat, cut


def _answer(rows: list[dict[str, str]], total: int, following: str, *, cut: bool) -> EndpointResult:
    notes = [f"There may be more: add {following} to params."] if following else []
    notes += ["Long texts are cut."] if cut else []
    return EndpointResult(
        rows=rows,
        total=total,
        returned=len(rows),
        next=following,
        truncated=bool(following) or cut,
        note=" ".join(notes),
    )


def _size(rows: list[dict[str, str]]) -> int:
    return len(json.dumps(rows, ensure_ascii=False))
