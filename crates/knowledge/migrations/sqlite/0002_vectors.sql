-- The model whose vectors a search of the library uses, and their length; NULL as long as no model has them all.
ALTER TABLE knowledge_libraries ADD COLUMN embedding_model TEXT;
ALTER TABLE knowledge_libraries ADD COLUMN embedding_dimensions INTEGER;

-- The model that has vectors of all chunks of the version that is found.
ALTER TABLE knowledge_documents ADD COLUMN vectors_model TEXT;

-- The vectors of chunks, as 32-bit floating point numbers, least significant byte first. A library has those of two models while
-- the model is changed.
CREATE TABLE knowledge_vectors (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    model      TEXT NOT NULL,
    no         INTEGER NOT NULL,
    dimensions INTEGER NOT NULL,
    vector     BLOB NOT NULL,
    PRIMARY KEY (version_id, model, no)
) STRICT;
