-- Which events of an answer were handed to a page; see migrations/sqlite.
CREATE TABLE event_claims (
    conversation_id TEXT   COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      TEXT   COLLATE "C" NOT NULL,
    key             TEXT   COLLATE "C" NOT NULL,
    claimed_by      TEXT   COLLATE "C" NOT NULL,
    claimed_at      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, message_id, key)
);

CREATE INDEX event_claims_by_time ON event_claims (claimed_at);
