-- The tables as the migrations up to 0010_questions leave them, with which a new SQLite database begins.
-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.

CREATE TABLE knowledge_libraries (
    id          TEXT NOT NULL PRIMARY KEY,
    -- Empty for a library that the config declares.
    owner       TEXT NOT NULL,
    name        TEXT NOT NULL,
    about       TEXT,
    -- Grows with each change of what can be found.
    generation  INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
, embedding_model TEXT, embedding_dimensions INTEGER, conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE, has_graph INTEGER NOT NULL DEFAULT 0, of_project INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX knowledge_libraries_by_owner ON knowledge_libraries (owner, id);
CREATE TABLE knowledge_library_roles (
    library_id TEXT NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    role       TEXT NOT NULL,
    may_write  INTEGER NOT NULL,
    PRIMARY KEY (library_id, role)
) STRICT;
CREATE INDEX knowledge_library_roles_by_role ON knowledge_library_roles (role);
CREATE TABLE knowledge_documents (
    id            TEXT NOT NULL PRIMARY KEY,
    library_id    TEXT NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    -- What makes it the same document: `bytes HASH` of an upload, `path PATH` of a file of a folder.
    identity      TEXT NOT NULL,
    file_name     TEXT NOT NULL,
    media_type    TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    -- The user who added it.
    added_by      TEXT NOT NULL,
    -- A JSON object.
    metadata      TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('queued', 'processing', 'ready', 'failed')),
    step          TEXT,
    progress      REAL NOT NULL DEFAULT 0,
    error_code    TEXT,
    error_message TEXT,
    pages         INTEGER NOT NULL DEFAULT 0,
    chunks        INTEGER NOT NULL DEFAULT 0,
    -- The version that is found, and the one that will replace it.
    version_id    TEXT,
    next_id       TEXT,
    -- The size and the time of a file of a folder, by which a change is noticed.
    stamp         TEXT,
    -- The generation of the library with the last change of what can be found of it.
    generation    INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL, vectors_model TEXT, warnings TEXT,
    UNIQUE (library_id, identity)
) STRICT;
CREATE INDEX knowledge_documents_by_library ON knowledge_documents (library_id, id);
CREATE INDEX knowledge_documents_changed ON knowledge_documents (library_id, generation);
CREATE INDEX knowledge_documents_open ON knowledge_documents (id) WHERE state IN ('queued', 'processing');
CREATE TABLE knowledge_versions (
    id          TEXT NOT NULL PRIMARY KEY,
    -- None while the file is uploaded.
    document_id TEXT REFERENCES knowledge_documents (id) ON DELETE CASCADE,
    bytes       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_versions_by_document ON knowledge_versions (document_id);
CREATE TABLE knowledge_pieces (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         INTEGER NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (version_id, no)
) STRICT;
CREATE TABLE knowledge_parts (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         INTEGER NOT NULL,
    place      TEXT NOT NULL,
    heading    TEXT NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (version_id, no)
) STRICT;
CREATE TABLE knowledge_chunks (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         INTEGER NOT NULL,
    place      TEXT NOT NULL,
    heading    TEXT NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (version_id, no)
) STRICT;
CREATE TABLE knowledge_citations (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    chunk_id        TEXT NOT NULL,
    number          INTEGER NOT NULL, document_id TEXT,
    PRIMARY KEY (conversation_id, chunk_id)
) STRICT;
CREATE TABLE knowledge_vectors (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    model      TEXT NOT NULL,
    no         INTEGER NOT NULL,
    dimensions INTEGER NOT NULL,
    vector     BLOB NOT NULL,
    PRIMARY KEY (version_id, model, no)
) STRICT;
CREATE INDEX knowledge_documents_updated ON knowledge_documents (library_id, updated_at, id);
CREATE UNIQUE INDEX knowledge_libraries_of_conversation ON knowledge_libraries (conversation_id)
    WHERE conversation_id IS NOT NULL;
CREATE TRIGGER knowledge_attachments_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE knowledge_libraries SET owner = new.owner WHERE conversation_id = new.id;
END;
CREATE TABLE knowledge_entities (
    id         TEXT NOT NULL PRIMARY KEY,
    library_id TEXT NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    -- The name in the form in which names are compared.
    name_key   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (library_id, kind, name_key)
) STRICT;
CREATE INDEX knowledge_entities_by_name ON knowledge_entities (library_id, name_key, id);
CREATE TABLE knowledge_mentions (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    chunk      INTEGER NOT NULL,
    entity_id  TEXT NOT NULL REFERENCES knowledge_entities (id) ON DELETE CASCADE,
    name_key   TEXT NOT NULL,
    name       TEXT NOT NULL,
    quote      TEXT NOT NULL,
    PRIMARY KEY (version_id, chunk, entity_id, name_key)
) STRICT;
CREATE INDEX knowledge_mentions_by_entity ON knowledge_mentions (entity_id, version_id, chunk);
CREATE INDEX knowledge_mentions_by_name ON knowledge_mentions (name_key, entity_id);
CREATE TABLE knowledge_relations (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    chunk      INTEGER NOT NULL,
    from_id    TEXT NOT NULL REFERENCES knowledge_entities (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    to_id      TEXT NOT NULL REFERENCES knowledge_entities (id) ON DELETE CASCADE,
    quote      TEXT NOT NULL,
    PRIMARY KEY (version_id, chunk, from_id, kind, to_id)
) STRICT;
CREATE INDEX knowledge_relations_from ON knowledge_relations (from_id, kind, to_id);
CREATE INDEX knowledge_relations_to ON knowledge_relations (to_id, kind, from_id);
CREATE TABLE knowledge_extractions (
    document_id TEXT NOT NULL PRIMARY KEY REFERENCES knowledge_documents (id) ON DELETE CASCADE,
    version_id  TEXT NOT NULL,
    -- What was extracted with which model, as a hash.
    settings    TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'done', 'failed')),
    next_chunk  INTEGER NOT NULL,
    -- What the model has returned and is not kept.
    dropped     INTEGER NOT NULL,
    error       TEXT,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE knowledge_read_pages (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    page       INTEGER NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (version_id, page)
) STRICT;
CREATE INDEX knowledge_documents_by_user ON knowledge_documents (added_by);
CREATE TABLE knowledge_questions (
    -- Begins with the time of the last search, so that the order is that of the searches.
    id              TEXT    NOT NULL PRIMARY KEY,
    library_id      TEXT    NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    -- Who has asked.
    owner           TEXT    NOT NULL,
    -- The agent that has searched for them; empty for a search without an agent.
    agent_id        TEXT    NOT NULL,
    conversation_id TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    question        TEXT    NOT NULL,
    -- The number of passages that the last search has found in the library.
    found           INTEGER NOT NULL,
    -- How often it was asked in a row.
    asked           INTEGER NOT NULL,
    -- Unix time in milliseconds.
    asked_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_questions_of_library ON knowledge_questions (library_id, id);
CREATE INDEX knowledge_questions_by_owner ON knowledge_questions (owner);
CREATE INDEX knowledge_questions_of_conversation ON knowledge_questions (conversation_id);
CREATE INDEX knowledge_questions_by_time ON knowledge_questions (asked_at);
CREATE TRIGGER knowledge_questions_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE knowledge_questions SET owner = new.owner WHERE conversation_id = new.id;
END;
CREATE TRIGGER knowledge_questions_temporary AFTER UPDATE OF expires_at ON conversations WHEN new.expires_at IS NOT NULL BEGIN
    DELETE FROM knowledge_questions WHERE conversation_id = new.id;
END;
