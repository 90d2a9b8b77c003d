"""Retrieval metrics over ranked lists and graded judgements, in plain Python.

Every metric is a sum over queries divided by a sum over queries. Those that are means over queries
divide by 1 for each; the micro metrics count results and relevant documents of all queries together.

The values of the means are those of trec_eval (https://github.com/usnistgov/trec_eval): a document is relevant
when its judgement is 1 or more, an unjudged document is not relevant, and what was found is
measured against all that is relevant, also beyond the end of the list.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum, log2
from typing import TypeAlias

from reqall.core.errors import InputError

Run: TypeAlias = Mapping[str, Sequence[str]]
"""Query id -> document ids, best first, each once."""

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query id -> document id -> relevance; 0 or less is not relevant."""

Part: TypeAlias = tuple[float, float]
"""What one query adds to the dividend and to the divisor of a metric."""

DEFAULT = ("nDCG@10", "Recall@5", "Recall@10", "Recall@50", "Recall@100", "MAP", "MRR", "P@1", "microF1@4")
"""The metrics that an evaluation reports unless it is told others."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: `part(gains, ideal)` is what one query adds to it; dividend <= divisor.

    `gains` is the relevance of each result, best first, 0 where it is not relevant; `ideal` the
    relevance of all relevant documents, highest first, never empty.
    """

    name: str
    part: Callable[[Sequence[int], Sequence[int]], Part]


@dataclass(frozen=True, slots=True)
class Scores:
    """Values of a run: metric -> query id -> part, the same as values from 0 to 1, and metric -> value of the run.

    `means` holds the mean over queries, of a micro metric its value over all of them.
    """

    parts: Mapping[str, Mapping[str, Part]]
    per_query: Mapping[str, Mapping[str, float]]
    means: Mapping[str, float]

    @classmethod
    def of(cls, parts: Mapping[str, Mapping[str, Part]]) -> "Scores":
        """Derive the values from the parts; nothing divided by nothing is 0."""
        per_query = {name: {query: _ratio(*part) for query, part in queries.items()} for name, queries in parts.items()}
        return cls(parts, per_query, {name: ratio(queries.values()) for name, queries in parts.items()})


def ratio(parts: Iterable[Part]) -> float:
    """Divide the sum of the dividends by that of the divisors; 0 when there is nothing."""
    listed = list(parts)
    return _ratio(fsum(part[0] for part in listed), fsum(part[1] for part in listed))


def evaluate(run: Run, qrels: Qrels, metrics: Sequence[str] = DEFAULT) -> Scores:
    """Score a run on every query that has a relevant document.

    A query that the run lacks counts as 0, so that a system which fails on hard queries is not
    rewarded for it; queries without judgements are ignored. Raises InputError for an unknown
    metric, for judgements without any relevant document and for a list that repeats a document.
    """
    parsed = [parse(name) for name in metrics]
    relevant = {query: found for query, judged in qrels.items() if (found := _relevant(judged))}
    if not relevant:
        raise InputError(
            f"none of the {len(qrels)} judged queries has a relevant document",
            "Judge at least one document of one query with a relevance of 1 or more.",
        )
    parts: dict[str, dict[str, Part]] = {metric.name: {} for metric in parsed}
    for query, judged in relevant.items():
        gains = _gains(query, run.get(query, ()), judged)
        ideal = sorted(judged.values(), reverse=True)
        for metric in parsed:
            parts[metric.name][query] = metric.part(gains, ideal)
    return Scores.of(parts)


def parse(name: str) -> Metric:
    """Return the metric of that name, such as `MAP` or `Recall@100`. Raises InputError."""
    match = re.fullmatch(r"(\w+)@([1-9]\d{0,8})", name, re.ASCII)
    family, cut = (match[1], int(match[2])) if match else ("", 0)
    if family in _WITH_CUT:
        compute = partial(_WITH_CUT[family], cut=cut)
        return Metric(name, lambda gains, ideal: (compute(gains, ideal), 1.0))
    if family in _MICRO:
        return Metric(name, partial(_MICRO[family], cut=cut))
    if name in _WITHOUT_CUT:
        whole = _WITHOUT_CUT[name]
        return Metric(name, lambda gains, ideal: (whole(gains, ideal), 1.0))
    known = ", ".join([*(f"{each}@<k>" for each in (*_WITH_CUT, *_MICRO)), *_WITHOUT_CUT])
    raise InputError(f"unknown metric {name!r}", f"Known are {known}, where <k> is a number of results from 1.")


def ndcg(gains: Sequence[int], ideal: Sequence[int], cut: int) -> float:
    """Normalised discounted cumulative gain, trec_eval's ndcg_cut.

    The gain is the relevance itself, the discount log2(rank + 1), and the ideal list holds all
    relevant documents (Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418).
    """
    return _dcg(gains[:cut]) / _dcg(ideal[:cut])


def recall(gains: Sequence[int], ideal: Sequence[int], cut: int) -> float:
    """Share of the relevant documents that are among the first `cut` results."""
    return _count(gains[:cut]) / len(ideal)


def precision(gains: Sequence[int], ideal: Sequence[int], cut: int) -> float:  # noqa: ARG001 - as all metrics
    """Share of the first `cut` places that hold a relevant document; an empty place holds none."""
    return _count(gains[:cut]) / cut


def average_precision(gains: Sequence[int], ideal: Sequence[int]) -> float:
    """Mean over all relevant documents of the precision at their rank, 0 for those not found."""
    ranks = [rank for rank, gain in enumerate(gains, start=1) if gain]
    return fsum(found / rank for found, rank in enumerate(ranks, start=1)) / len(ideal)


def reciprocal_rank(gains: Sequence[int], ideal: Sequence[int]) -> float:  # noqa: ARG001 - as all metrics
    """1 / rank of the first relevant result, 0 when there is none."""
    return next((1 / rank for rank, gain in enumerate(gains, start=1) if gain), 0.0)


def micro_precision(gains: Sequence[int], ideal: Sequence[int], cut: int) -> Part:  # noqa: ARG001 - as all metrics
    """Relevant among the first `cut` results, of those results: all queries counted together."""
    return _count(gains[:cut]), len(gains[:cut])


def micro_recall(gains: Sequence[int], ideal: Sequence[int], cut: int) -> Part:
    """Relevant among the first `cut` results, of all relevant documents: all queries counted together."""
    return _count(gains[:cut]), len(ideal)


def micro_f1(gains: Sequence[int], ideal: Sequence[int], cut: int) -> Part:
    """Harmonic mean of micro precision and micro recall, which is 2 found / (returned + relevant).

    As traceability papers report it for the first k of each query (Manning, Raghavan and Schütze
    2008, Introduction to Information Retrieval, 8.3 and 13.6).
    """
    return 2 * _count(gains[:cut]), len(gains[:cut]) + len(ideal)


_MICRO: Mapping[str, Callable[..., Part]] = {
    "microP": micro_precision,
    "microR": micro_recall,
    "microF1": micro_f1,
}
_WITH_CUT: Mapping[str, Callable[..., float]] = {"nDCG": ndcg, "Recall": recall, "P": precision}
_WITHOUT_CUT: Mapping[str, Callable[[Sequence[int], Sequence[int]], float]] = {
    "MAP": average_precision,
    "MRR": reciprocal_rank,
}


def _ratio(dividend: float, divisor: float) -> float:
    return dividend / divisor if divisor else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return fsum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain)


def _count(gains: Sequence[int]) -> int:
    return sum(1 for gain in gains if gain)


def _relevant(judged: Mapping[str, int]) -> dict[str, int]:
    return {document: relevance for document, relevance in judged.items() if relevance > 0}


def _gains(query: str, ranked: Sequence[str], judged: Mapping[str, int]) -> list[int]:
    """Relevance of each result; a document twice in the list would be counted twice, so it is refused."""
    if len(set(ranked)) != len(ranked):
        raise InputError(
            f"the run names a document twice for query {query!r}",
            "Keep each document once, at its best rank.",
        )
    return [judged.get(document, 0) for document in ranked]
