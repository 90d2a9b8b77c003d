"""Indexing with the packaged model: how much of the time is spent in the embedder itself."""

import random
import time
from collections.abc import Sequence
from pathlib import Path

from ratios import Ratio

from reqall import Document, Vectors
from reqall.app import BUILT_INS, PACKAGED
from reqall.core.assemble import Assembly
from reqall.core.config import read_yaml
from reqall.core.database import Database
from reqall.core.environment import Environment
from reqall.core.host import PluginHost
from reqall.core.validate import validate

_BATCH = 64
_LENGTH = 12
_WORDS = (
    "the system shall display alarm when pressure level exceeds limit and operator must confirm within five seconds "
    "volume sensor data are stored for each pump valve engine brake login session timeout after power loss restart "
    "test verify that user can change setting of motor speed temperature battery charge status message network link"
)


def measure(folder: Path, count: int) -> Ratio:
    """Index short texts as a first sync does: catalog and words first, then the vectors.

    The ratio is that of the whole time to the embedder's: 85 % inside it are 1.18.
    """
    environment = Environment({}, folder / ".env")
    host = PluginHost(BUILT_INS)
    config = validate(read_yaml(PACKAGED), host, environment)
    database = Database(folder / "catalog.db")
    assembly = Assembly(config, host, environment, database, folder, pipelines=["default"])
    embedder, inside = assembly.embedder("minilm"), [0.0]
    embedder.embed_documents(["load the model"])
    embed = embedder.embed_documents

    def embed_timed(texts: Sequence[str]) -> Vectors:
        start = time.perf_counter()
        vectors = embed(texts)
        inside[0] += time.perf_counter() - start
        return vectors

    embedder.embed_documents = embed_timed  # type: ignore[method-assign]
    documents, indexer = _documents(count), assembly.indexer()
    start = time.perf_counter()
    for first in range(0, count, _BATCH):
        indexer.commit(documents[first : first + _BATCH], (), eager=False, within=lambda _tx, _done: None)
    embedded = indexer.level(assembly.index("meaning"), lambda _tx, _done: None)
    total = time.perf_counter() - start
    database.close()
    assert embedded == count
    print(f"indexing {count:,} short texts: {total:.1f} s, {inside[0] / total:.1%} of it in the embedder")
    return Ratio.of("indexing / its time in the embedder", [total], [inside[0]], 1 / 0.85)


def _documents(count: int) -> list[Document]:
    chance = random.Random(3)  # noqa: S311 - data, not a secret
    return [
        Document(
            id=f"jama:{number}",
            source="jama",
            project_id="jama:1",
            key=f"P-REQ-{number}",
            type_id="t1",
            type_name="Requirement",
            name=f"Requirement {number}",
            sections={"description": " ".join(chance.choices(_WORDS.split(), k=_LENGTH))},
        )
        for number in range(count)
    ]
