"""Measure a first sync from end to end: when words are searchable, when all is, and what embedding costs of it.

    python benchmarks/first_sync.py [--items 3000] [--runs 3] [--quick]

The simulated Jama runs in a process of its own; the packaged pipeline reads it with the packaged
embedder. Each run has its references beside it: the same source walked to the end without a catalog,
and the same texts embedded in one go. Once with the default limit on requests, where the network is
what is slow, and once without, where the processor is. At full size this takes half an hour, nearly
all of it in the embedder. The exit code is 1 when a bar is missed.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from jama_walk import FASTEST, PROJECT, PeakMemory
from ratios import Ratio, timed

from reqall import Filters, Vectors
from reqall.app import PACKAGED, App, Overrides
from reqall.core.environment import Environment
from reqall.core.job import Job
from reqall.core.request import SearchRequest
from reqall.plugins.sources.jama.options import JamaOptions
from reqall.status import pace_in_words
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

MOST_TO_WORDS, MOST_TO_ALL = 1.5, 1.1
POLL_SECONDS = 0.1
SEARCHES = 20
COMMON, OWN = "calibrated", "zq{}x"
"""A word of every requirement (as many as it finds can be found), and one that a requirement alone has."""

WORDS = (
    "the pump shall stop when pressure exceeds limit and sound an alarm within two seconds unless operator has"
    " confirmed maintenance mode of device under test before flow rate is displayed in units per hour"
)


def short_project(items: int) -> dict[str, Any]:
    """Return a project whose descriptions have 25 to 60 words in two paragraphs, each with a word of its own."""
    project = tiny_project(items)
    chance, words = random.Random(7), WORDS.split()  # noqa: S311 - the same texts every time
    for item in project["items"]:
        if item["id"] > 1000:  # noqa: PLR2004 - the requirements
            text, more = (" ".join(chance.choices(words, k=chance.randint(*range_))) for range_ in ((15, 35), (7, 22)))
            item["fields"]["description"] = f"<p>{text}. It is {COMMON}.</p>\n<p>{more} {OWN.format(item['id'])}.</p>"
    return project


@contextmanager
def served(items: int) -> Iterator[str]:
    """Serve the project in a process of its own; yields the address."""
    command = [sys.executable, __file__, "--serve", "--items", str(items)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:  # noqa: S603 - this very file
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def opened(url: str, folder: Path, rate: int) -> App:
    """Return an App on the packaged configuration, but for the limit on requests, and on a new catalog."""
    folder.mkdir()
    before = "      url: ${JAMA_URL}\n"
    packaged = PACKAGED.read_text(encoding="utf-8")
    assert before in packaged
    limited = packaged.replace(before, f"{before}      requests_per_second: {rate}\n")
    (folder / "pipelines.yaml").write_text(limited, encoding="utf-8")
    settings = {
        "JAMA_URL": url,
        "JAMA_CLIENT_ID": JamaSimulator.client_id,
        "JAMA_CLIENT_SECRET": JamaSimulator.client_secret,
        "JAMA_MCP_DB_PATH": str(folder / "catalog.db"),
    }
    return App(Overrides(config=str(folder / "pipelines.yaml")), Environment(settings, folder / ".env"))


class Embedding:
    """Listens at an app's embedder: what it is given, and the seconds that it takes."""

    def __init__(self, app: App) -> None:
        """Load the model, so that no run pays for it, and listen."""
        self.texts: list[str] = []
        self.seconds = 0.0
        embedder = app.assembly.embedder("minilm")
        embedder.embed_documents(["load the model"])
        self._embed = embedder.embed_documents
        embedder.embed_documents = self._timed  # type: ignore[method-assign]

    def in_one_go(self) -> float:
        """Return the seconds that the same texts take, each once, in one call."""
        distinct = list(dict.fromkeys(self.texts))
        return timed(lambda: self._embed(distinct))

    def _timed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        start = time.perf_counter()
        vectors = self._embed(texts)
        self.seconds += time.perf_counter() - start
        return vectors


class Watcher:
    """Looks from a thread of its own, as another user would: when are all requirements found, what does the job say?"""

    def __init__(self, app: App, items: int) -> None:
        """Look at nothing yet."""
        self.found_all = 0.0
        self.said: list[Job] = []
        self._app, self._items = app, items
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        catalog, words = self._app.assembly.catalog, self._app.assembly.index("words").recaller
        while not self._stop.wait(POLL_SECONDS):
            if not self.found_all:
                # Counting is cheap and tells when it is worth while to ask the index.
                if catalog.count(PROJECT.id) < self._items:
                    continue
                (ranking,) = words.recall([COMMON], 2 * self._items, Filters((PROJECT.id,)))
                if len({scored.document_id for scored in ranking}) < self._items:
                    continue
                self.found_all = time.perf_counter() - self._began
            job = self._app.jobs.latest(PROJECT.id)
            if job is not None and job.phase == "embedding" and not job.ended:
                self.said.append(job)


@dataclass
class Run:
    """One run: seconds, texts embedded, how many of them distinct, memory in MB, and the job as it embedded."""

    fetching: float
    words: float
    whole: float
    embedding: float
    bare: float
    texts: int
    distinct: int
    memory: float
    said: list[Job] = field(repr=False)


def measure(url: str, folder: Path, items: int, rate: int) -> Run:
    """Walk without a catalog, then sync into a new one, then embed the same texts in one go."""
    fetching = _walk(opened(url, folder.with_name(f"{folder.name}-walk"), rate))
    app = opened(url, folder, rate)
    embedding = Embedding(app)
    with PeakMemory() as memory, Watcher(app, items) as watcher:
        whole = timed(lambda: app.sync("TNY"))
    assert [job.status for job in app.jobs.history()] == ["DONE"]
    assert watcher.found_all, "not every requirement was found before the sync ended"
    _search(app, items)
    seconds = fetching, watcher.found_all, whole, embedding.seconds, embedding.in_one_go()
    app.close()
    return Run(*seconds, len(embedding.texts), len(set(embedding.texts)), memory.above_start, watcher.said)


def _walk(app: App) -> float:
    start, source = time.perf_counter(), app.assembly.source("jama")
    source.projects()
    assert sum(len(page.items) for page in source.documents(PROJECT, None))
    assert sum(len(page.items) for page in source.links(PROJECT))
    app.close()
    return time.perf_counter() - start


def _search(app: App, items: int) -> None:
    for item in random.Random(3).sample(range(1001, 1001 + items), min(SEARCHES, items)):  # noqa: S311
        _, result = app.search(SearchRequest(("TNY",), OWN.format(item), pipeline="lexical"))
        assert [hit.document.id for hit in result.hits] == [f"jama:{item}"], item


def told(run: Run) -> str:
    """Describe one run."""
    lines = [
        f"fetching {run.fetching:.1f} s, all found by words after {run.words:.1f} s, whole sync {run.whole:.1f} s",
        f"in the embedder {run.embedding:.1f} s, one bare call {run.bare:.1f} s",
        f"{run.texts} texts embedded, {run.distinct} of them distinct; peak memory +{run.memory:.0f} MB",
    ]
    said = run.said[len(run.said) // 3 :: max(1, len(run.said) // 3)][:2]
    lines += (f"status: {job.phase} {job.done}/{job.total}, {pace_in_words(job) or 'no rate yet'}" for job in said)
    return "\n  ".join(lines)


def ratios(name: str, runs: Sequence[Run]) -> list[Ratio]:
    """Compare the medians with the bars."""
    compared = {
        "words searchable / fetching": ("words", "fetching", MOST_TO_WORDS),
        "whole sync / in the embedder": ("whole", "embedding", MOST_TO_ALL),
        "whole sync / one bare call": ("whole", "bare", MOST_TO_ALL),
    }
    return [
        Ratio.of(f"{name}: {what}", [getattr(r, ours) for r in runs], [getattr(r, theirs) for r in runs], most)
        for what, (ours, theirs, most) in compared.items()
    ]


def main() -> int:
    """Run with the default limit on requests, then without."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="600 items, one run: two minutes")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        with JamaSimulator(project=short_project(arguments.items)) as jama:
            print(jama.url, flush=True)
            sys.stdin.readline()
        return 0
    items, runs = (600, 1) if arguments.quick else (arguments.items, arguments.runs)
    default = JamaOptions.model_fields["requests_per_second"].default
    found, clean = list[Ratio](), True
    for rate, name in ((default, f"{default} requests/s"), (FASTEST, "no limit")):
        # Another server, as all clients of one address share the lowest limit.
        with tempfile.TemporaryDirectory() as folder, served(items) as url:
            done = list[Run]()
            for number in range(1, runs + 1):
                done.append(run := measure(url, Path(folder) / f"{number}", items, rate))
                print(f"{name}, run {number}: {told(run)}", flush=True)
                clean = clean and run.texts == run.distinct and bool(run.said)
            found += ratios(name, done)
    print(f"{items} requirements of 25 to 60 words each", *found, sep="\n")
    print("every text embedded once, progress shown:", "ok" if clean else "MISSED")
    return 0 if clean and all(ratio.ratio <= ratio.target for ratio in found) else 1


if __name__ == "__main__":
    sys.exit(main())
