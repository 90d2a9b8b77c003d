"""Fused order against reranked order: the same pool, the same cut-off, and the best that any order could reach.

    python benchmarks/reranking.py FOLDER... [--pipeline default] [--rerank lexical --rerank blend] [--depth 100]

Prints a table in Markdown: nDCG@10 of the pipeline as it is (fused) and with each reranker, the
difference with the p of a paired randomisation test (Holm-corrected within a row), the ceiling (the
pool in the best order) with the pool's recall, and the median milliseconds of the stage per query.
A reranker is a name, or a component as in pipelines.yaml: `{use: blend, with: {top: 0.3}}`.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from reqall.app import App
from reqall.core.config import PipelineConfig, StageConfig
from reqall.core.metrics import evaluate
from reqall.experiment import run
from reqall.experiments.plan import Plan
from reqall.experiments.report import MEAN, Report

METRIC = "nDCG@10"
FUSED = "fused"


def main() -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--rerank", action="append", default=[])
    parser.add_argument("--depth", type=int, default=100)
    given = parser.parse_args()
    app = App()
    try:
        fused = app.config.pipelines[given.pipeline].model_copy(update={"rerank": StageConfig(use="none")})
        pipelines = {FUSED: fused} | {
            text: fused.model_copy(update={"rerank": _stage(text)}) for text in given.rerank or ["lexical", "blend"]
        }
        report = run(app, _plan(pipelines, given.folders, given.depth), _watch)
    finally:
        app.close()
    for line in _table(report, list(pipelines)[1:]):
        print(line)


def _stage(text: str) -> StageConfig:
    return StageConfig.model_validate(yaml.safe_load(text) if text.startswith("{") else {"use": text})


def _plan(pipelines: dict[str, PipelineConfig], folders: Sequence[Path], depth: int) -> Plan:
    metrics = (METRIC, f"Recall@{depth}")
    return Plan(pipelines, tuple(folders), baseline=FUSED, metrics=metrics, depth=depth)


def _watch(what: str, done: int, total: int) -> None:
    print(f"\r{what} {done}/{total}\033[K", end="", file=sys.stderr)


def _table(report: Report, rerankers: Sequence[str]) -> Iterator[str]:
    print(file=sys.stderr)
    heads = [f"{name} | Δ | p | ms" for name in rerankers]
    yield f"| collection | queries | fused | {' | '.join(heads)} | ceiling | pool's recall |"
    yield "|" + " --- |" * (5 + 4 * len(rerankers))
    for place in report.places:
        cells = [cell for name in rerankers for cell in _compared(report, place, name)]
        queries = sum(len(each) for each in report.parts(place, FUSED, METRIC))
        fused = f"{report.value(place, FUSED, METRIC):.4f}"
        recall = f"{report.value(place, FUSED, report.metrics[1]):.3f}"
        yield f"| {' | '.join([place, str(queries), fused, *cells, f'{_ceiling(report, place):.4f}', recall])} |"
    for warning in report.warnings:
        yield f"\n{warning}"


def _compared(report: Report, place: str, name: str) -> list[str]:
    found = report.comparisons[METRIC][place][name]
    value, before = (report.value(place, system, METRIC) for system in (name, FUSED))
    return [
        f"{value:.4f}",
        f"{value - before:+.4f}",
        f"{found.adjusted:.4f}",
        f"{_milliseconds(report, place, name):.1f}",
    ]


def _milliseconds(report: Report, place: str, name: str) -> float:
    """Return the median of the stage over the queries of a place, the first of each collection left out."""
    names = report.outcomes if place == MEAN else [place]
    timings = [each for key in names for each in report.outcomes[key][name].searched.timings[1:]]
    return statistics.median(each["rerank"] for each in timings)


def _ceiling(report: Report, place: str) -> float:
    """Score the fused pools in the best order that there is."""
    values = []
    for collection in report.collections:
        if place in (MEAN, collection.name):
            pools = report.outcomes[collection.name][FUSED].searched.run
            best = {query: _best(pool, collection.qrels[query]) for query, pool in pools.items()}
            values.append(evaluate(best, collection.qrels, [METRIC]).means[METRIC])
    return statistics.fmean(values)


def _best(pool: Sequence[str], relevance: Mapping[str, int]) -> list[str]:
    return sorted(pool, key=lambda document: -relevance.get(document, 0))


if __name__ == "__main__":
    main()
