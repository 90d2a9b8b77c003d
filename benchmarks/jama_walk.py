"""Measure a first walk through a large Jama project: speed, memory and the limit on requests.

    python benchmarks/jama_walk.py [--items 20000] [--runs 3] [--rate 8]

The simulated Jama runs in a process of its own. Each run reads all items (fetched, cleaned, made
documents) and then lets BeautifulSoup with lxml alone read the same texts; the ratio of the two
times is what counts, as both ran on the same machine a moment apart. The exit code is 1 when a bar
is missed.
"""

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Self

from pydantic import SecretStr

from reqall import Document, Project
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.plugins.sources.jama.source import JamaSource
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

PROJECT = Project("jama:2", "jama", "TNY", "Tiny")
FASTEST, SLOWEST_SHARE, MOST_MEMORY, MOST_TIME = 1000, 0.60, 300.0, 1.10

_WORDS = (
    *("the", "pump", "shall", "stop", "when", "pressure", "exceeds", "limit", "and", "sound", "an", "alarm", "within"),
    *("two", "seconds", "unless", "operator", "has", "confirmed", "maintenance", "mode", "of", "device", "under"),
    *("test", "before", "flow", "rate", "is", "displayed", "in", "units", "per", "hour"),
)


def rich_project(items: int) -> dict[str, Any]:
    """Return a project whose descriptions look like those of Word and CKEditor, 1 to 4 KB each."""
    project = tiny_project(items)
    chance = random.Random(7)  # noqa: S311 - the same texts every time
    for item in project["items"]:
        if "description" in item["fields"]:
            item["fields"]["description"] = _description(chance)
    return project


def _description(chance: random.Random) -> str:
    def words(least: int, most: int) -> str:
        return " ".join(chance.choices(_WORDS, k=chance.randint(least, most)))

    def paragraph() -> str:
        style = "font-size:11.0pt;font-family:&quot;Calibri&quot;,sans-serif;color:#1f497d"
        return f'<p style="margin-left:0cm"><span style="{style}">{words(8, 30)} <b>{words(1, 3)}</b>.</span></p>\n\n'

    parts = [paragraph() for _ in range(chance.randint(1, 4))]
    if chance.random() < 0.4:  # noqa: PLR2004
        rows = "".join(
            f"<tr><td>{words(1, 3)}</td><td><p>{words(2, 6)}</p></td><td>&lt; 5 ml</td></tr>" for _ in "abcd"
        )
        parts.append(
            f'<table border="1"><thead><tr><th>Mode</th><th>Text</th><th>Limit</th></tr></thead>{rows}</table>'
        )
    if chance.random() < 0.4:  # noqa: PLR2004
        parts.append(f"<ul>{''.join(f'<li>{words(3, 9)}</li>' for _ in 'abc')}</ul><p>&nbsp;</p>")
    if chance.random() < 0.2:  # noqa: PLR2004
        parts.append(
            '<p>See <a href="https://example.jamacloud.com/perspective.req?docId=9&amp;projectId=2">TNY-9</a></p>'
        )
    return "".join(parts)


def serve(items: int, switches: dict[str, Any]) -> None:
    """Serve until a line comes in; then print when each request came."""
    with JamaSimulator(project=rich_project(items), **switches) as jama:
        print(jama.url, flush=True)
        sys.stdin.readline()
        print(json.dumps([seen.at for seen in jama.requests]), flush=True)


@contextmanager
def served(items: int, **switches: Any) -> Iterator[subprocess.Popen[str]]:
    """Run `serve` in a process of its own."""
    command = [sys.executable, __file__, "--serve", json.dumps([items, switches])]
    with subprocess.Popen(  # noqa: S603 - this very file
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def source_at(url: str, rate: int) -> JamaSource:
    """Return a source for the simulator."""
    secret = SecretStr(JamaSimulator.client_secret)
    options = JamaOptions(
        url=url, client_id=JamaSimulator.client_id, client_secret=secret, requests_per_second=rate, ca_bundle=""
    )
    return JamaSource(options)


class PeakMemory:
    """Samples this process's resident memory, in MB above where it began."""

    def __init__(self) -> None:
        self._began = self.peak = self._resident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def above_start(self) -> float:
        """The highest sample less the first."""
        return self.peak - self._began

    def _sample(self) -> None:
        while not self._stop.wait(0.05):
            self.peak = max(self.peak, self._resident())

    @staticmethod
    def _resident() -> float:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * 4096 / 1e6


def walk(source: JamaSource) -> tuple[int, float]:
    """Read all documents and let them go; return their number and the seconds."""
    began = time.perf_counter()
    ids: set[str] = set()
    for page in source.documents(PROJECT, None):
        documents: list[Document] = list(page.items)
        ids.update(document.id for document in documents)
    return len(ids), time.perf_counter() - began


def soup_alone(texts: list[str]) -> float:
    """Return the seconds that BeautifulSoup with lxml takes for the texts."""
    from bs4 import BeautifulSoup

    began = time.perf_counter()
    for text in texts:
        BeautifulSoup(text, "lxml").get_text(" ", strip=True)
    return time.perf_counter() - began


def measure_speed(items: int, runs: int) -> bool:
    """Compare the whole walk with the parsing alone, and watch the memory."""
    texts: list[str] = []
    ratios, peaks = [], []
    with served(items) as server:
        assert server.stdout is not None
        source = source_at(server.stdout.readline().strip(), FASTEST)
        source.describe(PROJECT)
        for run in range(runs):
            with PeakMemory() as memory:
                count, took = walk(source)
            # Made after the first walk, so that no memory of theirs is there to be used again.
            texts = texts or [item["fields"].get("description") or "" for item in rich_project(items)["items"]]
            alone = soup_alone(texts)
            ratios.append(alone / took)
            peaks.append(memory.above_start)
            print(f"run {run + 1}: {count} documents in {took:.1f} s, BeautifulSoup alone {alone:.1f} s,", end=" ")
            print(f"ratio {ratios[-1]:.2f}, peak memory +{peaks[-1]:.0f} MB")
    print(f"{items} items, {sum(map(len, texts)) / len(texts):.0f} characters of HTML each on average")
    ratio, peak = median(ratios), max(peaks)
    print(f"median ratio {ratio:.2f} (at least {SLOWEST_SHARE}), peak +{peak:.0f} MB (under {MOST_MEMORY:.0f})")
    return ratio >= SLOWEST_SHARE and peak < MOST_MEMORY


def measure_limit(items: int, rate: int) -> bool:
    """Walk at the limit that the simulator enforces as well; it must never have to refuse."""
    waits: list[str] = []
    with served(items, rate_limit_per_second=rate) as server:
        assert server.stdout is not None
        source = source_at(server.stdout.readline().strip(), rate)
        source.on_wait = waits.append
        count, took = walk(source)
        moments = json.loads(server.communicate("\n")[0])
    busiest = max(sum(start <= each < start + 1.0 for each in moments) for start in moments)
    allowed = (len(moments) - 1) // rate
    print(
        f"limit {rate}/s: {count} documents, {len(moments)} requests in {took:.1f} s, where {allowed} s are the least;"
    )
    print(f"at most {busiest} requests in any second, {len(waits)} refused")
    return busiest <= rate and not waits and took <= allowed * MOST_TIME


def main() -> int:
    """Run both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--limited-items", type=int, default=8_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rate", type=int, default=8)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(*json.loads(arguments.serve))
        return 0
    passed = [measure_speed(arguments.items, arguments.runs), measure_limit(arguments.limited_items, arguments.rate)]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
