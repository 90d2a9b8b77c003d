"""Test runs: of one cycle, or of a project by way of its plans and their cycles."""

from collections.abc import Iterator
from typing import NamedTuple

from reqall import InputError
from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.items import iso, moment
from reqall.plugins.sources.jama.source import JamaSource
from reqall.plugins.sources.jama.tools.cursor import Cursor, read_cursor
from reqall.plugins.sources.jama.tools.excerpts import line
from reqall.plugins.sources.jama.tools.kinds import kind_of
from reqall.plugins.sources.jama.tools.lookup import find_item, find_project
from reqall.plugins.sources.jama.tools.paging import UNKNOWN, Sheet, Taken, Walk, served, take
from reqall.plugins.sources.jama.tools.results_lists import TestRunList, TestRunRow
from reqall.plugins.sources.jama.tools.rows import facts, field_of, item_row, number, person

MOST_REQUESTS = 40
"""Requests after which one call stops looking into further cycles; the cursor goes on from there."""


class _Run(NamedTuple):
    """A test run with the names of its plan and cycle, and the cursor at which it stands."""

    row: Row | None
    plan: str
    cycle: str
    here: Cursor


def list_test_runs(source: JamaSource, project: str = "", cycle: str = "", cursor: str = "") -> TestRunList:
    """List the test runs of a cycle or of a project. Raises InputError, NotFoundError, SourceError."""
    if cycle.strip():
        return _of_cycle(source, project, find_item(source, cycle), cursor)
    if not project.strip():
        raise InputError(
            "neither a project nor a test cycle was given",
            f"Pass project_id or test_cycle_id; list_{source.name}_projects lists the projects.",
        )
    identifier = int(find_project(source, project)["id"])
    scope, begun = ("test runs", identifier), read_cursor(cursor, "test runs", identifier)
    sheet: Sheet[TestRunRow] = Sheet()
    following, note = None, ""
    for run in _of_project(source, identifier, begun):
        if run.row is None:
            note = f"Not all cycles were looked at: test plan {run.plan!r} is next; pass the cursor to go on."
        if run.row is None or not sheet.add(_shown(source, run.row, run.plan, run.cycle)):
            following = run.here._replace(before=begun.before + len(sheet.rows))
            break
    total = UNKNOWN if following else begun.before + len(sheet.rows)
    taken = Taken(sheet.rows, total, len(sheet.rows), following)
    return TestRunList(**facts(taken, scope, note), test_runs=sheet.rows)


def _of_cycle(source: JamaSource, project: str, cycle: Row, cursor: str) -> TestRunList:
    schema = source.reader.type_of(cycle)
    if kind_of(cycle, schema) != "testcycles":
        raise InputError(
            f"item {cycle['id']} is no test cycle: its type is {line(schema.name)}",
            f"Pass the project instead: list_{source.name}_test_runs finds its cycles.",
        )
    if project.strip() and find_project(source, project)["id"] != cycle.get("project"):
        raise InputError(
            f"test cycle {cycle['id']} is in project {cycle.get('project')}", "Leave the project out, or pass that one."
        )
    plan = field_of(cycle, "testPlan")
    found = source.client.one(f"/testplans/{plan}", optional=True) if isinstance(plan, int) else None
    names = line(source.reader.name(found or {})), line(source.reader.name(cycle))
    scope, begun = ("cycle", cycle["id"]), read_cursor(cursor, "cycle", cycle["id"])
    walk = Walk(served(source.client, f"/testcycles/{cycle['id']}/testruns"), begun)
    taken = take(walk, begun, lambda row: _shown(source, row, *names))
    return TestRunList(**facts(taken, scope), test_runs=taken.shown)


def _of_project(source: JamaSource, project: int, begun: Cursor) -> Iterator[_Run]:
    """Yield the runs from a cursor on; one without a row when too many requests were sent."""
    client, name = source.client, source.reader.name
    plan_id, cycle_id = (*begun.place, None, None)[:2]
    inside = begun
    plans = _from(client.every("/testplans", {"project": project}), plan_id)
    sent = client.sent
    for plan in plans:
        here = Cursor(place=(plan["id"],))
        if client.sent - sent >= MOST_REQUESTS:
            yield _Run(None, line(name(plan)), "", here)
            return
        for cycle in _from(client.every(f"/testplans/{plan['id']}/testcycles"), cycle_id):
            here = Cursor(place=(plan["id"], cycle["id"]))
            if client.sent - sent >= MOST_REQUESTS:
                yield _Run(None, line(name(plan)), "", here)
                return
            walk = Walk(served(client, f"/testcycles/{cycle['id']}/testruns"), inside)
            for row in walk:
                yield _Run(row, line(name(plan)), line(name(cycle)), walk.here(here, 0))
            inside = Cursor()
        cycle_id, inside = None, Cursor()


def _from(rows: list[Row], identifier: int | None) -> list[Row]:
    """Return the rows from this one on. Raises InputError when it has gone."""
    if identifier is None:
        return rows
    start = next((index for index, row in enumerate(rows) if row["id"] == identifier), None)
    if start is None:
        raise InputError("the test plans have changed since this cursor was given", "Call again without the cursor.")
    return rows[start:]


def _shown(source: JamaSource, row: Row, plan: str, cycle: str) -> TestRunRow:
    case = field_of(row, "testCase")
    case = next(iter(case), None) if isinstance(case, list) else case
    executed = field_of(row, "executionDate")
    current = number(row.get("testCaseCurrentVersionNumber"))
    return TestRunRow(
        **item_row(source, row).model_dump(),
        test_case_id="" if case is None else str(case),
        outdated=current > number(row.get("testCaseVersionNumber"), current),
        executed=iso(moment(executed)) if "T" in str(executed) else line(executed),
        tester=person(source, field_of(row, "assignedTo")),
        cycle=cycle,
        plan=plan,
    )
