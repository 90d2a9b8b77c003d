"""Retrieval metrics over ranked lists and graded judgements, in plain Python.

The values are those of trec_eval (https://github.com/usnistgov/trec_eval): a document is relevant
when its judgement is 1 or more, an unjudged document is not relevant, and what was found is
measured against all that is relevant, also beyond the end of the list.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum, log2
from typing import TypeAlias

from reqall.core.errors import InputError

Run: TypeAlias = Mapping[str, Sequence[str]]
"""Query id -> document ids, best first, each once."""

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query id -> document id -> relevance; 0 or less is not relevant."""

DEFAULT = ("nDCG@10", "Recall@5", "Recall@10", "Recall@50", "MAP", "MRR", "P@1")
"""The metrics that an evaluation reports unless it is told others."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of one query: `compute(gains, ideal)` is a number from 0 to 1.

    `gains` is the relevance of each result, best first, 0 where it is not relevant; `ideal` the
    relevance of all relevant documents, highest first, never empty.
    """

    name: str
    compute: Callable[[Sequence[int], Sequence[int]], float]


@dataclass(frozen=True, slots=True)
class Scores:
    """Values of a run: metric -> query id -> value, and metric -> mean over those queries."""

    per_query: Mapping[str, Mapping[str, float]]
    means: Mapping[str, float]


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
    per_query: dict[str, dict[str, float]] = {metric.name: {} for metric in parsed}
    for query, judged in relevant.items():
        gains = _gains(query, run.get(query, ()), judged)
        ideal = sorted(judged.values(), reverse=True)
        for metric in parsed:
            per_query[metric.name][query] = metric.compute(gains, ideal)
    means = {name: fsum(values.values()) / len(values) for name, values in per_query.items()}
    return Scores(per_query, means)


def parse(name: str) -> Metric:
    """Return the metric of that name, such as `MAP` or `Recall@100`. Raises InputError."""
    match = re.fullmatch(r"(\w+)@([1-9]\d{0,8})", name, re.ASCII)
    if match and match[1] in _WITH_CUT:
        return Metric(name, partial(_WITH_CUT[match[1]], cut=int(match[2])))
    if name in _WITHOUT_CUT:
        return Metric(name, _WITHOUT_CUT[name])
    known = ", ".join([*(f"{family}@<k>" for family in _WITH_CUT), *_WITHOUT_CUT])
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


_WITH_CUT: Mapping[str, Callable[..., float]] = {"nDCG": ndcg, "Recall": recall, "P": precision}
_WITHOUT_CUT: Mapping[str, Callable[[Sequence[int], Sequence[int]], float]] = {
    "MAP": average_precision,
    "MRR": reciprocal_rank,
}


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
