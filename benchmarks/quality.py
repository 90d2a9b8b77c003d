"""Quality of the packaged pipelines on judged collections: prints the tables and writes them into the documentation.

    python benchmarks/quality.py FOLDER [--sets cm1-nasa gannt ...] [--page docs/explanation/retrieval.md]

FOLDER holds collections in the form of BEIR; those that are not there are left out and named.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

NINE = (
    *("cm1-nasa", "gannt", "modis", "cchit", "strictdoc-l1-l2", "zephyr-sys-soft"),
    *("rtems-test-req", "promise-nfr-fr", "easyclinic-uc-cc"),
)
OTHERS = (
    *("ebt-req-tc", "icebreaker", "easyclinic-uc-id", "easyclinic-uc-tc", "easyclinic-uc-tc-it", "asvs-v4-v5"),
    *("asvs-xling-de-en", "hipaa", "arcit-need-req", "generic-cranfield", "generic-scifact"),
)
PIPELINES = {
    "default": "default",
    "lexical": "BM25",
    "terms": "TF-IDF",
    "vector": "vectors",
    "rrf": "BM25 + vectors, rrf",
}
PAGE = Path(__file__).parents[1] / "docs/explanation/retrieval.md"
BEGIN, END = "<!-- quality: begin -->", "<!-- quality: end -->"
PUBLISHED = {
    "cm1-nasa": (0.436, 0.519),
    "gannt": (0.544, 0.574),
    "modis": (0.188, 0.255),
    "cchit": (0.175, 0.200),
}
"""Micro F1 of text-embedding-3-large at top 4 and of LiSSA with GPT-4o (Hey et al., REFSQ 2025)."""

Results = dict[str, dict[str, dict[str, Any]]]


def main() -> int:
    """Measure what is there; 1 where nothing is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*", default=[*NINE, *OTHERS])
    parser.add_argument("--page", type=Path, default=PAGE)
    asked = parser.parse_args()
    there = [name for name in asked.sets if (asked.folder / name / "qrels.tsv").is_file()]
    if absent := [name for name in asked.sets if name not in there]:
        print(f"not in {asked.folder}: {', '.join(absent)}", file=sys.stderr)
    if not there:
        return 1
    results = measured([asked.folder / name for name in there])
    text = "\n\n".join([quality(results, there), traceability(results), speed(results)])
    print(text)
    write(asked.page, text)
    return 0


def measured(folders: list[Path]) -> Results:
    """Evaluate all pipelines; what an earlier run found is not searched again."""
    pipelines = ["--pipeline", ",".join(PIPELINES), "--baseline", "default"]
    metrics = [part for name in ("nDCG@10", "Recall@50", "microF1@4") for part in ("-m", name)]
    command = [sys.executable, "-m", "reqall", "eval", *pipelines, *metrics, "--json"]
    done = subprocess.run(  # noqa: S603 - this interpreter, and folders that were named
        [*command, *map(str, folders)], stdout=subprocess.PIPE, check=True, text=True
    )
    found: Results = json.loads(done.stdout)
    return found


def quality(results: Results, sets: list[str]) -> str:
    """Write nDCG@10 of every collection, and the mean over the nine with its test against the default."""
    rows = [[name, *(_value(results[name][each]["nDCG@10"]) for each in PIPELINES)] for name in sets]
    nine = [name for name in NINE if name in sets]
    means = (
        {each: sum(results[name][each]["nDCG@10"] for name in nine) / len(nine) for each in PIPELINES} if nine else {}
    )
    if means:
        rows.insert(len(nine), [f"**mean of these {len(nine)}**", *(f"**{_value(mean)}**" for mean in means.values())])
    return "nDCG@10:\n\n" + _table(["collection", *PIPELINES.values()], rows)


def traceability(results: Results) -> str:
    """Write micro F1 at top 4 beside published figures."""
    rows = [
        [name, *(_value(results[name][each]["microF1@4"]) for each in PIPELINES), *map(_value, figures)]
        for name, figures in PUBLISHED.items()
        if name in results
    ]
    heads = ["collection", *PIPELINES.values(), "text-embedding-3-large", "LiSSA, GPT-4o"]
    return "Micro F1 of the first four, beside published figures (Hey et al., REFSQ 2025):\n\n" + _table(heads, rows)


def speed(results: Results) -> str:
    """Write the medians of the whole search, in milliseconds."""
    anywhere = next(iter(results.values()))
    rows = [[label, f"{anywhere[each]['latency_ms']['total']['p50']:.0f}"] for each, label in PIPELINES.items()]
    return "Median time of a search to a depth of 200, embedding included:\n\n" + _table(["pipeline", "ms"], rows)


def write(page: Path, text: str) -> None:
    """Put the tables between their marks."""
    old = page.read_text(encoding="utf-8")
    new, count = re.subn(f"{BEGIN}.*{END}", f"{BEGIN}\n\n{text}\n\n{END}", old, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{page}: the marks {BEGIN} and {END} must stand there once")
    page.write_text(new, encoding="utf-8")


def _value(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    sys.exit(main())
