"""Write what ranx (Bassani 2022, doi:10.1007/978-3-030-99739-7_30) makes of some random rankings.

    pip install ranx==0.3.21
    NUMBA_DISABLE_JIT=1 python scripts/ranx_reference.py

The tests of the fusers compare with tests/plugins/fusers/ranx_reference.json, as ranx is too slow to import in each
run: 13 seconds, and minutes to compile unless the variable tells numba not to.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

FILE = Path(__file__).resolve().parent.parent / "tests" / "plugins" / "fusers" / "ranx_reference.json"
DOCUMENTS = [f"d{number}" for number in range(9)]
QUERY = "q"

Scores: TypeAlias = Mapping[str, float]
Case: TypeAlias = Mapping[str, Any]


def cases(random: Random, count: int) -> Iterator[Case]:
    """Draw rankings and weights; scores of a ranking differ, and every second case has negative ones."""
    for number in range(count):
        lowest = -4000 if number % 2 else 1
        rankings = []
        for _ in range(random.randint(2, 4)):
            found = random.sample(DOCUMENTS, random.randint(2, 7))
            scores = random.sample(range(lowest, 9000), len(found))
            rankings.append({key: score / 1000 for key, score in zip(found, scores, strict=True)})
        yield {"rankings": rankings, "weights": [random.choice([0.25, 0.5, 1.0, 2.0, 3.0]) for _ in rankings]}


def reference(rankings: Sequence[Scores], weights: Sequence[float]) -> dict[str, Scores]:
    """Fuse with ranx in every way that a built-in fuser knows."""
    from ranx import Run, fuse, normalize

    runs = [Run({QUERY: dict(scores)}) for scores in rankings]
    weighted = [
        Run({QUERY: {key: weight * score for key, score in _scores(normalize(run, norm="min-max")).items()}})
        for run, weight in zip(runs, weights, strict=True)
    ]
    found = {
        "rrf": fuse(runs, norm=None, method="rrf"),
        "rrf k=5": fuse(runs, norm=None, method="rrf", params={"k": 5}),
        "isr": fuse(runs, norm=None, method="isr"),
        "borda": fuse(runs, norm=None, method="bordafuse"),
        "borda weighted": fuse(runs, norm=None, method="w_bordafuse", params={"weights": weights}),
        "combsum": fuse(runs, norm="min-max", method="sum"),
        "combsum none": fuse(runs, norm=None, method="sum"),
        "combsum weighted": fuse(runs, norm="min-max", method="wsum", params={"weights": weights}),
        "combmnz": fuse(runs, norm="min-max", method="mnz"),
        "combmnz none": fuse(runs, norm=None, method="mnz"),
        "combmnz weighted": fuse(weighted, norm=None, method="mnz"),
    }
    return {name: _scores(run) for name, run in found.items()}


def z_scores(rankings: Sequence[Scores]) -> list[Scores]:
    """Normalise each ranking with ranx to mean 0 and variance 1."""
    from ranx import Run, normalize

    return [_scores(normalize(Run({QUERY: dict(scores)}), norm="zmuv")) for scores in rankings]


def _scores(run: Any) -> dict[str, float]:
    return {str(key): float(score) for key, score in run.run[QUERY].items()}


def main() -> None:
    """Write the file, a case per line."""
    made = [
        {**case, "z_scores": z_scores(case["rankings"]), "fused": reference(case["rankings"], case["weights"])}
        for case in cases(Random(20), 12)  # noqa: S311 - not for secrets
    ]
    lines = ",\n".join(json.dumps(case, sort_keys=True) for case in made)
    FILE.write_text(f'{{"ranx": "{version("ranx")}", "cases": [\n{lines}\n]}}\n', encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
