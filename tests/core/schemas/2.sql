-- What a file of version 2 is. Never edited.
PRAGMA application_id = 1919250796;
PRAGMA user_version = 2;
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
CREATE INDEX document_parent ON document(parent_id) WHERE parent_id IS NOT NULL;
INSERT INTO meta VALUES ('catalog_id', '0123456789abcdef0123456789abcdef'), ('seq', 0), ('chunk_id', 0);
