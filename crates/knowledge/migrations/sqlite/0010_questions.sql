-- The questions that were asked of libraries, for those who may change their documents.
CREATE TABLE knowledge_questions (
    -- Begins with the time of the last search, so that the order is that of the searches.
    id              TEXT    NOT NULL PRIMARY KEY,
    library_id      TEXT    NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    -- Who has asked.
    owner           TEXT    NOT NULL,
    -- The agent that has searched for them; empty for a search without an agent.
    agent_id        TEXT    NOT NULL,
    conversation_id TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    question        TEXT    NOT NULL,
    -- The number of passages that the last search has found in the library.
    found           INTEGER NOT NULL,
    -- How often it was asked in a row.
    asked           INTEGER NOT NULL,
    -- Unix time in milliseconds.
    asked_at        INTEGER NOT NULL
) STRICT;

CREATE INDEX knowledge_questions_of_library ON knowledge_questions (library_id, id);
CREATE INDEX knowledge_questions_by_owner ON knowledge_questions (owner);
CREATE INDEX knowledge_questions_of_conversation ON knowledge_questions (conversation_id);
CREATE INDEX knowledge_questions_by_time ON knowledge_questions (asked_at);

-- A visitor's conversation that becomes a user's.
CREATE TRIGGER knowledge_questions_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE knowledge_questions SET owner = new.owner WHERE conversation_id = new.id;
END;

-- A conversation that becomes temporary.
CREATE TRIGGER knowledge_questions_temporary AFTER UPDATE OF expires_at ON conversations WHEN new.expires_at IS NOT NULL BEGIN
    DELETE FROM knowledge_questions WHERE conversation_id = new.id;
END;
