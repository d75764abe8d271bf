-- Which events of an answer were handed to a page, so that no other page acts on them. They are needed for as long as pages may still
-- ask for them, and go after a day.
CREATE TABLE event_claims (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      TEXT    NOT NULL,
    key             TEXT    NOT NULL,
    claimed_by      TEXT    NOT NULL,
    claimed_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, message_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_claims_by_time ON event_claims (claimed_at);
