-- All times are Unix times in milliseconds.
CREATE TABLE knowledge_libraries (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Empty for a library that the config declares.
    owner       TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    about       TEXT COLLATE "C",
    -- Grows with each change of what can be found.
    generation  BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);

CREATE INDEX knowledge_libraries_by_owner ON knowledge_libraries (owner, id);

-- The roles whose users may read or change a library that a user has created.
CREATE TABLE knowledge_library_roles (
    library_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    role       TEXT COLLATE "C" NOT NULL,
    may_write  BIGINT NOT NULL,
    PRIMARY KEY (library_id, role)
);

CREATE INDEX knowledge_library_roles_by_role ON knowledge_library_roles (role);

CREATE TABLE knowledge_documents (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    library_id    TEXT COLLATE "C" NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    -- What makes it the same document: `bytes HASH` of an upload, `path PATH` of a file of a folder.
    identity      TEXT COLLATE "C" NOT NULL,
    file_name     TEXT COLLATE "C" NOT NULL,
    media_type    TEXT COLLATE "C" NOT NULL,
    bytes         BIGINT NOT NULL,
    -- The user who added it.
    added_by      TEXT COLLATE "C" NOT NULL,
    -- A JSON object.
    metadata      TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'processing', 'ready', 'failed')),
    step          TEXT COLLATE "C",
    progress      DOUBLE PRECISION NOT NULL DEFAULT 0,
    error_code    TEXT COLLATE "C",
    error_message TEXT COLLATE "C",
    pages         BIGINT NOT NULL DEFAULT 0,
    chunks        BIGINT NOT NULL DEFAULT 0,
    -- The version that is found, and the one that will replace it.
    version_id    TEXT COLLATE "C",
    next_id       TEXT COLLATE "C",
    -- The size and the time of a file of a folder, by which a change is noticed.
    stamp         TEXT COLLATE "C",
    -- The generation of the library with the last change of what can be found of it.
    generation    BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    UNIQUE (library_id, identity)
);

CREATE INDEX knowledge_documents_by_library ON knowledge_documents (library_id, id);
CREATE INDEX knowledge_documents_changed ON knowledge_documents (library_id, generation);
CREATE INDEX knowledge_documents_open ON knowledge_documents (id) WHERE state IN ('queued', 'processing');

CREATE TABLE knowledge_versions (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- None while the file is uploaded.
    document_id TEXT COLLATE "C" REFERENCES knowledge_documents (id) ON DELETE CASCADE,
    bytes       BIGINT NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE INDEX knowledge_versions_by_document ON knowledge_versions (document_id);

-- The file of a version, in pieces.
CREATE TABLE knowledge_pieces (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         BIGINT NOT NULL,
    bytes      BYTEA  NOT NULL,
    PRIMARY KEY (version_id, no)
);

-- The text of a version by its places, such as pages.
CREATE TABLE knowledge_parts (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         BIGINT NOT NULL,
    place      TEXT COLLATE "C" NOT NULL,
    heading    TEXT COLLATE "C" NOT NULL,
    content    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (version_id, no)
);

CREATE TABLE knowledge_chunks (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    no         BIGINT NOT NULL,
    place      TEXT COLLATE "C" NOT NULL,
    heading    TEXT COLLATE "C" NOT NULL,
    content    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (version_id, no)
);

-- The numbers under which an agent cites chunks in a conversation.
CREATE TABLE knowledge_citations (
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    chunk_id        TEXT COLLATE "C" NOT NULL,
    number          BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, chunk_id)
);
