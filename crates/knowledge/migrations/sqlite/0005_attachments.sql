-- The conversation whose attached files the library has; none for every other library.
ALTER TABLE knowledge_libraries ADD COLUMN conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE;

CREATE UNIQUE INDEX knowledge_libraries_of_conversation ON knowledge_libraries (conversation_id)
    WHERE conversation_id IS NOT NULL;

-- A visitor's conversation that becomes a user's.
CREATE TRIGGER knowledge_attachments_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE knowledge_libraries SET owner = new.owner WHERE conversation_id = new.id;
END;
