-- All times are Unix times in milliseconds.

-- What each user has chosen. No row: memory is on.
CREATE TABLE memory_users (
    owner      TEXT    NOT NULL PRIMARY KEY,
    enabled    INTEGER NOT NULL,
    -- Grows when the user changes or deletes something, so that an extraction that began before stores nothing.
    generation INTEGER NOT NULL
) STRICT;

-- The switch of administrators: at most one row.
CREATE TABLE memory_switch (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    enabled INTEGER NOT NULL
) STRICT;

-- Messages of users that were sent while memory was on. Only these are read, each once.
CREATE TABLE memory_reads (
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    -- NULL until it was read.
    read_at         INTEGER,
    PRIMARY KEY (conversation_id, message_id),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;

-- Changes by one extraction or one call of `memory_save`, which can be undone for a day.
CREATE TABLE memory_updates (
    id              TEXT    NOT NULL PRIMARY KEY,
    owner           TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    undone_at       INTEGER
) STRICT;

CREATE INDEX memory_updates_of_conversation ON memory_updates (conversation_id, created_at);
CREATE INDEX memory_updates_by_owner ON memory_updates (owner);
CREATE INDEX memory_updates_by_time ON memory_updates (created_at);

CREATE TABLE memory_facts (
    id              TEXT    NOT NULL PRIMARY KEY,
    owner           TEXT    NOT NULL,
    -- Empty for a fact that all agents may know.
    agent_id        TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    category        TEXT    NOT NULL,
    topic           TEXT    NOT NULL,
    confidence      REAL    NOT NULL,
    -- The message of the user that says it.
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    edited          INTEGER NOT NULL,
    -- The update that has added it.
    update_id       TEXT    NOT NULL,
    -- The update that has replaced it; such a fact is known to nobody, and deleted after a day.
    retired_by      TEXT,
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX memory_facts_by_owner ON memory_facts (owner);
-- For the foreign key.
CREATE INDEX memory_facts_by_message ON memory_facts (conversation_id, message_id);
CREATE INDEX memory_facts_by_update ON memory_facts (update_id);
CREATE INDEX memory_facts_retired ON memory_facts (retired_by) WHERE retired_by IS NOT NULL;

-- What an agent was told when a conversation began. It stays the same, so that the beginning of each request does.
CREATE TABLE memory_blocks (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    agent_id        TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    -- A JSON array of the messages that its facts come from, as CONVERSATION/MESSAGE.
    sources         TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, agent_id)
) STRICT;

CREATE INDEX memory_blocks_by_owner ON memory_blocks (owner);
