-- The questions that were asked of libraries, for those who may change their documents.
CREATE TABLE knowledge_questions (
    -- Begins with the time of the last search, so that the order is that of the searches.
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    library_id      TEXT COLLATE "C" NOT NULL REFERENCES knowledge_libraries (id) ON DELETE CASCADE,
    -- Who has asked.
    owner           TEXT COLLATE "C" NOT NULL,
    -- The agent that has searched for them; empty for a search without an agent.
    agent_id        TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" REFERENCES conversations (id) ON DELETE CASCADE,
    question        TEXT COLLATE "C" NOT NULL,
    -- The number of passages that the last search has found in the library.
    found           BIGINT NOT NULL,
    -- How often it was asked in a row.
    asked           BIGINT NOT NULL,
    -- Unix time in milliseconds.
    asked_at        BIGINT NOT NULL
);

CREATE INDEX knowledge_questions_of_library ON knowledge_questions (library_id, id);
CREATE INDEX knowledge_questions_by_owner ON knowledge_questions (owner);
CREATE INDEX knowledge_questions_of_conversation ON knowledge_questions (conversation_id);
CREATE INDEX knowledge_questions_by_time ON knowledge_questions (asked_at);

-- A visitor's conversation that becomes a user's.
CREATE FUNCTION knowledge_questions_changed_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE knowledge_questions SET owner = new.owner WHERE conversation_id = new.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER knowledge_questions_changed_owner AFTER UPDATE OF owner ON conversations
    FOR EACH ROW WHEN (old.owner <> new.owner) EXECUTE FUNCTION knowledge_questions_changed_owner();

-- A conversation that becomes temporary.
CREATE FUNCTION knowledge_questions_temporary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM knowledge_questions WHERE conversation_id = new.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER knowledge_questions_temporary AFTER UPDATE OF expires_at ON conversations
    FOR EACH ROW WHEN (new.expires_at IS NOT NULL) EXECUTE FUNCTION knowledge_questions_temporary();
