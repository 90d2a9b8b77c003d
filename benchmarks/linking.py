"""Missing trace links and near-duplicates on judged collections.

    python benchmarks/linking.py FOLDER...

A collection becomes a project in which the queries are items too. Its links are hidden, and both searches
have to find them: `suggest` item by item, beside what `reqall eval --from-links` says of the same pipeline,
and `missing` as one list of pairs for the project, with its precision at several thresholds. Of
near-duplicates it tells how many items have one at several thresholds, and how often an item with small
edits is found by its text.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reqall.app import PACKAGED, App, Overrides
from reqall.core.collection import Collection
from reqall.core.environment import Environment
from reqall.core.likeness import Weights, cosine, item_text
from reqall.core.metrics import evaluate
from reqall.core.request import ItemRequest
from reqall.core.types import Link
from reqall.duplicates import duplicates
from reqall.experiment import run
from reqall.experiments.plan import LinkQueries, Plan
from reqall.missing_links import missing_links
from reqall.related import suggest_links

METRICS = ("nDCG@10", "Recall@10", "P@1")
DEPTH = 200
THRESHOLDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
ALIKE = (0.7, 0.75, 0.8, 0.85, 0.9)
EDITED_SHARE = 0.1
SOURCE = "collection"


def quiet(_what: str, _done: int, _total: int) -> None:
    """Watch nothing."""


def opened(folder: Path, home: Path) -> App:
    """Sync a project that holds documents and queries of a collection as items, without links."""
    name = folder.resolve().name
    with (home / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for kind, lines in (("target", "corpus.jsonl"), ("query", "queries.jsonl")):
            for record in map(json.loads, (folder / lines).read_text(encoding="utf-8").splitlines()):
                row = {"_id": f"{kind}-{record['_id']}", "title": record.get("title", ""), "text": record["text"]}
                file.write(json.dumps(row | {"metadata": {"type": kind}}) + "\n")
    head, _, rest = PACKAGED.read_text(encoding="utf-8").partition("sources:")
    options = json.dumps({"path": str(home), "keys": False, "project": name})
    source = f"sources: {{{SOURCE}: {{use: jsonl, with: {options}}}}}\n\n"
    config = home / "pipelines.yaml"
    config.write_text(head + source + rest[rest.index("embedders:") :], encoding="utf-8")
    app = App(Overrides(str(config), "default", str(home / "catalog.db")), Environment({}, home / ".env"))
    job = app.sync(name)
    assert job.status == "DONE", job.error
    return app


def link(app: App, project: str, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Replace the project's links by the judgements."""
    ends = ((f"{SOURCE}:query-{q}", f"{SOURCE}:target-{d}") for q, found in qrels.items() for d in found if found[d])
    with app.assembly.database.writing() as tx:
        app.assembly.catalog.replace_links(tx, f"{SOURCE}:{project}", [Link(a, b, "traces to") for a, b in ends])


def edited(text: str, words: Sequence[str], chance: random.Random) -> str:
    """Exchange a tenth of the words, at least one."""
    found = text.split()
    for place in chance.sample(range(len(found)), max(1, round(len(found) * EDITED_SHARE))):
        found[place] = chance.choice(words)
    return " ".join(found)


def measured(folder: Path, home: Path) -> Iterator[str]:
    """Yield lines of figures of one collection."""
    app = opened(folder, home)
    collection = Collection.read(folder)
    project = folder.resolve().name
    try:
        yield from linking(app, project, collection)
        yield from alike(app, project)
    finally:
        app.close()


def linking(app: App, project: str, collection: Collection) -> Iterator[str]:
    """Yield what eval says of the pipeline, what suggestions reach, and the precision of the project's list."""
    link(app, project, collection.qrels)
    links = LinkQueries(project, from_types=("query",), to_types=("target",))
    plan = Plan({"default": app.config.pipelines["default"]}, links=links, metrics=METRICS, depth=DEPTH, fresh=True)
    means = run(app, plan, quiet).outcomes[project]["default"].scores.means
    yield "eval     " + " ".join(f"{name} {means[name]:.4f}" for name in METRICS)
    link(app, project, {})
    found: dict[str, list[str]] = {}
    for query in collection.queries:
        request = ItemRequest((project,), f"query-{query.id}", ("target",), top_k=50, candidate_k=DEPTH)
        hits = suggest_links(app, request).items
        found[query.id] = [hit.document.id.removeprefix(f"{SOURCE}:target-") for hit in hits]
    means = evaluate(found, collection.qrels, METRICS).means
    yield "suggest  " + " ".join(f"{name} {means[name]:.4f}" for name in METRICS)
    request = ItemRequest((project,), "", ("target",), least=0.0)
    pairs = missing_links(app, request, ("query",), quiet, 10**9).pairs
    right = [
        collection.qrels.get(pair.first.id.removeprefix(f"{SOURCE}:query-"), {}).get(
            pair.second.id.removeprefix(f"{SOURCE}:target-"), 0
        )
        > 0
        for pair in pairs
    ]
    known = sum(score > 0 for judged in collection.qrels.values() for score in judged.values())
    gained = sum(sum(right[: place + 1]) / (place + 1) for place, is_right in enumerate(right) if is_right)
    yield f"missing  AP {gained / known:.3f} of {known} links, {len(pairs)} pairs"
    for threshold in THRESHOLDS:
        kept = [is_right for pair, is_right in zip(pairs, right, strict=True) if pair.score >= threshold]
        precision = sum(kept) / len(kept) if kept else 0.0
        yield f"  from {threshold:.2f}: {len(kept)} pairs, precision {precision:.3f}, recall {sum(kept) / known:.3f}"


def alike(app: App, project: str) -> Iterator[str]:
    """Yield how many items have a near-duplicate, and how many with small edits still are one."""
    chance = random.Random(1)  # noqa: S311 - data, not a secret
    catalog = app.assembly.catalog
    weights = Weights.sampled(catalog, [f"{SOURCE}:{project}"])
    texts = [item_text(document) for document in catalog.walk(f"{SOURCE}:{project}")]
    words = [word for text in texts for word in text.split()]
    scores = [cosine(weights.vector(text), weights.vector(edited(text, words, chance))) for text in texts]
    for threshold in ALIKE:
        found = duplicates(app, ItemRequest((project,), "", least=threshold), quiet, 10**9)
        near = {document.id for pair in found.pairs for document in (pair.first, pair.second)}
        kept = sum(score >= threshold for score in scores) / len(scores)
        yield f"  alike from {threshold:.2f}: {len(near) / len(texts):.3f} of items; edited ones {kept:.3f}"


def main(folders: Sequence[str]) -> None:
    """Print the figures of each folder."""
    for folder in folders:
        print(Path(folder).name)
        with tempfile.TemporaryDirectory() as home:
            for line in measured(Path(folder), Path(home)):
                print("  " + line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
