-- The model whose vectors a search of the library uses, and their length; NULL as long as no model has them all.
ALTER TABLE knowledge_libraries ADD COLUMN embedding_model TEXT COLLATE "C";
ALTER TABLE knowledge_libraries ADD COLUMN embedding_dimensions BIGINT;

-- The model that has vectors of all chunks of the version that is found.
ALTER TABLE knowledge_documents ADD COLUMN vectors_model TEXT COLLATE "C";

-- The vectors of chunks, as 32-bit floating point numbers, least significant byte first. A library has those of two models while
-- the model is changed.
CREATE TABLE knowledge_vectors (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    model      TEXT COLLATE "C" NOT NULL,
    no         BIGINT NOT NULL,
    dimensions BIGINT NOT NULL,
    vector     BYTEA  NOT NULL,
    PRIMARY KEY (version_id, model, no)
);
