"""The schema's history: each step leads a file from one version to the next.

A step that was released is never edited: there are files that it made. A change is a new step at
the end; a new file runs through all of them, so that new and migrated files are alike.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from reqall.core.protocols import SqlConnection

Step: TypeAlias = str | Callable[[SqlConnection], None]
"""SQL text, or a function for what SQL cannot say; both run inside the one transaction of the migration."""

VERSION_1 = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE project(
    id TEXT PRIMARY KEY, source TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    watermark TEXT, synced TEXT) WITHOUT ROWID;
CREATE TABLE document(
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL, project_id TEXT NOT NULL,
    key TEXT NOT NULL, type_id TEXT NOT NULL, type_name TEXT NOT NULL, name TEXT NOT NULL, status TEXT,
    sections TEXT NOT NULL, fields TEXT NOT NULL, parent_id TEXT, url TEXT, created TEXT, modified TEXT,
    text_hash TEXT NOT NULL, facet_hash TEXT NOT NULL, folded_key TEXT NOT NULL);
CREATE INDEX document_key ON document(folded_key);
CREATE INDEX document_type ON document(project_id, type_id, status);
CREATE TABLE link(
    project_id TEXT NOT NULL, from_id TEXT NOT NULL, to_id TEXT NOT NULL, type TEXT NOT NULL, suspect INTEGER NOT NULL,
    PRIMARY KEY(project_id, from_id, to_id, type)) WITHOUT ROWID;
CREATE INDEX link_to ON link(to_id);
CREATE TABLE chunk(
    id INTEGER PRIMARY KEY, document_id TEXT NOT NULL, chunking TEXT NOT NULL, ordinal INTEGER NOT NULL,
    section TEXT NOT NULL, context TEXT NOT NULL, body TEXT NOT NULL);
CREATE UNIQUE INDEX chunk_document ON chunk(document_id, chunking, ordinal);
CREATE TABLE change(
    document_id TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, deleted INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE job(
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, project_id TEXT NOT NULL,
    status TEXT NOT NULL, owner TEXT NOT NULL, token INTEGER NOT NULL DEFAULT 0, heartbeat REAL NOT NULL DEFAULT 0,
    state TEXT NOT NULL, started TEXT, finished TEXT);
CREATE INDEX job_project ON job(project_id, status);
INSERT INTO meta VALUES ('catalog_id', lower(hex(randomblob(16)))), ('seq', 0), ('chunk_id', 0);
"""

VERSION_2 = "CREATE INDEX document_parent ON document(parent_id) WHERE parent_id IS NOT NULL;"

STEPS: Sequence[Step] = (VERSION_1, VERSION_2)
"""Step number n (from 1) makes version n."""


def migrate(tx: SqlConnection, version: int, steps: Sequence[Step]) -> None:
    """Run the steps that a file of `version` (0 = empty) lacks."""
    for step in steps[version:]:
        if callable(step):
            step(tx)
        else:
            # A statement runs only as far as its rows are read: list() drains all of them.
            list(tx.execute(step))
