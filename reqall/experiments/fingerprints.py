"""What decides a result: the collection's content and all that a pipeline is made of."""

import hashlib
import inspect
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reqall.core.assemble import Assembly
from reqall.core.collection import QRELS, QUERIES, Collection
from reqall.core.components import build_options, nested
from reqall.core.registration import ComponentConfig, PluginOptions, Registration
from reqall.core.types import Document
from reqall.core.version import __version__

CORPUS = "corpus.jsonl"


def folder_hash(folder: Path) -> str:
    """Identify the content of a collection on disk."""
    digest = hashlib.sha256()
    for name in (CORPUS, QUERIES, QRELS):
        file = folder / name
        digest.update(f"{name}\n".encode())
        if file.is_file():
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def project_hash(documents: Iterable[Document], collection: Collection) -> str:
    """Identify the documents of a project and the queries and judgements made from it."""
    digest = hashlib.sha256(_json([[q.id, q.text, sorted(q.exclude)] for q in collection.queries]).encode())
    digest.update(_json(collection.qrels).encode())
    for each in documents:
        digest.update(_json([each.id, each.key, each.type_id, each.name, dict(each.sections), each.path]).encode())
    return digest.hexdigest()


def pipeline_fingerprint(assembly: Assembly, name: str, depth: int) -> str:
    """Identify all that decides what a pipeline finds, whatever its name. Raises ConfigError, PluginError."""
    config = assembly.config.pipelines[name]
    arms = [
        [arm.index.fingerprint, _identity(assembly, "recaller", assembly.config.indexes[arm.index.name]), arm.weight]
        for arm in assembly.pipeline(name).arms
    ]
    stages = [_identity(assembly, kind, stage) for kind, stage in (("fuser", config.fuse), ("reranker", config.rerank))]
    expansion = [
        [[_identity(assembly, "expander", step), step.weight, step.indexes] for step in config.expanders],
        config.variant_weights.model_dump(),
        config.max_variants,
    ]
    return hashlib.sha256(_json([__version__, depth, config.pin, arms, expansion, stages]).encode()).hexdigest()


def component_identity(registration: Registration[Any], options: PluginOptions) -> str:
    """Identify a component by name, options, the files they name and the source file that builds it; no secret."""
    given = options.model_dump(mode="json")
    files = [_content(value) for _, value in options if isinstance(value, Path) and value.is_file()]
    parts = [registration.name, registration.index_version, given, files, _code(registration.build)]
    return hashlib.sha256(_json(parts).encode()).hexdigest()


def _identity(assembly: Assembly, kind: str, config: ComponentConfig) -> str:
    registration = assembly.host.find(kind, config.use)
    where = f"{kind} {config.use!r}"
    options = build_options(registration, config, assembly.environment, where)
    inner = [_identity(assembly, each, getattr(options, name)) for name, each in nested(registration.options)]
    return _json([component_identity(registration, options), *inner])


def _code(build: Any) -> str:
    """Identify the source file of a component, so that one under development is not taken for what it was."""
    try:
        file = inspect.getsourcefile(build)
        return _content(Path(file)) if file else ""
    except (OSError, TypeError):
        return ""


def _content(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
