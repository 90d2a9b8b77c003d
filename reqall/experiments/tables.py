"""An experiment's results as tables for a terminal."""

from collections.abc import Iterator
from itertools import groupby

from rich.markup import escape
from rich.table import Table

from reqall.core.significance import Comparison
from reqall.experiments.latency import TOTAL, latencies
from reqall.experiments.report import MEAN, SIGNIFICANT, Report


def tables(report: Report) -> Iterator[Table | str]:
    """Yield the scores, what tuning chose, and the latencies."""
    yield _scores(report)
    if len(report.systems) > 1:
        yield (
            f"[dim]Δ: {report.metrics[0]} less that of {escape(report.baseline)}, with its interval of 95 %; p: paired"
            " randomisation test after Holm's correction; w/t/l: queries won, tied, lost[/]"
        )
    if report.tuned:
        yield _choices(report)
    if any(latencies(report, system) for system in report.systems):
        yield _latencies(report)
        yield f"[dim]to a depth of {report.depth} documents; the first search of each collection is left out[/]"


def _scores(report: Report) -> Table:
    compared = len(report.systems) > 1
    headings = ["Δ", "95 %", "p", "w/t/l"] if compared else []
    table = Table("collection", "pipeline", *report.metrics, *headings, box=None, header_style="bold")
    for place in report.places:
        systems = report.systems_at(place)
        best = {metric: max(report.value(place, name, metric) for name in systems) for metric in report.metrics}
        for system in systems:
            values = {metric: report.value(place, system, metric) for metric in report.metrics}
            cells = [f"[bold]{v:.4f}[/]" if compared and v == best[m] else f"{v:.4f}" for m, v in values.items()]
            comparison = report.comparisons[report.metrics[0]][place].get(system)
            cells += _told(comparison) if comparison else []
            table.add_row(escape(place), escape(system), *cells, style="cyan" if place == MEAN else "")
    return table


def _told(comparison: Comparison) -> list[str]:
    p = f"{comparison.adjusted:.4f}"
    return [
        f"{comparison.difference:+.4f}",
        f"{comparison.low:+.3f} {comparison.high:+.3f}",
        f"[bold]{p}[/]" if comparison.adjusted < SIGNIFICANT else p,
        f"{comparison.wins}/{comparison.ties}/{comparison.losses}",
    ]


def _choices(report: Report) -> str:
    lines = [f"{escape(report.tuned)} chose"]
    start = 1
    for name, folds in groupby(report.chosen):
        count = len(list(folds))
        numbers = f"fold {start}" if count == 1 else f"folds {start} to {start + count - 1}"
        lines.append(f"    {numbers}: {escape(name)}")
        start += count
    return "\n".join(lines)


def _latencies(report: Report) -> Table:
    found = {system: latencies(report, system) for system in report.systems}
    stages = dict.fromkeys(stage for each in found.values() for stage in each if stage != TOTAL)
    table = Table("ms p50/p95", TOTAL, *stages, box=None, header_style="bold")
    for system, each in found.items():
        cells = [f"{each[s].p50:.1f}/{each[s].p95:.1f}" if s in each else "" for s in (TOTAL, *stages)]
        if each:
            table.add_row(escape(system), *cells)
    return table
