"""The endpoints of Jama's test center: plans, their groups of test cases, cycles and runs."""

from reqall.testing.jama_simulator.ask import Ask, Endpoint, missing, nested
from reqall.testing.jama_simulator.query import sort_records
from reqall.testing.jama_simulator.records import Record, as_list
from reqall.testing.jama_simulator.world import World


def test_runs(ask: Ask) -> list[Record]:
    """List test runs by cycle, case or plan, by document key unless told otherwise."""
    found = ask.world.every("testruns")
    cycles, cases, plans = (set(ask.params.integers(name)) for name in ("testCycle", "testCase", "testPlan"))
    if cycles:
        found = [run for run in found if _cycle_of(run) in cycles]
    if cases:
        found = [run for run in found if cases & set(as_list(run["fields"].get("testCase")))]
    if plans:
        found = [run for run in found if _plan_of(ask.world, run) in plans]
    orders = ask.params.many("sortBy") or ("documentKey.asc",)
    return sort_records(found, orders, lambda run, name: run.get(name, run["fields"].get(name)))


def _cycle_of(run: Record) -> object:
    """Return the cycle of a test run, which stands first in its test group."""
    group = run.get("testGroup")
    return group[0] if group else run["fields"].get("testCycle")


def _plan_of(world: World, run: Record) -> object:
    """Return the test plan of a test run, by way of its cycle."""
    cycle = _cycle_of(run)
    record = world.find("testcycles", cycle) if isinstance(cycle, int) else None
    return record["fields"].get("testPlan") if record else run["fields"].get("testPlan")


def _groups(ask: Ask, plan: Record) -> list[Record]:
    return [group for group in ask.world.every("testgroups") if group["testPlan"] == plan["id"]]


def _group(ask: Ask) -> Record:
    plan, group = ask.record("testplans"), ask.record("testgroups", 1)
    return group if group["testPlan"] == plan["id"] else missing("testgroups")


def _cases(ask: Ask) -> list[Record]:
    cases = _group(ask).get("testCases", [])
    return [ask.world.items[case] for case in cases if case in ask.world.items]


def _case(ask: Ask) -> Record:
    found = [case for case in _cases(ask) if case["id"] == ask.ids[2]]
    return found[0] if found else missing("items")


def _group_of_cycle(ask: Ask) -> Record:
    cycle, group = ask.record("testcycles"), ask.record("testgroups", 1)
    if group["testPlan"] != cycle["fields"].get("testPlan"):
        missing("testgroups")
    shown = {"testGroup": group["id"], "name": group["name"], "assignedTo": group.get("assignedTo")}
    return {**shown, "testCycle": cycle["id"], "type": "testgroups"}


def _cycles(ask: Ask, plan: Record) -> list[Record]:
    return [cycle for cycle in ask.world.every("testcycles") if cycle["fields"].get("testPlan") == plan["id"]]


def _runs_of_cycle(ask: Ask, cycle: Record) -> list[Record]:
    return [run for run in ask.world.every("testruns") if _cycle_of(run) == cycle["id"]]


TEST_CENTER: tuple[Endpoint, ...] = (
    Endpoint("/testruns", "list", test_runs),
    nested("testplans", "testgroups", _groups),
    Endpoint("/testplans/{id}/testgroups/{testGroupId}", "record", _group),
    Endpoint("/testplans/{id}/testgroups/{testGroupId}/testcases", "list", _cases),
    Endpoint("/testplans/{id}/testgroups/{testGroupId}/testcases/{testCaseId}", "record", _case),
    nested("testplans", "testcycles", _cycles),
    nested("testcycles", "testruns", _runs_of_cycle),
    Endpoint("/testcycles/{id}/testgroup/{testGroupId}", "record", _group_of_cycle),
)
