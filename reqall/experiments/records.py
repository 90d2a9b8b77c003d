"""An experiment's results as plain values, for JSON."""

from dataclasses import asdict
from typing import Any

from reqall.experiments.latency import latencies
from reqall.experiments.report import Report

DIGITS = 4


def record(report: Report) -> dict[str, Any]:
    """Return {collection, or "mean": {pipeline: {metric: value, ...}}}, values rounded to four digits.

    Beside its metrics a pipeline has `against_baseline` (metric -> difference, interval, p, p after
    Holm, wins, ties, losses) where it is not the baseline itself, and `per_query` (metric -> query id
    -> value) on a collection. `latency_ms` (stage -> p50, p95) is that over all collections. The row of
    a tuning has `chosen`, the pipeline of each fold.
    """
    speed = {
        system: {stage: asdict(each) for stage, each in latencies(report, system).items()} for system in report.systems
    }
    return {
        place: {
            system: _row(report, place, system) | {"latency_ms": speed[system]} for system in report.systems_at(place)
        }
        for place in report.places
    }


def _row(report: Report, place: str, system: str) -> dict[str, Any]:
    row: dict[str, Any] = {metric: round(report.value(place, system, metric), DIGITS) for metric in report.metrics}
    if system != report.baseline:
        row["against_baseline"] = {
            metric: {name: round(value, DIGITS + 2) for name, value in asdict(found[system]).items()}
            for metric in report.metrics
            if system in (found := report.comparisons[metric][place])
        }
    if place in report.outcomes:
        scores = report.outcomes[place][system].scores
        row["per_query"] = {
            metric: {query: round(value, DIGITS) for query, value in scores.per_query[metric].items()}
            for metric in report.metrics
        }
    if report.tuned == system:
        row["chosen"] = list(report.chosen)
    return row
