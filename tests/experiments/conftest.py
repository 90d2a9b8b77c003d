"""A small judged collection, an App that searches it by words, and a report made by hand."""

import json

import pytest

from reqall.app import App, Overrides
from reqall.core.collection import Collection, JudgedQuery
from reqall.core.environment import Environment
from reqall.core.evaluation import Searched
from reqall.core.metrics import evaluate
from reqall.experiments.report import Outcome, Report, compared

TEXTS = {
    "d1": "The door shall lock above walking speed.",
    "d2": "The horn shall sound at 105 dB.",
    "d3": "Seats fold flat, and the door stays shut.",
    "d4": "The horn shall be tested with the door open.",
    "d5": "Brakes hold the vehicle on a slope.",
}
QUERIES = {"q1": "locking of doors", "q2": "loudness of the horn", "q3": "brakes on a slope", "q4": "door and seats"}
ANSWERS = {"q1": ["d1"], "q2": ["d2", "d4"], "q3": ["d5"], "q4": ["d3"]}


def write_collection(folder, texts, queries, answers):
    folder.mkdir(parents=True)
    corpus = [{"_id": key, "title": "", "text": text} for key, text in texts.items()]
    asked = [{"_id": key, "text": text} for key, text in queries.items()]
    for name, records in (("corpus.jsonl", corpus), ("queries.jsonl", asked)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    judged = [f"{query}\t{document}\t1" for query, documents in answers.items() for document in documents]
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged, ""]), encoding="utf-8")
    return folder


@pytest.fixture
def doors(tmp_path):
    """The folder of a collection about doors and horns."""
    return write_collection(tmp_path / "doors", TEXTS, QUERIES, ANSWERS)


@pytest.fixture
def lonely(tmp_path, monkeypatch):
    """An App of its own, without a project; its results are kept in a folder of the test."""
    monkeypatch.setenv("REQALL_HOME", str(tmp_path / "home"))
    settings = {"REQALL_HOME": str(tmp_path / "home"), "JAMA_MCP_DB_PATH": str(tmp_path / "home" / "catalog.db")}
    opened = App(Overrides(), Environment(settings, tmp_path / ".env"))
    yield opened
    opened.close()


@pytest.fixture
def collection_of():
    """Make a collection of judgements."""

    def make(name, answers, texts=None):
        queries = tuple(JudgedQuery(query, (texts or {}).get(query, f"text of {query}")) for query in answers)
        return Collection(name, queries, {query: dict.fromkeys(found, 1) for query, found in answers.items()})

    return make


@pytest.fixture
def report_of():
    """Make a report of {collection: {system: run}}; the searches took 1 ms, 2 ms, 3 ms ... and 1 for fusion."""

    def make(runs, collections, metrics=("nDCG@10", "MAP"), baseline="default", **more):
        outcomes = {}
        for collection in collections:
            outcomes[collection.name] = {}
            for system, found in runs[collection.name].items():
                timings = tuple(
                    {"recall": float(n), "recall.words": n / 2, "fuse": 1.0} for n in range(1, len(found) + 1)
                )
                scores = evaluate(found, collection.qrels, metrics)
                outcomes[collection.name][system] = Outcome(Searched(found, timings), scores)
        comparisons = compared(metrics, baseline, collections, outcomes)
        return Report(tuple(metrics), baseline, tuple(collections), outcomes, comparisons, 200, **more)

    return make
