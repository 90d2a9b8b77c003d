"""Checks an installation: what is in use, where it came from, and what is in the way."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from reqall.app import App
from reqall.core.errors import CatalogError, ReqallError
from reqall.core.protocols import SupportsValidation
from reqall.core.rerank_switch import PIPELINE, is_enabled
from reqall.core.rerank_switch import VARIABLE as SWITCH
from reqall.core.wording import did_you_mean, one_of

Level: TypeAlias = Literal["ok", "note", "problem"]

VARIABLES = (
    "JAMA_URL", "JAMA_CLIENT_ID", "JAMA_CLIENT_SECRET", "JAMA_CA_BUNDLE", "JAMA_CLIENT_CERT", "JAMA_CLIENT_KEY",
    "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY", "EMBEDDING_MODEL",
    "EMBEDDING_DIMENSIONS", "EMBEDDING_API_VERSION", "EMBEDDING_KEY_HEADER",
    "CHAT_BASE_URL", "CHAT_API_KEY", "CHAT_MODEL", "CHAT_API_VERSION", "CHAT_KEY_HEADER",
    "RERANKER_ENABLED", "RERANKER_MODEL", "RERANKER_BASE_URL", "RERANKER_API_KEY", "RERANKER_API_MODEL",
    "HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN", "JAMA_MCP_DB_PATH",
    "SYNC_INTERVAL_HOURS", "REQALL_CONFIG", "REQALL_PIPELINE", "REQALL_PLUGINS",
    "REQALL_STRICT_PLUGINS", "REQALL_LOG_LEVEL", "REQALL_HOME", "REQALL_HTTP_TOKEN",
)  # fmt: skip
"""All environment variables that reqall reads."""

SECRETS = frozenset(
    {"JAMA_CLIENT_SECRET", "EMBEDDING_API_KEY", "CHAT_API_KEY", "RERANKER_API_KEY", "HF_TOKEN", "REQALL_HTTP_TOKEN"}
)

OPTIONAL_WHEELS = {"onnxruntime": "the built-in embedder minilm", "sqlite_vec": "the vector recaller sqlite_vec"}
"""Libraries without a wheel on some platforms, and what is missing without them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a check."""

    level: Level
    subject: str
    message: str


def check(app: App, *, live: bool = False) -> list[Finding]:
    """Look at everything offline; `live` also talks to the sources. Never raises for what it finds."""
    found = [*_plugins(app), *_wheels(), *_variables(app)]
    place = f"{app.config_file.value} ({app.config_file.origin})"
    try:
        found += [Finding("ok", "configuration", place), *_pipeline(app)]
    except ReqallError as error:
        return [*found, Finding("problem", "configuration", f"{place}\n{error}")]
    return [
        *found,
        *_schedule(app),
        *_database(app),
        *_indexes(app),
        *_stages(app),
        *_recipients(app),
        *_sources(app, live=live),
    ]


def _schedule(app: App) -> Iterator[Finding]:
    try:
        app.sync_interval  # noqa: B018 - reading it checks it
    except ReqallError as error:
        yield Finding("problem", "schedule", str(error))


def _pipeline(app: App) -> Iterator[Finding]:
    name = app.pipeline_name.value
    if name in app.config.pipelines:
        yield Finding("ok", "pipeline", f"{name} ({app.pipeline_name.origin})")
    else:
        known = list(app.config.pipelines)
        message = f"no pipeline {name!r} ({app.pipeline_name.origin}){did_you_mean(name, known)}"
        yield Finding("problem", "pipeline", f"{message}; the configuration has: {one_of(known)}")
    if app.environment.get("EMBEDDING_API_KEY") and not _uses_openai(app):
        yield Finding(
            "note", "EMBEDDING_API_KEY", "is set, but no pipeline of this configuration uses the embedder openai"
        )


def _variables(app: App) -> Iterator[Finding]:
    for variable in VARIABLES:
        if value := app.environment.get(variable):
            shown = "***" if variable in SECRETS else value
            yield Finding("ok", variable, f"{shown} ({app.environment.origin(variable)})")


def _uses_openai(app: App) -> bool:
    named = {arm.index for pipeline in app.config.pipelines.values() for arm in pipeline.recall}
    embedders = {app.config.indexes[name].options.get("embedder") for name in named if name in app.config.indexes}
    return any(app.config.embedders[name].use == "openai" for name in embedders if name in app.config.embedders)


def _plugins(app: App) -> Iterator[Finding]:
    for plugin in app.host.plugins:
        if plugin.state != "loaded":
            yield Finding("problem" if plugin.state == "failed" else "note", "plugin", str(plugin))


def _wheels() -> Iterator[Finding]:
    for module, use in OPTIONAL_WHEELS.items():
        if importlib.util.find_spec(module) is None:
            yield Finding("problem", module, f"is not installed; without it there is no {use} (pipeline lexical works)")


def _database(app: App) -> Iterator[Finding]:
    place = f"{app.database_file.value} ({app.database_file.origin})"
    try:
        states = app.assembly.catalog.projects()
    except ReqallError as error:
        yield Finding("problem", "database", str(error))
        return
    yield Finding("ok", "database", place)
    for state in states:
        documents = app.assembly.catalog.count(state.project.id)
        synced = state.synced.isoformat(timespec="seconds") if state.synced else "never finished"
        yield Finding("ok", f"project {state.project.key}", f"{documents} documents, synced {synced}")


def _indexes(app: App) -> Iterator[Finding]:
    try:
        indexer, problems = app.assembly.indexer(), app.assembly.problems()
    except ReqallError:
        return  # the database has said so
    for index in indexer.indexes:
        if index.recaller.storage != "memory" and (lag := indexer.lag(index)):
            yield Finding(
                "note", f"index {index.name}", f"is {lag} documents behind; `reqall backfill` brings it level"
            )
    pipeline = app.config.pipelines.get(app.pipeline_name.value)
    wanted = {arm.index for arm in pipeline.recall} if pipeline else set()
    for name, reason in problems.items():
        level: Level = "problem" if name in wanted else "note"
        yield Finding(level, f"index {name}", f"is not maintained: {reason}")


def _stages(app: App) -> Iterator[Finding]:
    """Say which stage that a search can do without it has to do without."""
    name = app.pipeline_name.value
    pipeline = app.config.pipelines.get(name)
    stages = [*(("expander", each) for each in pipeline.expanders), ("reranker", pipeline.rerank)] if pipeline else []
    for kind, stage in stages:
        try:
            app.assembly.stage(kind, name, stage)
        except ReqallError as error:
            yield Finding("problem", f"{kind} {stage.use}", f"pipeline {name}: {error}")
    if is_enabled(app.environment) and PIPELINE not in app.config.pipelines:
        yield Finding("note", SWITCH, f"is set, but this configuration has no pipeline {PIPELINE!r}")


def _recipients(app: App) -> Iterator[Finding]:
    """Name the hosts that the pipeline in use sends query texts to."""
    name = app.pipeline_name.value
    try:
        found = app.assembly.pipeline(name).recipients() if name in app.config.pipelines else {}
    except CatalogError:
        return  # the database has said so
    except ReqallError as error:
        yield Finding("problem", f"pipeline {name}", str(error))
        return
    for component, host in found.items():
        yield Finding("note", f"pipeline {name}", f"{component} sends the texts of queries to {host}")


def _sources(app: App, *, live: bool) -> Iterator[Finding]:
    for name in app.config.sources:
        try:
            source = app.assembly.source(name)
            problems = source.validate(live=live) if isinstance(source, SupportsValidation) else []
        except ReqallError as error:
            yield Finding("problem", f"source {name}", str(error))
            continue
        for problem in problems:
            yield Finding("problem", f"source {name}", problem)
        if not problems:
            yield Finding("ok", f"source {name}", "answers" if live else "settings are complete (--live also asks it)")
