-- All times are Unix times in milliseconds.
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
) STRICT;

CREATE INDEX knowledge_libraries_by_owner ON knowledge_libraries (owner, id);

-- The roles whose users may read or change a library that a user has created.
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
    updated_at    INTEGER NOT NULL,
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

-- The file of a version, in pieces.
CREATE TABLE knowledge_pieces (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         INTEGER NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (version_id, no)
) STRICT;

-- The text of a version by its places, such as pages.
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

-- The numbers under which an agent cites chunks in a conversation.
CREATE TABLE knowledge_citations (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    chunk_id        TEXT NOT NULL,
    number          INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, chunk_id)
) STRICT;
