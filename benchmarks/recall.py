"""All benchmarks: `python benchmarks/recall.py`. About three minutes; see `--help` for smaller ones.

Every figure is a ratio to a reference that ran in the same process, in turn with it.
"""

import argparse
import tempfile
from pathlib import Path

import indexing
import searching
import starting


def main() -> None:
    """Run the chosen parts and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["search", "index", "start"], help="search, index, start")
    parser.add_argument("--chunks", type=int, default=100_000, help="chunks in the index that is searched")
    parser.add_argument("--queries", type=int, default=30, help="queries per figure")
    parser.add_argument("--texts", type=int, default=2000, help="texts to be indexed")
    parser.add_argument("--starts", type=int, default=9, help="starts of each server")
    chosen = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for part in chosen.parts:
            place = Path(folder) / part
            place.mkdir()
            if part == "search":
                ratios += searching.measure(place, chosen.chunks, chosen.queries)
            elif part == "index":
                ratios.append(indexing.measure(place, chosen.texts))
            elif part == "start":
                ratios.append(starting.measure(place, chosen.starts))
            else:
                parser.error(f"no part {part!r}")
    print(*ratios, sep="\n")


if __name__ == "__main__":
    main()
