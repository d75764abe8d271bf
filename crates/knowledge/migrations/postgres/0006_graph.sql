-- Whether the owner of a library has its entities and relations extracted.
ALTER TABLE knowledge_libraries ADD COLUMN has_graph BIGINT NOT NULL DEFAULT 0;

-- What the documents of a library are about: people, products and so on.
CREATE TABLE knowledge_entities (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    library_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    kind       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- The name in the form in which names are compared.
    name_key   TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (library_id, kind, name_key)
);

CREATE INDEX knowledge_entities_by_name ON knowledge_entities (library_id, name_key, id);

-- The names by which chunks mention entities, each with the words that say so.
CREATE TABLE knowledge_mentions (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    chunk      BIGINT NOT NULL,
    entity_id  TEXT COLLATE "C" NOT NULL REFERENCES knowledge_entities (id) ON DELETE CASCADE,
    name_key   TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    quote      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (version_id, chunk, entity_id, name_key)
);

CREATE INDEX knowledge_mentions_by_entity ON knowledge_mentions (entity_id, version_id, chunk);
CREATE INDEX knowledge_mentions_by_name ON knowledge_mentions (name_key, entity_id);

-- The relations between entities that chunks state, each with the words that say so.
CREATE TABLE knowledge_relations (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    chunk      BIGINT NOT NULL,
    from_id    TEXT COLLATE "C" NOT NULL REFERENCES knowledge_entities (id) ON DELETE CASCADE,
    kind       TEXT COLLATE "C" NOT NULL,
    to_id      TEXT COLLATE "C" NOT NULL REFERENCES knowledge_entities (id) ON DELETE CASCADE,
    quote      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (version_id, chunk, from_id, kind, to_id)
);

CREATE INDEX knowledge_relations_from ON knowledge_relations (from_id, kind, to_id);
CREATE INDEX knowledge_relations_to ON knowledge_relations (to_id, kind, from_id);

-- How far the extraction from a document is.
CREATE TABLE knowledge_extractions (
    document_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES knowledge_documents (id) ON DELETE CASCADE,
    version_id  TEXT COLLATE "C" NOT NULL,
    -- What was extracted with which model, as a hash.
    settings    TEXT COLLATE "C" NOT NULL,
    state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'done', 'failed')),
    next_chunk  BIGINT NOT NULL,
    -- What the model has returned and is not kept.
    dropped     BIGINT NOT NULL,
    error       TEXT COLLATE "C",
    updated_at  BIGINT NOT NULL
);
