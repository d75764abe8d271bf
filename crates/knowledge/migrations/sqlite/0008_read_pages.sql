-- The text that a model has read from pages that are pictures, of versions that are not ready yet: each page is
-- paid for once, also if the server is killed.
CREATE TABLE knowledge_read_pages (
    version_id TEXT NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    page       INTEGER NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (version_id, page)
) STRICT;
