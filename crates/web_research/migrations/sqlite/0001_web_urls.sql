-- The URLs that a conversation may fetch without asking: those of search results and those that the
-- user has approved.
CREATE TABLE web_urls (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, url)
) STRICT;
