-- The text that a model has read from pages that are pictures, of versions that are not ready yet: each page is
-- paid for once, also if the server is killed.
CREATE TABLE knowledge_read_pages (
    version_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_versions (id) ON DELETE CASCADE,
    page       BIGINT NOT NULL,
    content    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (version_id, page)
);
